"""An index of rows over documents of random lengths, by each rule of packing.

Each bench compares the rows of the first documents with the reference's first, and says so in `extra_info`.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any, Literal

import pytest

from lexmill import Tokenizer, models, pack_tokens, pre_tokenizers, tokenize_files
from lexmill.reference.packing import best_fit, concat, slices_of
from lexmill.sources import Lines

pytestmark = pytest.mark.bench

LENGTH = 64
DOCUMENTS = 300_000
COMPARED = 1000


def tokens(folder: Path, lengths: list[int]) -> Path:
    tokenizer = Tokenizer(models.WordLevel({"a": 0}))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    (folder / "texts.txt").write_text("".join("a " * length + "\n" for length in lengths))
    tokenize_files(tokenizer, Lines(folder / "texts.txt"), folder / "tokens", overwrite=True)
    return folder / "tokens"


@pytest.mark.benchmark(group="index of packed rows")
@pytest.mark.parametrize("packing", ["concat", "best-fit", "best-fit-decreasing"])
def test_pack_tokens(
    benchmark: Any, tmp_path: Path, packing: Literal["concat", "best-fit", "best-fit-decreasing"]
) -> None:
    lengths = [min(200, int(random.Random(at).lognormvariate(2.5, 1)) + 1) for at in range(DOCUMENTS)]
    few = list(enumerate(lengths[:COMPARED]))
    rows = pack_tokens(tokens(tmp_path, lengths[:COMPARED]), length=LENGTH, packing=packing, out=tmp_path / "few")
    if packing == "concat":
        expected = concat(few, LENGTH)
    else:
        expected = best_fit(slices_of(few, LENGTH), LENGTH, decreasing=packing == "best-fit-decreasing")
    assert [[tuple(part) for part in rows.slices(row).tolist()] for row in range(len(rows))] == expected
    benchmark.extra_info["correct"] = True
    folder = tokens(tmp_path, lengths)
    made = benchmark(pack_tokens, folder, length=LENGTH, packing=packing, out=tmp_path / "rows", overwrite=True)
    benchmark.extra_info["rows"] = len(made)
