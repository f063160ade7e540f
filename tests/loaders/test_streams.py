"""MDS and litdata files in the data sets and loaders of their own libraries: splits, workers, shuffles, resuming."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from lexmill import Tokenizer, tokenize_files
from token_runs import COLUMNS, PACKED, rows_of

LIBRARIES = ["streaming", "litdata"]
SCRIPT = Path(__file__).with_name("loading.py")
DEFAULTS = {
    "remote": None,
    "split": "train",
    "shuffle": False,
    "workers": 0,
    "stack": None,
    "block": 64,
    "batches": None,
    "state": None,
}

Load = Callable[..., dict[str, Any]]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    def load(library: str, **options: Any) -> dict[str, Any]:
        given = json.dumps(DEFAULTS | options)
        command = [sys.executable, str(SCRIPT), library, given]
        done = subprocess.run(command, capture_output=True, check=False, encoding="utf-8", cwd=tmp_path, timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr
        found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return found

    return load


def written(tokenizer: Tokenizer, source: Path, out: Path, **options: Any) -> Path:
    """Token files of a run that was cut short and resumed."""

    def end(stage: str, done: int, *_: object) -> None:
        if done > 100_000:
            raise KeyboardInterrupt

    every: dict[str, Any] = {"part_bytes": 20_000, "validation": 0.2, **options}
    with pytest.raises(KeyboardInterrupt):
        tokenize_files(tokenizer, source, out, on_progress=end, **every)
    tokenize_files(tokenizer, source, out, resume=True, **every)
    return out


def tokens_of(found: dict[str, Any]) -> list[list[int]]:
    return [sample["tokens"] for sample in found["samples"]]


@pytest.mark.parametrize("split", ["train", "validation"])
def test_mosaicml_gives_documents_in_their_order(
    tmp_path: Path, tokenizer: Tokenizer, source: Path, load: Load, split: str
) -> None:
    out = written(tokenizer, source, tmp_path / "o", format="mds")
    found = load("mosaicml", local=str(out), split=split)
    assert tokens_of(found) == rows_of(out, split)
    assert found["dtypes"] == ["uint16"]


def test_mosaicml_fetches_shuffled_shards_for_workers(
    tmp_path: Path, tokenizer: Tokenizer, source: Path, load: Load
) -> None:
    out = written(tokenizer, source, tmp_path / "o", format="mds", shuffle=True)
    found = tokens_of(load("mosaicml", local=str(tmp_path / "cache"), remote=str(out), shuffle=True, workers=2))
    assert found != rows_of(out)
    assert sorted(found) == sorted(rows_of(out))
    assert len(list((tmp_path / "cache" / "train").glob("*.mds"))) > 3


def test_mosaicml_gives_columns_of_packed_rows(tmp_path: Path, tokenizer: Tokenizer, source: Path, load: Load) -> None:
    out = written(tokenizer, source, tmp_path / "o", format="mds", packing="best-fit", pack_columns=COLUMNS, **PACKED)
    found = load("mosaicml", local=str(out))
    assert tokens_of(found) == rows_of(out)
    assert found["dtypes"] == ["int32", "uint16"]
    for sample in found["samples"]:
        borders = sample["cu_seqlens"]
        assert borders == [*sample["seq_start_id"], 64]
        assert sample["position_ids"] == [at for start, end in pairwise(borders) for at in range(end - start)]
    # `seq_start_id` and `cu_seqlens` have another length in each row, so PyTorch stacks the other columns alone.
    stacked = load("mosaicml", local=str(out), stack=["tokens", "position_ids"])
    assert [row["tokens"] for row in stacked["samples"]] == tokens_of(found)
    assert stacked["dtypes"] == ["torch.int32", "torch.uint16"]


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize(("library", "format"), [("mosaicml", "mds"), ("litdata", "litdata")])
def test_an_epoch_goes_on_where_it_was_cut_short(
    tmp_path: Path, tokenizer: Tokenizer, source: Path, load: Load, library: str, format: str, workers: int
) -> None:
    out = written(tokenizer, source, tmp_path / "o", format=format, **PACKED)
    options: dict[str, Any] = {"local": str(out), "shuffle": True, "workers": workers}
    whole = tokens_of(load(library, **options))
    assert sorted(whole) == sorted(rows_of(out))
    assert whole != rows_of(out)
    first = load(library, **options, batches=20)
    rest = load(library, **options, state=first["state"])
    assert tokens_of(first) == whole[:160]
    assert tokens_of(rest) == whole[160:]


@pytest.mark.parametrize("split", ["train", "validation"])
def test_litdata_gives_rows_in_their_order(
    tmp_path: Path, tokenizer: Tokenizer, source: Path, load: Load, split: str
) -> None:
    out = written(tokenizer, source, tmp_path / "o", format="litdata", **PACKED)
    found = load("litdata", local=str(out), split=split)
    assert tokens_of(found) == rows_of(out, split)
    assert found["dtypes"] == ["torch.int32"]
