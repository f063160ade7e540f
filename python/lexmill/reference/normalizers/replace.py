"""Puts one text in place of every match of a pattern.

The content stands for the last character of the match; in place of an empty match, for the character before it, or at
the beginning for the empty place there. The content is taken as it is: it names no groups.
"""

from __future__ import annotations

from dataclasses import dataclass

from lexmill.reference.normalized import Normalized, Span
from lexmill.reference.patterns import Find


@dataclass(frozen=True)
class Replace:
    """A search, and the text that takes the place of each match."""

    find: Find
    content: str

    def normalize(self, text: Normalized) -> Normalized:
        """Returns the text with the content in place of every match."""
        chars: list[tuple[str, Span]] = []
        done = 0
        for start, end in self.find(text.text):
            chars += text.chars(done, start)
            chars += [(char, text.source_before(end)) for char in self.content]
            done = end
        return text.rewrite(chars + text.chars(done))
