"""Cuts at punctuation: the 32 characters of ASCII that are neither letters nor digits, and the categories P.

Categories are Unicode 9's; the running Python knows more characters.
"""

from __future__ import annotations

import string
import unicodedata
from dataclasses import dataclass

from lexmill.reference.normalized import Normalized
from lexmill.reference.pre_tokenizers.split import Behavior, cut_at_chars


def is_punctuation(char: str) -> bool:
    """True if text is cut at `char`."""
    return char in string.punctuation or unicodedata.category(char).startswith("P")


@dataclass(frozen=True)
class Punctuation:
    """Treats each punctuation character as the behavior says."""

    behavior: Behavior = "Isolated"

    def pre_tokenize(self, text: Normalized) -> list[Normalized]:
        """Returns the pieces."""
        return cut_at_chars(text, map(is_punctuation, text.text), self.behavior)
