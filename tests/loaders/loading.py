"""Samples of token files as a loader gives them: `loading.py LIBRARY OPTIONS` prints JSON.

Loaders fork, and keep state in shared memory and in locks of the machine, so each loading has a process of its own.
"""

from __future__ import annotations

import json
import sys
from functools import partial
from typing import Any

BATCH = 8


def columns_of(samples: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """A batch of arrays of any lengths. It is a dictionary, since MosaicML's loader counts its samples by a column."""
    return {name: [sample[name] for sample in samples] for name in samples[0]}


def stacked(names: list[str], samples: list[dict[str, Any]]) -> Any:
    """A batch of columns whose arrays have one length, as tensors."""
    from torch.utils.data import default_collate

    return default_collate([{name: sample[name] for name in names} for sample in samples])


def mosaicml(options: dict[str, Any]) -> Any:
    from streaming import StreamingDataLoader, StreamingDataset

    data = StreamingDataset(
        local=options["local"],
        remote=options["remote"],
        split=options["split"],
        shuffle=options["shuffle"],
        batch_size=BATCH,
        num_canonical_nodes=1,
    )
    collate = partial(stacked, options["stack"]) if options["stack"] else columns_of
    return StreamingDataLoader(data, batch_size=BATCH, num_workers=options["workers"], collate_fn=collate)


def litdata(options: dict[str, Any]) -> Any:
    from litdata import StreamingDataLoader, StreamingDataset, TokensLoader

    loader = TokensLoader(block_size=options["block"])
    data = StreamingDataset(f"{options['local']}/{options['split']}", item_loader=loader, shuffle=options["shuffle"])
    return StreamingDataLoader(data, batch_size=BATCH, num_workers=options["workers"])


def main(library: str, options: dict[str, Any]) -> None:
    loader = {"mosaicml": mosaicml, "litdata": litdata}[library](options)
    if options["state"]:
        loader.load_state_dict(options["state"])
    samples, dtypes, state = [], set(), None
    for number, batch in enumerate(loader, 1):
        columns = batch if isinstance(batch, dict) else {"tokens": batch}
        for row in zip(*columns.values(), strict=True):
            samples.append({name: value.tolist() for name, value in zip(columns, row, strict=True)})
            dtypes |= {str(value.dtype) for value in row}
        if number == options["batches"]:
            state = loader.state_dict()
            break
    print(json.dumps({"samples": samples, "dtypes": sorted(dtypes), "state": state}))


if __name__ == "__main__":
    main(sys.argv[1], json.loads(sys.argv[2]))
