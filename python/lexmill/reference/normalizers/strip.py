"""Takes white space off the ends, or marks out of the text.

White space is Unicode's property White_Space. Marks are the categories Mn, Mc and Me of Unicode 9; the running Python
knows more.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from lexmill.reference.normalized import Normalized
from lexmill.reference.words import WHITE_SPACE


@dataclass(frozen=True)
class Strip:
    """Takes white space off the ends that are named."""

    strip_left: bool
    strip_right: bool

    def normalize(self, text: Normalized) -> Normalized:
        """Returns the text without white space at its ends."""
        start, end = 0, len(text.text)
        while self.strip_left and start < end and text.text[start] in WHITE_SPACE:
            start += 1
        while self.strip_right and start < end and text.text[end - 1] in WHITE_SPACE:
            end -= 1
        return text.rewrite(text.chars(start, end))


@dataclass(frozen=True)
class StripAccents:
    """Takes all combining marks out; it decomposes nothing, so it comes after NFD."""

    def normalize(self, text: Normalized) -> Normalized:
        """Returns the text without marks."""
        return text.rewrite(pair for pair in text.chars() if not unicodedata.category(pair[0]).startswith("M"))
