"""Documents of given lengths as token files, for the tests of packing."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from lexmill import Tokenizer, models, pre_tokenizers, tokenize_files
from lexmill.reference.packing import best_fit, concat, document_order, slices_of
from lexmill.sources import Lines
from lexmill.token_files import TokenFiles

PAD = 0
Rows = list[list[tuple[int, int, int]]]


def tokenizer() -> Tokenizer:
    """Words `1` to `99` are their own ids."""
    made = Tokenizer(models.WordLevel({"<pad>": PAD, **{str(number): number for number in range(1, 100)}}))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return made


def write_documents(path: Path, lengths: Sequence[int]) -> list[list[int]]:
    """Writes a line for each document; answers their ids, which differ from their neighbours'."""
    documents = [[1 + (7 * number + at) % 99 for at in range(length)] for number, length in enumerate(lengths)]
    text = "".join(" ".join(map(str, ids)) + "\n" for ids in documents)
    # The manifest has the time of change.
    if not path.exists() or path.read_text() != text:
        path.write_text(text)
    return documents


def tokens_of(folder: Path, lengths: Sequence[int], name: str = "tokens", **options: Any) -> TokenFiles:
    """The token files of documents of these lengths."""
    write_documents(folder / "texts.txt", lengths)
    return tokenize_files(tokenizer(), Lines(folder / "texts.txt"), folder / name, **options)


def reference_rows(lengths: Sequence[int], length: int, packing: str, seed: int | None = None) -> Rows:
    """The rows of the reference, in one window."""
    order = range(len(lengths)) if seed is None else document_order(len(lengths), seed)
    documents = [(number, lengths[number]) for number in order]
    if packing == "concat":
        return concat(documents, length)
    return best_fit(slices_of(documents, length), length, decreasing=packing == "best-fit-decreasing")


def filled(documents: Sequence[list[int]], rows: Rows, length: int) -> list[list[int]]:
    """The ids of rows, filled up."""
    found = [[id_ for document, start, end in row for id_ in documents[document][start:end]] for row in rows]
    return [row + [PAD] * (length - len(row)) for row in found]


def columns(row: Sequence[tuple[int, int, int]], length: int) -> dict[str, list[int]]:
    """The columns of a filled row, by their definitions."""
    bounds = [0, *accumulate(end - start for _, start, end in row)]
    numbers = [*range(1, len(row) + 1), 0]
    bounds = bounds if bounds[-1] == length else [*bounds, length]
    ranges = list(pairwise(bounds))
    return {
        "seq_start_id": bounds[:-1],
        "position_ids": [at for start, end in ranges for at in range(end - start)],
        "document_ids": [numbers[at] for at, (start, end) in enumerate(ranges) for _ in range(start, end)],
        "cu_seqlens": bounds,
    }


def end_to_end(lengths: Sequence[int], length: int) -> tuple[int, int]:
    """Cut documents and padding of documents end to end."""
    bounds = np.cumsum([0, *lengths])
    cut = sum(1 for start, end in pairwise(bounds.tolist()) if start // length != (end - 1) // length)
    return cut, -int(bounds[-1]) % length
