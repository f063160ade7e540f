"""How the files of one part of each layout are mapped."""

from __future__ import annotations

import mmap
import tokenize
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from lexmill._core import array_record_rows, arrow_stream_batches, parquet_token_groups, tar_token_rows
from lexmill._data.segments import AnySegment, GroupSegment, RowGroups, ScatteredSegment, Segment

__all__ = [
    "DAMAGED",
    "READERS",
    "PartFiles",
    "Reader",
    "arrow_column",
    "check_lengths",
    "document_lengths",
    "megatron_lengths",
]

Reader: TypeAlias = "Callable[[PartFiles], Sequence[AnySegment]]"
"""Maps the files of a part."""

_MEGATRON_HEADER = 34
_LLM_C_HEADER = 1024

_RIEGELI_BLOCKS = (1 << 16, 24)
"""Bytes of a block, and of the header at its beginning."""


@dataclass(frozen=True)
class PartFiles:
    """The files of one part, for its reader.

    Attributes:
        paths: the files of the part, the ids first.
        dtype: how an id is stored.
        documents: the number of documents.
        tokens: the number of tokens.
        row_length: the length of packed rows.
        groups: where decoded row groups are kept.
    """

    paths: list[Path]
    dtype: np.dtype[Any]
    documents: int
    tokens: int
    row_length: int | None
    groups: RowGroups


def _map(path: Path, dtype: npt.DTypeLike, offset: int = 0, count: int | None = None) -> npt.NDArray[Any]:
    # An empty file cannot be mapped.
    size = path.stat().st_size - offset
    if size <= 0:
        return np.zeros(0, dtype)
    shape = size // np.dtype(dtype).itemsize if count is None else count
    return np.memmap(path, dtype, "r", offset, (shape,)).view(np.ndarray) if shape else np.zeros(0, dtype)


def check_lengths(expected: npt.NDArray[Any], found: npt.NDArray[Any], subject: str) -> None:
    """Compares the lengths of documents with other lengths for the same documents.

    Args:
        expected: the number of tokens of each document.
        found: the other lengths.
        subject: the beginning of the message, which names the place of the other lengths.

    Raises:
        ValueError: a length differs, or the number of lengths.
    """
    if len(expected) != len(found):
        message = f"{subject} {len(found)} documents but must have {len(expected)}"
        raise ValueError(message)
    if (differing := np.flatnonzero(expected != found)).size:
        at = int(differing[0])
        message = f"{subject} {found[at]} tokens for document {at}, which has {expected[at]}"
        raise ValueError(message)


def megatron_lengths(part: PartFiles) -> npt.NDArray[Any]:
    """The number of tokens of each document of a part, from the index, its second file."""
    index = part.paths[1]
    # For each document a length and an offset, and where documents begin among these and end.
    size = _MEGATRON_HEADER + 12 * part.documents + 8 * (part.documents + 1)
    if (found := index.stat().st_size) != size:
        message = f"{index.name} has {found} bytes but must have {size}"
        raise ValueError(message)
    return _map(index, "<i4", _MEGATRON_HEADER, part.documents)


