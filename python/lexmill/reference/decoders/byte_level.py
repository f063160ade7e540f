"""From the byte-level alphabet back to bytes, and from these to one text; see `lexmill.reference.byte_level`."""

from __future__ import annotations

from dataclasses import dataclass

from lexmill.reference import byte_level


@dataclass(frozen=True)
class ByteLevel:
    """Joins all tokens."""

    def decode(self, tokens: list[str]) -> list[str]:
        """Returns one text."""
        return [byte_level.decode(tokens)]
