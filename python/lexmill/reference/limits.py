"""Truncation and padding: how long encodings are cut, and how short ones are filled up.

Truncation leaves room for special tokens; where these alone exceed `max_length`, nothing is cut. The tokens are cut
into windows of at most the length that is left; each shares `stride` tokens with the one before. Windows follow one
another from left to right, or with the direction Left from right to left. The first one is kept, the others overflow.
With no room for text all of it overflows as one.

Of a pair LongestFirst cuts the longer one until both are even, then both; of an odd rest the longer one keeps one more,
and of equals the second. OnlyFirst and OnlySecond cut one alone.

Padding fills up to the longest encoding of the batch or to a fixed length, rounded up to a multiple; overflowing parts
too. Longer encodings stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from lexmill.errors import OptionError
from lexmill.reference.encoding import Encoding, Row
from lexmill.reference.formats.fields import Json, flags

Direction = Literal["Left", "Right"]


@dataclass(frozen=True)
class Truncation:
    """The rule; its names are the names in files."""

    max_length: int
    stride: int = 0
    strategy: Literal["LongestFirst", "OnlyFirst", "OnlySecond"] = "LongestFirst"
    direction: Direction = "Right"

    @classmethod
    def from_dict(cls, spec: Json) -> Truncation:
        """Reads the `truncation` of a file."""
        return cls(**flags(spec, "max_length", "stride", "strategy", "direction"))

    def apply(self, encodings: list[Encoding], special: int) -> list[Encoding]:
        """Cuts an encoding or a pair so that `special` more tokens fit.

        Raises:
            OptionError: the sequence to cut is absent or too short, or the stride is not below its new length.
        """
        room = self.max_length - special
        lengths = [len(encoding.rows) for encoding in encodings]
        excess = sum(lengths) - room
        if room < 0 or (excess <= 0 and room > 0):
            return encodings
        if room == 0:
            return [self._cut(encoding, 0) for encoding in encodings]
        if self.strategy == "LongestFirst":
            kept = _even_lengths(lengths, room)
        else:
            place = 0 if self.strategy == "OnlyFirst" else 1
            if place >= len(lengths):
                raise OptionError(f"strategy is {self.strategy} but a text without a pair needs another")
            kept = list(lengths)
            kept[place] -= excess
            if kept[place] <= 0:
                raise OptionError(f"max_length is {excess} tokens too small for a sequence of {lengths[place]} tokens")
        return [self._cut(encoding, length) for encoding, length in zip(encodings, kept, strict=True)]

    def _cut(self, encoding: Encoding, length: int) -> Encoding:
        rows = encoding.rows
        if length >= len(rows):
            return encoding
        if length == 0:
            return Encoding((), (*encoding.overflowing, encoding))
        if self.stride >= length:
            raise OptionError(f"stride is {self.stride} but must be below the {length} tokens that remain")
        windows: list[Encoding] = []
        for moved in range(0, len(rows), length - self.stride):
            start, end = moved, min(moved + length, len(rows))
            if self.direction == "Left":
                start, end = len(rows) - end, len(rows) - start
            windows.append(Encoding(rows[start:end]))
            if (end == len(rows)) if self.direction == "Right" else (start == 0):
                break
        return Encoding(windows[0].rows, tuple(windows[1:]))


def _even_lengths(lengths: list[int], room: int) -> list[int]:
    if len(lengths) == 1:
        return [room]
    short, long = min(lengths), max(lengths)
    if short + short > room:
        short, long = room // 2, room - room // 2
    else:
        long = room - short
    return [long, short] if lengths[0] > lengths[1] else [short, long]


@dataclass(frozen=True)
class Padding:
    """The rule; `length` None stands for the length of the longest encoding."""

    length: int | None = None
    pad_to_multiple_of: int | None = None
    pad_id: int = 0
    pad_type_id: int = 0
    pad_token: str = "[PAD]"
    direction: Direction = "Right"

    @classmethod
    def from_dict(cls, spec: Json) -> Padding:
        """Reads the `padding` of a file."""
        length = None if spec["strategy"] == "BatchLongest" else spec["strategy"]["Fixed"]
        return cls(length, **flags(spec, "pad_to_multiple_of", "pad_id", "pad_type_id", "pad_token", "direction"))

    def apply(self, encodings: Iterable[Encoding]) -> list[Encoding]:
        """Pads the encodings of a batch."""
        batch = list(encodings)
        length = max((len(encoding.rows) for encoding in batch), default=0) if self.length is None else self.length
        if self.pad_to_multiple_of:
            length = -(-length // self.pad_to_multiple_of) * self.pad_to_multiple_of
        return [self._pad(encoding, length) for encoding in batch]

    def _pad(self, encoding: Encoding, length: int) -> Encoding:
        row = Row(self.pad_id, self.pad_token, type_id=self.pad_type_id, is_padding=True)
        padding = (row,) * (length - len(encoding.rows))
        rows = encoding.rows + padding if self.direction == "Right" else padding + encoding.rows
        return Encoding(rows, tuple(self._pad(part, length) for part in encoding.overflowing))
