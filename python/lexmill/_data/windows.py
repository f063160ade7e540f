"""Ids of token files in windows of one length."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lexmill._data.segments import Ids
from lexmill._data.views import Views
from lexmill.errors import OptionError

if TYPE_CHECKING:
    from lexmill._data.open_tokens import TokenFiles

__all__ = ["Windows"]


class Windows(Views):
    """Ids in windows of one length, across the ends of documents; see `TokenFiles.windows`."""

    _NAME = "window"

    def __init__(self, files: TokenFiles, length: int, stride: int) -> None:
        """Looks into no file yet.

        Raises:
            OptionError: `length` or `stride` is less than 1.
        """
        for name, value in (("length", length), ("stride", stride)):
            if value < 1:
                message = f"{name} is {value} but must be at least 1"
                raise OptionError(message)
        self._files = files
        self._length = length
        self._stride = stride

    def __len__(self) -> int:
        """Number of whole windows."""
        return max(0, (self._files.tokens - self._length) // self._stride + 1)

    def _item(self, at: int) -> Ids:
        return self._files._range(at * self._stride, at * self._stride + self._length)