def _megatron(part: PartFiles) -> list[Segment]:
    index = part.paths[1]
    lengths = megatron_lengths(part)
    offsets = _map(index, "<i8", _MEGATRON_HEADER + 4 * part.documents, part.documents)
    end = int(offsets[-1]) // part.dtype.itemsize + int(lengths[-1]) if part.documents else 0
    splits = np.append(offsets // part.dtype.itemsize, end)
    check_lengths(lengths, np.diff(splits), "its index has")
    return [Segment(_map(part.paths[0], part.dtype), splits)]


def _npy(part: PartFiles) -> list[Segment]:
    ids, splits = (np.load(path, mmap_mode="r").view(np.ndarray) for path in part.paths)
    if ids.dtype != part.dtype:
        message = f"its type is {ids.dtype} but the manifest says {part.dtype}"
        raise ValueError(message)
    if part.row_length is not None:
        splits = np.arange(0, ids.size + 1, part.row_length)
    return [Segment(ids.reshape(-1), splits)]


def _nanogpt(part: PartFiles) -> list[Segment]:
    return [Segment(_map(part.paths[0], part.dtype), None)]


def _llm_c(part: PartFiles) -> list[Segment]:
    return [Segment(_map(part.paths[0], part.dtype, _LLM_C_HEADER), None)]


def _datatrove(part: PartFiles) -> list[Segment]:
    ends = _map(part.paths[1], "<u8").astype(np.int64)
    return [Segment(_map(part.paths[0], part.dtype), np.insert(ends, 0, 0))]


def _dolma(part: PartFiles) -> list[Segment]:
    import gzip

    with gzip.open(part.paths[1], "rt", encoding="utf-8", newline="") as table:
        ends = np.fromiter((int(line.split(",", 2)[1]) for line in table), np.int64)
    return [Segment(_map(part.paths[0], part.dtype), np.insert(ends, 0, 0))]


def arrow_column(path: Path, name: str, dtype: np.dtype[Any] | None) -> list[Segment]:
    """A column of lists, one segment for each batch of an Arrow stream. Without `dtype`, only its splits are right.

    Raises:
        ValueError: there is no such column, or one of another width.
    """
    bits, batches = arrow_stream_batches(path, name)
    if dtype is not None and bits != 8 * dtype.itemsize:
        message = f"column {name} has integers of {bits} bits but the manifest says {dtype}"
        raise ValueError(message)
    with path.open("rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    segments = []
    for rows, offsets, values in batches:
        splits = np.frombuffer(mapped, "<i4", rows + 1, offsets)
        segments.append(Segment(np.frombuffer(mapped, dtype or np.uint8, int(splits[-1]), values), splits))
    return segments


def _arrow(part: PartFiles) -> list[Segment]:
    return arrow_column(part.paths[0], "input_ids", part.dtype)


def _parquet(part: PartFiles) -> list[GroupSegment]:
    path = part.paths[0]
    return [
        GroupSegment(path, group, part.dtype, rows, tokens, part.groups)
        for group, (rows, tokens) in enumerate(parquet_token_groups(path, "input_ids"))
    ]


def _offset_table(path: Path) -> npt.NDArray[np.int64]:
    """The positions of records, and of the end of the last one, from the table at the beginning of a file."""
    (count,) = _map(path, "<u4", 0, 1)
    offsets = _map(path, "<u4", 4, int(count) + 1).astype(np.int64)
    if offsets[0] < 4 * (len(offsets) + 1) or offsets[-1] != path.stat().st_size or np.any(np.diff(offsets) < 0):
        message = "its table of offsets does not match its records"
        raise ValueError(message)
    return offsets


def _mds(part: PartFiles) -> list[ScatteredSegment]:
    path = part.paths[0]
    offsets, data = _offset_table(path), _map(path, np.uint8)
    if part.row_length is not None:
        # Ids are the last column, and all arrays of ids have one length.
        sizes = np.full(len(offsets) - 1, part.row_length * part.dtype.itemsize)
        if np.any(np.diff(offsets) < sizes):
            message = f"a row has fewer than {part.row_length} ids"
            raise ValueError(message)
        return [ScatteredSegment.of_sizes(data, part.dtype, offsets[1:] - sizes, sizes)]
    # After its size in 4 bytes, a record has a byte with the number of axes and the logarithm of the width of lengths.
    axes = data[offsets[:-1] + 4]
    if np.any(axes >> 2 != 1):
        message = "a document is not an array of one axis"
        raise ValueError(message)
    starts = offsets[:-1] + 5 + (1 << (axes & 3).astype(np.int64))
    return [ScatteredSegment.of_sizes(data, part.dtype, starts, offsets[1:] - starts)]


def _webdataset(part: PartFiles) -> list[ScatteredSegment]:
    path = part.paths[0]
    return [ScatteredSegment.of_sizes(_map(path, np.uint8), part.dtype, *tar_token_rows(path, part.dtype.name))]


def _litdata(part: PartFiles) -> list[Segment]:
    path = part.paths[0]
    offsets = _offset_table(path)
    return [Segment(_map(path, part.dtype, int(offsets[0])), (offsets - offsets[0]) // part.dtype.itemsize)]


def _array_record(part: PartFiles) -> list[ScatteredSegment]:
    path = part.paths[0]
    return [ScatteredSegment.of_sizes(_map(path, np.uint8), part.dtype, *array_record_rows(path), _RIEGELI_BLOCKS)]


DAMAGED = (OSError, ValueError, TypeError, IndexError, OverflowError, EOFError, zlib.error, tokenize.TokenError)
"""What readers raise for files that are not as they were written; an `IndexError` would end a loop over documents."""

READERS: dict[tuple[str, str | None], Reader] = {
    ("megatron", None): _megatron,
    ("npy", None): _npy,
    ("arrow", None): _arrow,
    ("parquet", None): _parquet,
    ("mds", None): _mds,
    ("webdataset", None): _webdataset,
    ("litdata", None): _litdata,
    ("arrayrecord", None): _array_record,
    ("raw", "nanogpt"): _nanogpt,
    ("raw", "llm.c"): _llm_c,
    ("raw", "datatrove"): _datatrove,
    ("raw", "dolma"): _dolma,
}

_BLOCK = 1 << 20
"""Lengths of documents in a block."""


def document_lengths(reader: Reader, part: PartFiles) -> Iterator[npt.NDArray[np.uint32] | None]:
    """The tokens of each document of a part, in blocks; None if the files do not say where documents begin."""
    if reader is _megatron:
        # A joined pair is one part, so the lengths are mapped.
        arrays: Iterator[npt.NDArray[Any] | None] = iter([megatron_lengths(part)])
    else:
        splits = (segment.loaded().splits for segment in reader(part))
        arrays = (None if found is None else np.diff(found) for found in splits)
    for lengths in arrays:
        if lengths is None:
            yield None
            return
        for start in range(0, len(lengths), _BLOCK):
            block = lengths[start : start + _BLOCK]
            if block.min() < 0 or block.max() >= 1 << 31:
                message = f"a document has {block.min()} or {block.max()} tokens"
                raise ValueError(message)
            yield block.astype(np.uint32)
