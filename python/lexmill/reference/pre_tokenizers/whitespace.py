r"""Cuts at white space (Unicode's property White_Space), which is dropped.

`Whitespace` also parts words from the rest: it keeps `\w+` and `[^\w\s]+`. A word character is a letter, a mark, a
decimal digit, a letter number, a connector or a joiner.
"""

from __future__ import annotations

from dataclasses import dataclass

from lexmill.reference.normalized import Normalized, pieces_at
from lexmill.reference.patterns import regular
from lexmill.reference.pre_tokenizers.split import cut_at_chars
from lexmill.reference.words import WHITE_SPACE, WHITESPACE_PATTERN


@dataclass(frozen=True)
class Whitespace:
    """Runs of word characters, and runs of the rest."""

    def pre_tokenize(self, text: Normalized) -> list[Normalized]:
        """Returns the pieces."""
        return pieces_at(text, regular(WHITESPACE_PATTERN)(text.text))


@dataclass(frozen=True)
class WhitespaceSplit:
    """Runs of anything but white space."""

    def pre_tokenize(self, text: Normalized) -> list[Normalized]:
        """Returns the pieces."""
        return cut_at_chars(text, (char in WHITE_SPACE for char in text.text), "Removed")
