"""Takes the spaces at the ends of tokens out of their offsets.

A space is `Ġ` or white space. A token moves its start forward by as many characters as it begins with spaces, but one
single space stays if `add_prefix_space` is on and the token is the first one or begins at 0: the pre-tokenizer may have
put it there. It moves its end back by as many as it ends with spaces, if the end is not less than that. Neither bound
passes the other: the start stops at the old end, then the end at the new start.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from lexmill.reference.encoding import Encoding, Row
from lexmill.reference.normalized import Span
from lexmill.reference.words import WHITE_SPACE


@dataclass(frozen=True)
class ByteLevel:
    """Options; `use_regex` is the pre-tokenizer's and does nothing here."""

    add_prefix_space: bool = True
    trim_offsets: bool = True
    use_regex: bool = True

    def added_tokens(self, *, is_pair: bool) -> int:
        """None."""
        return 0

    def process(self, encodings: list[Encoding], *, add_special_tokens: bool) -> list[Encoding]:
        """Trims the offsets, in overflowing parts too."""
        if not self.trim_offsets:
            return encodings
        return [trim(encoding, add_prefix_space=self.add_prefix_space) for encoding in encodings]


def trim(encoding: Encoding, *, add_prefix_space: bool) -> Encoding:
    """Trims the offsets of an encoding and of its overflowing parts."""
    overflowing = tuple(trim(part, add_prefix_space=add_prefix_space) for part in encoding.overflowing)
    rows = tuple(
        row._replace(offsets=_trimmed(row, is_first=place == 0, add_prefix_space=add_prefix_space))
        for place, row in enumerate(encoding.rows)
    )
    return replace(encoding, rows=rows, overflowing=overflowing)


def _trimmed(row: Row, *, is_first: bool, add_prefix_space: bool) -> Span:
    start, end = row.offsets
    leading, trailing = _spaces(row.token), _spaces(row.token[::-1])
    if leading == 1 and add_prefix_space and (is_first or start == 0):
        leading = 0
    start = min(start + leading, end) if leading > 0 else start
    if 0 < trailing <= end:
        end = max(end - trailing, start)
    return start, end


def _spaces(token: str) -> int:
    """How many spaces a token begins with."""
    return next((place for place, char in enumerate(token) if char != "Ġ" and char not in WHITE_SPACE), len(token))
