"""Every byte as a printable character of GPT-2's alphabet.

All characters that the bytes of one character become stand for that character.
"""

from __future__ import annotations

from dataclasses import dataclass

from lexmill.reference.byte_level import to_chars
from lexmill.reference.normalized import Normalized


@dataclass(frozen=True)
class ByteLevel:
    """Spells text byte by byte."""

    def normalize(self, text: Normalized) -> Normalized:
        """Returns the text in the byte-level alphabet."""
        return text.rewrite((byte, source) for char, source in text.chars() for byte in to_chars(char))
