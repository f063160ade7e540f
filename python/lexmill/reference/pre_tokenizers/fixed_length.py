"""Cuts text into pieces of equal length in characters; the last one may be shorter."""

from __future__ import annotations

from dataclasses import dataclass

from lexmill.errors import OptionError
from lexmill.reference.normalized import Normalized, pieces_at


@dataclass(frozen=True)
class FixedLength:
    """The length of a piece in characters.

    Raises:
        OptionError: `length` is 0.
    """

    length: int = 5

    def __post_init__(self) -> None:
        """Checks the length."""
        if self.length < 1:
            raise OptionError(f"length is {self.length} but must be at least 1")

    def pre_tokenize(self, text: Normalized) -> list[Normalized]:
        """Returns the pieces."""
        starts = range(0, len(text.text), self.length)
        return pieces_at(text, [(start, min(start + self.length, len(text.text))) for start in starts])
