"""Cuts at one character and drops it."""

from __future__ import annotations

from dataclasses import dataclass

from lexmill.reference.normalized import Normalized
from lexmill.reference.pre_tokenizers.split import cut_at_chars


@dataclass(frozen=True)
class CharDelimiterSplit:
    """The character to cut at."""

    delimiter: str

    def pre_tokenize(self, text: Normalized) -> list[Normalized]:
        """Returns the pieces."""
        return cut_at_chars(text, (char == self.delimiter for char in text.text), "Removed")
