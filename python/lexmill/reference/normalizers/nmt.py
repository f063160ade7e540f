"""SentencePiece's cleaning of text for translation: some control characters go, and odd spaces become plain ones.

A space stands for the character in whose place it is. NUL and the no-break space stay as they are.
"""

from __future__ import annotations

from dataclasses import dataclass

from lexmill.reference.normalized import Normalized

DROPPED = frozenset(map(chr, [*range(0x1, 0x9), 0xB, *range(0xE, 0x20), 0x7F, 0x8F, 0x9F]))
SPACES = frozenset("\t\n\x0c\r\u1680\u200b\u200c\u200d\u200e\u200f\u2028\u2029\u2581\ufeff\ufffd")


@dataclass(frozen=True)
class Nmt:
    """Takes control characters out and makes odd spaces plain."""

    def normalize(self, text: Normalized) -> Normalized:
        """Returns the cleaned text."""
        kept = (pair for pair in text.chars() if pair[0] not in DROPPED)
        return text.rewrite((" " if char in SPACES else char, source) for char, source in kept)
