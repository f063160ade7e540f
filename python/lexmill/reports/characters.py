"""The characters of a block of texts as one array, and the words that they make."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = [
    "WHITE_SPACE",
    "Bools",
    "Characters",
    "Ints",
    "Words",
    "characters_of",
    "words_between",
    "words_of_white_space",
]

Ints: TypeAlias = npt.NDArray[np.int64]
Bools: TypeAlias = npt.NDArray[np.bool_]

# The property White_Space of Unicode.
WHITE_SPACE = (
    *range(0x9, 0xE),
    0x20,
    0x85,
    0xA0,
    0x1680,
    *range(0x2000, 0x200B),
    0x2028,
    0x2029,
    0x202F,
    0x205F,
    0x3000,
)


@dataclass(frozen=True)
class Characters:
    """The characters of texts, put end to end.

    Attributes:
        codes: the code point of each character; `uint8` if all are ASCII, else `uint32`.
        starts: the character at which each text begins, and the end: one more than there are texts.
    """

    codes: npt.NDArray[Any]
    starts: Ints

    def classes(self, table: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
        """The entry of each character in a table of all code points."""
        if self.codes.dtype == np.uint8:
            # Several times as fast as indexing.
            return np.frombuffer(bytearray(self.codes.tobytes().translate(table[:256].tobytes())), np.uint8)
        found: npt.NDArray[np.uint8] = table[self.codes]
        return found


def characters_of(texts: Sequence[str]) -> Characters:
    """Puts texts end to end."""
    joined = "".join(texts)
    starts = np.zeros(len(texts) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)), out=starts[1:])
    # An ASCII block, as most blocks of English are, needs a quarter of the memory.
    codes: npt.NDArray[Any] = (
        np.frombuffer(joined.encode("ascii"), np.uint8)
        if joined.isascii()
        else np.frombuffer(joined.encode("utf-32-le"), np.uint32)
    )
    return Characters(codes, starts)


@dataclass(frozen=True)
class Words:
    """The words of a block of texts, none of which goes from one text to the next.

    Attributes:
        is_word: for each character, True if it belongs to a word.
        is_inner: for each character, True if the character before it belongs to the same word.
    """

    is_word: Bools
    is_inner: Bools

    @property
    def count(self) -> int:
        """How many words there are."""
        return int(self.numbers[-1]) + 1 if len(self.numbers) else 0

    @cached_property
    def begins(self) -> Ints:
        """The first character of each word."""
        return np.flatnonzero(self.is_word ^ self.is_inner)

    @cached_property
    def ends(self) -> Ints:
        """The character after each word."""
        is_last = self.is_word.copy()
        is_last[:-1] ^= self.is_inner[1:]
        return np.flatnonzero(is_last) + 1

    @cached_property
    def numbers(self) -> npt.NDArray[np.int32]:
        """For each character of a word, the number of the word."""
        found: npt.NDArray[np.int32] = np.cumsum(self.is_word ^ self.is_inner, dtype=np.int32)
        found -= 1
        return found


def words_between(is_word: Bools, starts: Ints) -> Words:
    """The words that are divided by all other characters, and by the borders of texts; `starts` as in `Characters`."""
    is_inner = is_word.copy()
    is_inner[1:] &= is_word[:-1]
    is_inner[starts[:-1][starts[:-1] < len(is_word)]] = False
    return Words(is_word, is_inner)


def words_of_white_space(characters: Characters) -> Words:
    """The text between white space, in time linear in the characters."""
    return words_between(characters.classes(_other_than_white_space()).view(np.bool_), characters.starts)


@cache
def _other_than_white_space() -> npt.NDArray[np.uint8]:
    table = np.ones(0x110000, np.uint8)
    table[list(WHITE_SPACE)] = 0
    return table
