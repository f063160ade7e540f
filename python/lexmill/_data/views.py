"""Sequences of views of ids."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import ClassVar, overload

from lexmill._data.segments import Ids

__all__ = ["Views"]


class Views(Sequence[Ids]):
    """A sequence of views of ids, made when they are asked for."""

    _NAME: ClassVar[str]
    """The name of an item in messages."""

    @overload
    def __getitem__(self, index: int) -> Ids: ...
    @overload
    def __getitem__(self, index: slice) -> list[Ids]: ...
    def __getitem__(self, index: int | slice) -> Ids | list[Ids]:
        """One item, or a list of several.

        Raises:
            IndexError: there is no such item.
            TypeError: `index` is neither an integer nor a slice.
            OptionError: the files do not say where documents begin.
        """
        if isinstance(index, slice):
            return [self._item(at) for at in range(*index.indices(len(self)))]
        return self._item(self._checked(index))

    def _checked(self, index: int) -> int:
        """The number of an item, which may be counted from the end."""
        at = operator.index(index)
        at = at + len(self) if at < 0 else at
        if not 0 <= at < len(self):
            message = f"{self._NAME} {index} is not among {len(self)}"
            raise IndexError(message)
        return at

    def _item(self, at: int) -> Ids:
        raise NotImplementedError
