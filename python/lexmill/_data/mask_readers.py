"""How the loss masks of one part of each layout are mapped, from the form that the files have."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from lexmill._core import parquet_token_group, parquet_token_groups
from lexmill._data.segments import AnySegment, GroupSegment, Segment
from lexmill._data.token_readers import READERS, PartFiles, Reader, arrow_column, check_lengths, megatron_lengths
from lexmill.errors import OutputError

__all__ = ["FORMS", "check_parquet_masks", "dtype_of_masks", "is_mask_file", "mask_of", "mask_reader", "names_to_read"]

_IGNORED = -100
"""The label of a token that is not learned."""

_FILES = (".loss_mask.bin", ".loss_mask.idx", ".loss_mask.npy", ".labels.bin", ".labels.idx", ".labels.npy", ".ds.loss")
"""Suffixes of files of masks. No file of ids ends with one."""

_ROW_COLUMNS = (".position_ids.npy", ".document_ids.npy")
"""Files beside the ids of packed rows."""

_COLUMNS = {"mask": ("loss_mask",), "labels": ("labels",), "ranges": ("loss_start", "loss_end")}
"""The columns of each form, which come after the ids."""


_MASKS = "its masks have"
"""Begins messages about masks whose lengths differ from the lengths of the documents."""

FORMS = frozenset(_COLUMNS)
"""The forms of masks."""


def is_mask_file(name: str) -> bool:
    """True if a file has loss masks."""
    return name.endswith(_FILES)


def names_to_read(files: Iterable[str], *, is_mask: bool, has_columns: bool) -> list[str]:
    """The files of a part that a reader needs: first the ids or the masks, then the borders of documents.

    Where the layout has columns, both are in one file. Elsewhere the borders of documents are beside the ids.

    Raises:
        OutputError: files of masks are missing.
    """
    given = list(files)
    # Sorted by name, the file of ids comes first; only Dolma's `.csv.gz` sorts before its ids.
    ids = sorted(
        (name for name in given if not name.endswith(_ROW_COLUMNS) and not is_mask_file(name)),
        key=lambda name: (name.endswith(".csv.gz"), name),
    )
    if not is_mask or has_columns:
        return ids
    masks = sorted(filter(is_mask_file, given))
    if not masks:
        message = f"beside {', '.join(ids)} there is no file of loss masks"
        raise OutputError(message)
    return [*masks, *ids[1:]]


def dtype_of_masks(form: str) -> np.dtype[Any]:
    """How the files store a mask of this form."""
    return np.dtype("<i4" if form == "labels" else np.uint8)


def mask_of(values: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    """The mask from stored values: a mask as it is; of labels, 1 wherever the label is not -100. It is read-only.

    Raises:
        OutputError: a mask has other values than 0 and 1.
    """
    found = values if values.dtype == np.uint8 else (values != _IGNORED).view(np.uint8)
    if found.size and found.max() > 1:
        message = f"a loss mask has the value {found.max()} but must have 0 and 1 alone"
        raise OutputError(message)
    found.flags.writeable = False
    return found


def mask_reader(format: str, preset: str | None, form: str) -> Reader:
    """The reader of masks of a layout."""
    if format == "parquet":
        return lambda part: _parquet(part, form)
    if format == "arrow":
        return lambda part: _arrow(part, form)
    if format == "megatron":
        return _megatron
    return READERS[format, preset]


def _megatron(part: PartFiles) -> Sequence[AnySegment]:
    # After the pair of masks comes the index of the ids.
    masks, _, ids = part.paths
    check_lengths(megatron_lengths(replace(part, paths=[masks, ids])), megatron_lengths(part), _MASKS)
    return READERS["megatron", None](part)


def _arrow(part: PartFiles, form: str) -> Sequence[Segment]:
    path = part.paths[0]
    ids = arrow_column(path, "input_ids", None)
    if form == "ranges":
        columns = [arrow_column(path, name, np.dtype("<i4")) for name in _COLUMNS[form]]
        return [_of_ranges(*three) for three in zip(ids, *columns, strict=True)]
    masks = arrow_column(path, _COLUMNS[form][0], part.dtype)
    check_lengths(_lengths(segment.splits for segment in ids), _lengths(segment.splits for segment in masks), _MASKS)
    return masks


def check_parquet_masks(path: Path, form: str) -> None:
    """Compares the lengths of masks and documents, for which both columns are decoded. Ranges have no such lengths.

    Raises:
        ValueError: a document has another number of tokens in its mask, or the file is damaged.
    """
    if form != "ranges":
        groups = range(len(parquet_token_groups(path, "input_ids")))
        ids, masks = (
            _lengths(parquet_token_group(path, group, column)[1] for group in groups)
            for column in ("input_ids", _COLUMNS[form][0])
        )
        check_lengths(ids, masks, _MASKS)


def _lengths(splits: Iterable[npt.NDArray[Any] | None]) -> npt.NDArray[Any]:
    """The lengths of the documents of several segments, in tokens."""
    return np.concatenate([np.zeros(0, np.int64), *(np.diff(one) for one in splits if one is not None)])


def _parquet(part: PartFiles, form: str) -> list[GroupSegment]:
    path, columns = part.paths[0], _COLUMNS[form]
    made = _RangesGroup if form == "ranges" else GroupSegment
    return [
        made(path, group, part.dtype, rows, tokens, part.groups, columns[0])
        for group, (rows, tokens) in enumerate(parquet_token_groups(path, "input_ids"))
    ]


@dataclass(frozen=True)
class _RangesGroup(GroupSegment):
    """A row group of a Parquet file whose masks are ranges."""

    def decoded(self) -> Segment:
        """The masks of the row group."""
        columns = ("input_ids", *_COLUMNS["ranges"])
        return _of_ranges(*(Segment(*parquet_token_group(self.path, self.group, column)) for column in columns))


def _of_ranges(ids: Segment, starts: Segment, ends: Segment) -> Segment:
    """Masks from ranges within rows."""
    if ids.splits is None or starts.splits is None or ends.splits is None:
        message = "its ranges have no rows"
        raise ValueError(message)
    if not np.array_equal(starts.splits, ends.splits):
        message = "its ranges do not have as many ends as starts"
        raise ValueError(message)
    counts = np.diff(starts.splits)
    rows = np.repeat(ids.splits[:-1].astype(np.int64), counts)
    lengths = np.repeat(np.diff(ids.splits), counts)
    if not np.all((starts.ids >= 0) & (starts.ids < ends.ids) & (ends.ids <= lengths)):
        message = "a range of tokens to learn is empty or leaves its row"
        raise ValueError(message)
    # The prefix sum of changes is 1 within a range, else 0. Ranges of neighbouring rows may touch; then changes cancel.
    changes = np.zeros(int(ids.splits[-1]) + 1, np.int8)
    np.add.at(changes, rows + starts.ids, 1)
    np.add.at(changes, rows + ends.ids, -1)
    return Segment(np.cumsum(changes[:-1], dtype=np.int8).view(np.uint8), ids.splits)
