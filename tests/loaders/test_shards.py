"""Single MDS shards and litdata chunks in the readers of their own libraries."""

from __future__ import annotations

import json
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from lexmill import Tokenizer, open_tokens, tokenize_files
from token_runs import COLUMNS, PACKED, rows_of

LIBRARIES = ["streaming", "litdata"]
OPTIONS: dict[str, Any] = {"part_bytes": 20_000, "validation": 0.2}


@pytest.mark.parametrize("options", [{}, {**PACKED, "pack_columns": COLUMNS}], ids=["documents", "rows"])
def test_mosaicml_streaming_reads_shards(tmp_path: Path, wide: Tokenizer, source: Path, options: Any) -> None:
    from streaming.base.format import reader_from_json

    tokenize_files(wide, source, tmp_path / "out", format="mds", **OPTIONS, **options)
    for split in ("train", "validation"):
        index = json.loads((tmp_path / "out" / split / "index.json").read_text())
        shards = [reader_from_json(str(tmp_path / "out"), split, shard) for shard in index["shards"]]
        assert len(shards) > 3
        found, rows = [shard[at] for shard in shards for at in range(len(shard))], rows_of(tmp_path / "out", split)
        assert [sample["tokens"].tolist() for sample in found] == rows
        assert {sample["tokens"].dtype.name for sample in found} == {open_tokens(tmp_path / "out").dtype.name}
        assert found[0].keys() == ({"tokens", "seq_start_id", *COLUMNS} if options else {"tokens"})
        if options:
            assert all(sample["cu_seqlens"].tolist() == [*sample["seq_start_id"], 64] for sample in found)


@pytest.mark.parametrize("options", [{}, PACKED], ids=["documents", "rows"])
def test_litdata_reads_chunks(tmp_path: Path, wide: Tokenizer, source: Path, options: Any) -> None:
    from litdata.streaming.config import ChunksConfig
    from litdata.streaming.item_loader import TokensLoader
    from litdata.streaming.serializers import _get_serializers

    tokenize_files(wide, source, tmp_path / "out", format="litdata", **OPTIONS, **options)
    for split in ("train", "validation"):
        folder, loader = tmp_path / "out" / split, TokensLoader(block_size=64)
        read = ChunksConfig.load(str(folder), _get_serializers(None), item_loader=loader)
        rows, found, expected = rows_of(tmp_path / "out", split), [], []
        for number, (chunk, (begin, *_, end)) in enumerate(zip(read._chunks, read.intervals, strict=True)):
            path = str(folder / chunk["filename"])
            found += [
                loader.load_item_from_chunk(at, number, path, begin, chunk["chunk_bytes"]) for at in range(begin, end)
            ]
            ids = list(chain.from_iterable(rows[: chunk["chunk_size"]]))
            del rows[: chunk["chunk_size"]]
            # The rest of a chunk that fills no block is left out.
            expected += [ids[start : start + 64] for start in range(0, len(ids) - 63, 64)]
        assert [block.tolist() for block in found] == expected
        assert not rows
