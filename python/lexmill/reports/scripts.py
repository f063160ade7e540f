"""The words of texts and their scripts, in ranges of neighbouring words of one script.

A word is the text between white space. Its script is the script of its first character that has one: letters do, digits
and punctuation do not. White space belongs to the word after it, and at the end of a text to the word before it, so
that each character of a text with words belongs to one of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
import numpy.typing as npt

from lexmill import _core
from lexmill.reports.characters import WHITE_SPACE, Bools, Ints

__all__ = ["NO_SCRIPT", "NO_WORD", "BlockScripts", "TextRanges", "script_names", "scripts_of"]

# Numbers of scripts: of words without letters, and of texts without words.
NO_SCRIPT = 0
NO_WORD = 1
_OWN_NAMES = ("no letters", "white space only")
# A word of Japanese has characters of all three.
_HAN = ("Han", "Hiragana", "Katakana")
_HAN_NAME = "Han and kana"
_WITHOUT_SCRIPT = ("Common", "Inherited", "Unknown")


@cache
def _table() -> tuple[npt.NDArray[np.uint8], tuple[str, ...]]:
    """The number of the script of each code point, white space being `NO_WORD`, and the names by number."""
    table = np.zeros(0x110000, np.uint8)
    numbers = {name: number for number, name in enumerate(_OWN_NAMES)}
    for first, last, script in _core.script_ranges():
        if script not in _WITHOUT_SCRIPT:
            name = _HAN_NAME if script in _HAN else script.replace("_", " ")
            table[first : last + 1] = numbers.setdefault(name, len(numbers))
    table[list(WHITE_SPACE)] = NO_WORD
    return table, tuple(numbers)


def script_names() -> tuple[str, ...]:
    """The names of all scripts, by number."""
    return _table()[1]


@dataclass(frozen=True)
class TextRanges:
    """The ranges of texts: each is the longest run of words of one script.

    Attributes:
        splits: text `i` has the ranges `splits[i]:splits[i + 1]`; none if it has no character.
        scripts: the number of the script of each range, `uint8`.
        places: the byte of its text at which each range begins, `uint32`.
    """

    splits: Ints
    scripts: npt.NDArray[np.uint8]
    places: npt.NDArray[np.uint32]

    def of(self, chosen: Bools) -> TextRanges:
        """The ranges of the texts for which `chosen` is true."""
        counts = np.diff(self.splits)
        own = np.repeat(chosen, counts)
        return TextRanges(np.append(0, np.cumsum(counts[chosen])), self.scripts[own], self.places[own])


@dataclass(frozen=True)
class BlockScripts:
    """The words and scripts of a block of texts.

    Attributes:
        ranges: the ranges of all texts.
        starts: the character at which each range begins, counted from the first character of the block.
        bytes: bytes of each text in UTF-8.
        characters: characters of each text.
        words: words of each text.
        script_bytes: bytes of the words of each script, by number, with the white space that belongs to them.
        script_characters: characters, likewise.
        script_words: words, likewise.
    """

    ranges: TextRanges
    starts: Ints
    bytes: Ints
    characters: Ints
    words: Ints
    script_bytes: Ints
    script_characters: Ints
    script_words: Ints

    @cached_property
    def text_starts(self) -> Ints:
        """The character at which each text begins, and the end: one more than there are texts."""
        return np.append(0, np.cumsum(self.characters))


def scripts_of(texts: Iterable[str]) -> BlockScripts:
    """Finds the words that white space divides and their scripts, in time linear in the characters."""
    table, names = _table()
    found = _core.word_scripts(texts, table)
    ranges = TextRanges(*(found[name] for name in ("splits", "scripts", "places")))
    by_text = (found[name] for name in ("starts", "bytes", "characters", "words"))
    by_script = (found[name][: len(names)] for name in ("script_bytes", "script_characters", "script_words"))
    return BlockScripts(ranges, *by_text, *by_script)
