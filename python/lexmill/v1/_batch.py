"""Rows of one batch in flat arrays, and their padding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from lexmill._core import TokenArrays
from lexmill.v1._limits import Padding, check_padded
from lexmill.v1._rows import Column, Rows


class BatchRows(Rows):
    """Rows of one call of the core. Offsets and word ids are made for all rows when they are first read."""

    __slots__ = ("_arrays", "_encode", "_length", "_padding", "_splits", "_token")

    def __init__(
        self, encode: Callable[..., TokenArrays], token: Callable[[int], str | None], *, with_offsets: bool
    ) -> None:
        """Encodes.

        Args:
            encode: gives ids and type ids without padding; takes `return_offsets` and `return_word_ids`.
            token: gives the token of an id.
            with_offsets: makes offsets and word ids now.
        """
        self._encode = encode
        self._token = token
        self._padding: Padding | None = None
        self._length = 0
        self._arrays = self._encode_with_offsets() if with_offsets else encode()
        self._splits: list[int] = self._arrays.row_splits.tolist()

    def __len__(self) -> int:
        """Number of rows."""
        return len(self._splits) - 1

    @property
    def longest(self) -> int:
        """Tokens of the longest row."""
        return longest_row(self._arrays)

    def pad(self, padding: Padding, length: int) -> None:
        """Pads the rows to `length` tokens; longer rows stay as they are. May be called once."""
        self._padding, self._length = padding, length
        self._arrays = padded(self._arrays, padding, length)
        self._splits = self._arrays.row_splits.tolist()

    def length(self, row: int) -> int:
        return self._splits[row + 1] - self._splits[row]

    def column(self, name: Column, row: int) -> list[Any]:
        if name == "tokens":
            return self._tokens_of(row)
        values: list[Any] = self._slice(name, row).T.tolist()
        if name == "offsets":
            return list(zip(*values, strict=True))
        if name == "word_ids":
            return [None if word < 0 else word for word in values]
        return values

    def array(self, name: Column, row: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        return self._slice(name, row).astype(dtype)

    def _slice(self, name: Column, row: int) -> npt.NDArray[Any]:
        if name == "attention_mask" and self._arrays.attention_mask is None:
            return np.ones(self.length(row), np.uint8)
        if name in ("offsets", "word_ids") and self._arrays.offsets is None:
            # Two threads may both do this; they get equal arrays.
            arrays = self._encode_with_offsets()
            self._arrays = arrays if self._padding is None else padded(arrays, self._padding, self._length)
        values: npt.NDArray[Any] = getattr(self._arrays, name)
        return values[self._splits[row] : self._splits[row + 1]]

    def _encode_with_offsets(self) -> TokenArrays:
        return self._encode(return_offsets=True, return_word_ids=True)

    def _tokens_of(self, row: int) -> list[str]:
        pad_token = "" if self._padding is None else self._padding.pad_token
        ids, mask = self.column("ids", row), self.column("attention_mask", row)
        return [
            self._token(token_id) or "" if is_text else pad_token for token_id, is_text in zip(ids, mask, strict=True)
        ]


def longest_row(arrays: TokenArrays) -> int:
    """Tokens of the longest row."""
    return int(np.diff(arrays.row_splits).max(initial=0))


def padded(arrays: TokenArrays, padding: Padding, length: int, *, with_mask: bool = True) -> TokenArrays:
    """The rows with padding up to `length` tokens; longer rows stay as they are.

    Args:
        arrays: rows without padding.
        padding: the token and the side of the padding.
        length: tokens after padding.
        with_mask: adds the attention mask where there is padding.

    Raises:
        OptionError: the rows are to be padded to more tokens than `MOST_PADDED` together.
    """
    lengths = np.diff(arrays.row_splits)
    if not (lengths < length).any():
        return arrays
    check_padded(length)
    pads = np.maximum(length - lengths, 0)
    check_padded(int((lengths + pads).sum()))
    runs, is_text = (pads, lengths), (False, True)
    if padding.direction == "right":
        runs, is_text = (lengths, pads), (True, False)
    # For each place of the new rows: True for a token, False for padding.
    mask = np.repeat(np.tile(is_text, len(lengths)), np.column_stack(runs).ravel())

    def filled(column: npt.NDArray[Any], fill: int) -> npt.NDArray[Any]:
        made = np.full((mask.size, *column.shape[1:]), fill, column.dtype)
        made[mask] = column
        return made

    fills = {"offsets": 0, "word_ids": -1, "type_ids": padding.pad_type_id, "special_tokens_mask": 1}
    columns = {
        name: filled(column, fill) for name, fill in fills.items() if (column := getattr(arrays, name)) is not None
    }
    ids = arrays.ids
    if padding.pad_id > np.iinfo(ids.dtype).max:
        ids = ids.astype(np.uint32)
    if with_mask:
        columns["attention_mask"] = mask.astype(np.uint8)
    splits = np.concatenate([[0], np.cumsum(lengths + pads)])
    return TokenArrays(filled(ids, padding.pad_id), splits, **columns)
