"""The rows that encodings read: an encoding of `lexmill.Tokenizer`, or the lists of a pickle. Batches: `_batch.py`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

import lexmill
from lexmill.errors import LexmillError

Column = Literal["ids", "type_ids", "attention_mask", "tokens", "offsets", "word_ids"]
COLUMNS: tuple[Column, ...] = ("ids", "type_ids", "attention_mask", "tokens", "offsets", "word_ids")


class Rows(ABC):
    """Tokens of one row or many, column by column."""

    __slots__ = ()

    @abstractmethod
    def length(self, row: int) -> int:
        """Tokens of a row."""

    @abstractmethod
    def column(self, name: Column, row: int) -> list[Any]:
        """A new list of a column's values in a row."""

    def array(self, name: Column, row: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """A new array of a column's values in a row."""
        return np.array(self.column(name, row), dtype)


class OneEncoding(Rows):
    """One row: an encoding of `lexmill.Tokenizer`, which makes a column when asked for it."""

    __slots__ = ("_encoding",)

    def __init__(self, encoding: lexmill.Encoding) -> None:
        """Takes the encoding over."""
        self._encoding = encoding

    def length(self, row: int) -> int:
        return len(self._encoding)

    def column(self, name: Column, row: int) -> list[Any]:
        values: list[Any] = getattr(self._encoding, name)
        return values


class StoredRow(Rows):
    """One row: the lists that a pickle holds."""

    __slots__ = ("_columns",)

    def __init__(self, **columns: list[Any] | None) -> None:
        """Keeps the lists by the names of the columns; None for a column that the pickle lacks."""
        self._columns = columns

    def length(self, row: int) -> int:
        return len(self.column("ids", row))

    def column(self, name: Column, row: int) -> list[Any]:
        values = self._columns[name]
        if values is None:
            raise LexmillError(f"the pickled encoding has no {name}: tokenizers 1.0 wrote it; encode its text again")
        return list(values)
