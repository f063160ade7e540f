"""Names of argument types, for annotations in a user's code, and the enumerations of words that options take."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import TypeAlias

Offsets: TypeAlias = tuple[int, int]
"""Start and end of a token or word; half-open, in characters of the original text."""

TextInputSequence: TypeAlias = str
"""A text."""

PreTokenizedInputSequence: TypeAlias = list[str] | tuple[str, ...]
"""A text that is cut into words already."""

TextEncodeInput: TypeAlias = TextInputSequence | tuple[TextInputSequence, TextInputSequence] | list[TextInputSequence]
"""A text, or a pair of texts."""

PreTokenizedEncodeInput: TypeAlias = (
    PreTokenizedInputSequence
    | tuple[PreTokenizedInputSequence, PreTokenizedInputSequence]
    | list[PreTokenizedInputSequence]
)
"""A text cut into words, or a pair of such texts."""

InputSequence: TypeAlias = TextInputSequence | PreTokenizedInputSequence
"""The input of `encode`: one text, cut into words or not."""

EncodeInput: TypeAlias = TextEncodeInput | PreTokenizedEncodeInput
"""One item of the input of `encode_batch`: a text or a pair, cut into words or not."""

OnProgress: TypeAlias = Callable[[str, int, int, float | None, int | None], object]
"""A function that long work calls with the stage, the work done, the total (0 if unknown), the seconds left and the
bytes of memory of the process (each None if unknown). An exception of the function ends the work."""


class OffsetReferential(Enum):
    """The text that offsets count in."""

    ORIGINAL = "original"
    NORMALIZED = "normalized"


class OffsetType(Enum):
    """The unit that offsets count."""

    BYTE = "byte"
    CHAR = "char"


class SplitDelimiterBehavior(Enum):
    """Where a delimiter goes when text is cut at it."""

    REMOVED = "removed"
    ISOLATED = "isolated"
    MERGED_WITH_PREVIOUS = "merged_with_previous"
    MERGED_WITH_NEXT = "merged_with_next"
    CONTIGUOUS = "contiguous"
