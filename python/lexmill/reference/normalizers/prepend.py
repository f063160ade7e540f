"""Puts text before text.

The prefix stands for the first character of the text. An empty text stays empty. With an empty prefix the first
character loses its place: it stands for the empty range where the text begins, as in Hugging Face.
"""

from __future__ import annotations

from dataclasses import dataclass

from lexmill.reference.normalized import Normalized


@dataclass(frozen=True)
class Prepend:
    """Puts `prepend` before the text."""

    prepend: str

    def normalize(self, text: Normalized) -> Normalized:
        """Returns the text with the prefix."""
        if not text.text:
            return text
        if not self.prepend:
            return text.rewrite([(text.text[0], (text.origin, text.origin)), *text.chars(1)])
        return text.rewrite([*((char, text.sources[0]) for char in self.prepend), *text.chars()])
