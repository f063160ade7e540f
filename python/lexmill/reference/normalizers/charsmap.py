"""SentencePiece's rules of normalization, compiled into one table: the texts to match, and their replacements.

Form: four bytes with the length of a trie, the trie as a double array of 32-bit units, then the replacements, each
ended by a zero byte. All numbers are little endian. The bits of a unit: 0 to 7 the byte that leads to it, 8 set if a
rule ends here, 9 set if the offset counts in steps of 256, 10 to 30 the offset, 31 set if the unit is a rule's value.
The child of a place by a byte is at place XOR byte; the place after it is moved by XOR with the child's offset.
Source: SentencePiece, `builder.cc`; Yata, "darts-clone" (the double array).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from lexmill.errors import FormatError


class Charsmap:
    """The compiled rules.

    Raises:
        FormatError: the table is shorter than it says, or its replacements are not UTF-8.
    """

    def __init__(self, blob: bytes) -> None:
        """Takes the table apart."""
        if len(blob) < 4:
            raise FormatError(f"precompiled_charsmap: {len(blob)} bytes, but its size alone takes 4")
        size = struct.unpack_from("<I", blob)[0] // 4 * 4
        if size > len(blob) - 4:
            raise FormatError(f"precompiled_charsmap: the trie has {size} bytes, but only {len(blob) - 4} are there")
        self._units: tuple[int, ...] = struct.unpack_from(f"<{size // 4}I", blob, 4)
        self._replacements = blob[4 + size :]
        try:
            self._replacements.decode("utf-8")
        except UnicodeDecodeError as error:
            raise FormatError(f"precompiled_charsmap: replacements are not UTF-8 at byte {error.start}") from error

    def matches(self, text: str) -> Iterator[tuple[int, str]]:
        """Yields the rules that `text` begins with, the shortest first: matched bytes and replacement."""
        place = _offset(self._units[0]) if self._units else 0
        for length, byte in enumerate(text.encode("utf-8"), 1):
            place ^= byte
            # Nothing leads out of the table, and a rule's value is no child.
            if byte == 0 or place >= len(self._units) or self._units[place] & (1 << 31 | 0xFF) != byte:
                return
            ends_rule = self._units[place] >> 8 & 1
            place ^= _offset(self._units[place])
            if ends_rule:
                value = self._units[place] & ~(1 << 31)
                yield length, self._replacements[value:].split(b"\0")[0].decode("utf-8")


def _offset(unit: int) -> int:
    return unit >> 10 << (unit >> 9 & 1) * 8
