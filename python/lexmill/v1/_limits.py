"""`Padding` and `Truncation`: limits of length as values."""

from __future__ import annotations

import json
from dataclasses import astuple, dataclass
from operator import index
from typing import Any, Literal, final

from lexmill.errors import IdRangeError, InputTypeError, OptionError, OptionRangeError

DIRECTIONS = ("left", "right")
STRATEGIES = ("longest_first", "only_first", "only_second")
LARGEST_ID = 2**32 - 1
LARGEST_LENGTH = 2**64 - 1
MOST_PADDED = 1 << 28
"""Tokens that a row may be padded to, as in the core."""


@final
@dataclass(frozen=True, repr=False)
class Padding:
    """How short encodings are filled up. Immutable and hashable.

    Args:
        direction: the side of the padding, `left` or `right`.
        pad_id: the id of padding.
        pad_type_id: the type id of padding.
        pad_token: the text of padding.
        length: tokens after padding; None for as many as the longest encoding of the batch has.
        pad_to_multiple_of: rounds the number of tokens up to a multiple; None or 0 does not round.

    Raises:
        OptionError: another direction.
        IdRangeError: an id does not fit 32 bits.
        OptionRangeError: a length is negative or does not fit 64 bits.
        InputTypeError: an argument of another type.
    """

    direction: Literal["left", "right"] = "right"
    pad_id: int = 0
    pad_type_id: int = 0
    pad_token: str = "[PAD]"
    length: int | None = None
    pad_to_multiple_of: int | None = None

    def __post_init__(self) -> None:
        """Checks the arguments; a number of numpy becomes a plain one."""
        _check_word("padding direction", self.direction, DIRECTIONS)
        _check_text("pad_token", self.pad_token)
        for name in ("pad_id", "pad_type_id"):
            _keep_number(self, name, LARGEST_ID, IdRangeError)
        for name in ("length", "pad_to_multiple_of"):
            if getattr(self, name) is not None:
                _keep_number(self, name, LARGEST_LENGTH, OptionRangeError)

    def __repr__(self) -> str:
        """The call that makes an equal value, a line for each argument."""
        lines = "".join(f"    {argument},\n" for argument in _spelled(self))
        return f"Padding(\n{lines})"

    def __reduce__(self) -> tuple[type[Padding], tuple[Any, ...]]:
        """Pickles the arguments."""
        return Padding, astuple(self)


@final
@dataclass(frozen=True, repr=False)
class Truncation:
    """How long encodings are cut. Immutable and hashable.

    Args:
        max_length: tokens to keep, special tokens included.
        strategy: which text of a pair is cut: `longest_first`, `only_first` or `only_second`.
        direction: the end that is cut off, `left` or `right`.

    Raises:
        OptionError: another strategy or direction.
        OptionRangeError: `max_length` is negative or does not fit 64 bits.
        InputTypeError: an argument of another type.
    """

    max_length: int
    strategy: Literal["longest_first", "only_first", "only_second"] = "longest_first"
    direction: Literal["left", "right"] = "right"

    def __post_init__(self) -> None:
        """Checks the arguments; a number of numpy becomes a plain one."""
        _check_word("truncation strategy", self.strategy, STRATEGIES)
        _check_word("truncation direction", self.direction, DIRECTIONS)
        _keep_number(self, "max_length", LARGEST_LENGTH, OptionRangeError)

    def __repr__(self) -> str:
        """The call that makes an equal value."""
        return f"Truncation({', '.join(_spelled(self))})"

    def __reduce__(self) -> tuple[type[Truncation], tuple[Any, ...]]:
        """Pickles the arguments."""
        return Truncation, astuple(self)


def padded_length(padding: Padding, longest: int) -> int:
    """The tokens that the encodings of a batch are padded to.

    Args:
        padding: the rule.
        longest: tokens of the longest encoding.
    """
    length = longest if padding.length is None else padding.length
    multiple = padding.pad_to_multiple_of or 1
    return -(-length // multiple) * multiple


def check_padded(length: int) -> None:
    """Refuses rows that no memory holds.

    Raises:
        OptionError: more than `MOST_PADDED` tokens.
    """
    if length > MOST_PADDED:
        raise OptionError(f"the encodings are padded to {length} tokens but must have {MOST_PADDED} at most")


def _check_text(name: str, value: object) -> None:
    if not isinstance(value, str):
        raise InputTypeError(f"{name} is {type(value).__name__} but must be str")


def _check_word(name: str, value: object, words: tuple[str, ...]) -> None:
    _check_text(name, value)
    if value not in words:
        *rest, last = (f'"{word}"' for word in words)
        raise OptionError(f'{name} must be {", ".join(rest)} or {last}, not "{value}"')


def _keep_number(limit: Padding | Truncation, name: str, largest: int, error: type[OverflowError]) -> None:
    value = getattr(limit, name)
    try:
        number = int(index(value))
    except TypeError as cause:
        raise InputTypeError(f"{name} is {type(value).__name__} but must be an integer") from cause
    if not 0 <= number <= largest:
        raise error(f"{name} is {number} but must be from 0 to {largest}")
    object.__setattr__(limit, name, number)


def _spelled(limit: Padding | Truncation) -> list[str]:
    """Arguments with their values, texts in double quotes as in Hugging Face."""
    values = vars(limit).items()
    return [
        f"{name}={json.dumps(value, ensure_ascii=False) if isinstance(value, str) else value}" for name, value in values
    ]
