"""Ids of neighbouring documents within a part: side by side, scattered over a file, or to be decoded first."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from lexmill._core import parquet_token_group

__all__ = ["AnySegment", "GroupSegment", "Ids", "RowGroups", "ScatteredSegment", "Segment", "is_sound"]

Ids: TypeAlias = npt.NDArray[Any]
"""A view of ids, in the width of the files; as a rule `uint16` or `uint32`."""


@dataclass(frozen=True)
class Segment:
    """Ids of neighbouring documents, and where these begin and end if the files say so."""

    ids: Ids
    splits: npt.NDArray[Any] | None

    @property
    def tokens(self) -> int:
        """Number of ids."""
        return len(self.ids)

    @property
    def rows(self) -> int | None:
        """Number of documents, if the files say where they begin."""
        return None if self.splits is None else len(self.splits) - 1

    def loaded(self) -> Segment:
        """The segment, decoded if it has to be."""
        return self

    def row(self, at: int) -> Ids:
        """The ids of a document."""
        assert self.splits is not None
        return self.ids[int(self.splits[at]) : int(self.splits[at + 1])]

    def range(self, start: int, stop: int) -> Ids:
        """The ids of tokens `start` to `stop`, or to the end of the segment."""
        return self.ids[start:stop]


@dataclass(frozen=True)
class ScatteredSegment:
    """Ids of documents that do not lie side by side.

    Attributes:
        data: the bytes of a file.
        dtype: how an id is stored.
        starts: the position of each document.
        splits: the number of tokens before each document, and at the end the number of all tokens.
        interruption: the distance between block headers and the size of a header, in bytes; None without such headers.
    """

    data: npt.NDArray[np.uint8]
    dtype: np.dtype[Any]
    starts: npt.NDArray[np.int64]
    splits: npt.NDArray[np.int64]
    interruption: tuple[int, int] | None = None

    @classmethod
    def of_sizes(
        cls,
        data: npt.NDArray[np.uint8],
        dtype: np.dtype[Any],
        starts: npt.NDArray[np.int64],
        sizes: npt.NDArray[np.int64],
        interruption: tuple[int, int] | None = None,
    ) -> ScatteredSegment:
        """A segment of documents with these `sizes` in bytes.

        Raises:
            ValueError: a document ends within an id.
        """
        if np.any(sizes < 0) or np.any(sizes % dtype.itemsize):
            message = f"a document does not end where an id of {dtype} ends"
            raise ValueError(message)
        splits = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes // dtype.itemsize)])
        return cls(data, dtype, starts, splits, interruption)

    @property
    def tokens(self) -> int:
        """Number of ids."""
        return int(self.splits[-1])

    @property
    def rows(self) -> int:
        """Number of documents."""
        return len(self.starts)

    def loaded(self) -> ScatteredSegment:
        """The segment, decoded if it has to be."""
        return self

    def row(self, at: int) -> Ids:
        """The ids of a document: a view, but for documents whose ids are interrupted or not aligned."""
        ids = self._bytes(int(self.starts[at]), int(self.splits[at + 1] - self.splits[at]) * self.dtype.itemsize)
        ids = ids.view(self.dtype)
        if not ids.flags.aligned:
            ids = ids.copy()
        ids.flags.writeable = False
        return ids

    def range(self, start: int, stop: int) -> Ids:
        """The ids of tokens `start` to `stop`, or to the end of the segment. A copy across documents."""
        stop = min(stop, self.tokens)
        at = int(np.searchsorted(self.splits, start, "right")) - 1
        pieces = []
        while start < stop:
            begin = int(self.splits[at])
            pieces.append(self.row(at)[start - begin : stop - begin])
            at += 1
            start = int(self.splits[at])
        return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)

    def _bytes(self, start: int, size: int) -> npt.NDArray[np.uint8]:
        """Bytes of the file without the headers that interrupt them."""
        if self.interruption is None:
            return self.data[start : start + size]
        block, header = self.interruption
        pieces = [self.data[:0]]
        while size > 0:
            start += header if start % block == 0 else 0
            piece = self.data[start : min(start + size, start - start % block + block)]
            pieces.append(piece)
            start += len(piece)
            size -= len(piece)
        return pieces[1] if len(pieces) == 2 else np.concatenate(pieces)


@dataclass(frozen=True)
class GroupSegment:
    """A row group of a Parquet file, which is decoded when it is looked into.

    Attributes:
        path: the file.
        group: the number of the row group.
        dtype: how an id is shown.
        rows: number of documents, as the file says, and of their tokens.
        groups: where decoded groups are kept.
        column: the column of lists.
    """

    path: Path
    group: int
    dtype: np.dtype[Any]
    rows: int
    tokens: int
    groups: RowGroups
    column: str = "input_ids"

    def loaded(self) -> Segment:
        """The segment, decoded if it has to be."""
        return self.groups.get(self)

    def decoded(self) -> Segment:
        """The segment, read from the file."""
        return Segment(*parquet_token_group(self.path, self.group, self.column))


class RowGroups:
    """The decoded row groups of Parquet files that were read last."""

    KEPT = 4

    def __init__(self) -> None:
        """Begins with none."""
        self._kept: dict[tuple[Path, int, str], Segment] = {}

    def get(self, wanted: GroupSegment) -> Segment:
        """A group, decoded now unless it is kept."""
        key = (wanted.path, wanted.group, wanted.column)
        found = self._kept.pop(key, None)
        if found is None:
            decoded = wanted.decoded()
            found = Segment(decoded.ids.astype(wanted.dtype, copy=False), decoded.splits)
            found.ids.flags.writeable = False
            if (found.tokens, found.rows) != (wanted.tokens, wanted.rows):
                message = f"row group {wanted.group} holds {found.tokens} tokens but must hold {wanted.tokens}"
                raise ValueError(message)
        # The dict is in the order of use. Another thread may have put the same group there.
        self._kept[key] = found
        for oldest in list(self._kept)[: -self.KEPT]:
            self._kept.pop(oldest, None)
        return found


def is_sound(segment: Segment | ScatteredSegment) -> bool:
    """True if the row splits of a segment ascend from 0 to its number of tokens."""
    splits = segment.splits
    if splits is None or splits.ndim != 1 or splits.dtype.kind not in "iu" or not splits.size:
        return False
    return bool(splits[0] == 0 and splits[-1] == segment.tokens and not np.any(splits[1:] < splits[:-1]))


AnySegment: TypeAlias = Segment | ScatteredSegment | GroupSegment
"""One part may have several of these, which follow one another."""
