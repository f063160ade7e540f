"""Lower case, character by character.

Neighbours do not matter: a capital sigma at the end of a word becomes the sigma of its middle. Where one character
becomes two (`İ`), both stand for it.
"""

from __future__ import annotations

from dataclasses import dataclass

from lexmill.reference.normalized import Normalized


@dataclass(frozen=True)
class Lowercase:
    """Makes every character its lower case."""

    def normalize(self, text: Normalized) -> Normalized:
        """Returns the text in lower case."""
        return text.rewrite((low, source) for char, source in text.chars() for low in char.lower())
