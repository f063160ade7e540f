"""The words of texts and their scripts, as arrays over the characters of a block of texts.

A word is the text between white space. Its script is the script of its first character that has one: letters do, digits
and punctuation do not. White space belongs to the word after it, and at the end of a text to the word before it, so
that each character of a text with words belongs to one of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from lexmill import _core
from lexmill.reports.characters import WHITE_SPACE, Bools, Characters, Ints, words_between

__all__ = ["NO_SCRIPT", "NO_WORD", "BlockScripts", "script_names", "scripts_of"]

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
class BlockScripts:
    """The words and scripts of a block of texts, put end to end.

    Attributes:
        labels: for each character, the number of the script of its word, `uint8`.
        starts: the character at which each text begins, and the end: one more than there are texts.
        bytes: bytes of each text in UTF-8.
        words: words of each text.
        is_mixed: for each text, True if its words are of several scripts.
        script_bytes: bytes of the words of each script, by number, with the white space that belongs to them.
        script_characters: characters, likewise.
        script_words: words, likewise.
    """

    labels: npt.NDArray[np.uint8]
    starts: Ints
    bytes: Ints
    words: Ints
    is_mixed: Bools
    script_bytes: Ints
    script_characters: Ints
    script_words: Ints


def scripts_of(characters: Characters) -> BlockScripts:
    """Finds the words that white space divides and their scripts, in time linear in the characters."""
    table, names = _table()
    codes, starts = characters.codes, characters.starts
    classes = characters.classes(table)
    found = words_between(classes != NO_WORD, starts)
    begins, ends = found.begins, found.ends
    scripts = _scripts(classes, begins)
    word_starts = np.searchsorted(begins, starts)
    words = np.diff(word_starts)

    # The last character of each segment is marked with the script of its word.
    last = ends - 1
    has_words = words > 0
    last[word_starts[1:][has_words] - 1] = starts[1:][has_words] - 1
    wordless = starts[1:][~has_words & (np.diff(starts) > 0)] - 1
    is_last = np.zeros(len(codes), bool)
    is_last[last] = True
    is_last[wordless] = True
    classes[last] = scripts
    classes[wordless] = NO_WORD
    last = np.flatnonzero(is_last)
    scripts_of_segments, lengths = classes[last], np.diff(last, prepend=-1)
    labels = np.repeat(scripts_of_segments, lengths)

    script_characters = _sums(scripts_of_segments, lengths, len(names))
    if codes.dtype == np.uint8:
        text_bytes, script_bytes = np.diff(starts), script_characters
    else:
        widths = 1 + (codes > 0x7F).view(np.uint8) + (codes > 0x7FF).view(np.uint8) + (codes > 0xFFFF).view(np.uint8)
        places = np.zeros(len(codes) + 1, np.int64)
        np.cumsum(widths, out=places[1:])
        text_bytes = np.diff(places[starts])
        segment_bytes = np.diff(places[last + 1], prepend=0)
        script_bytes = _sums(scripts_of_segments, segment_bytes, len(names))
    return BlockScripts(
        labels=labels,
        starts=starts,
        bytes=text_bytes,
        words=words,
        is_mixed=_mixed(labels, starts),
        script_bytes=script_bytes,
        script_characters=script_characters,
        script_words=np.bincount(scripts, minlength=len(names)),
    )


def _scripts(classes: npt.NDArray[np.uint8], begins: Ints) -> npt.NDArray[np.uint8]:
    """The script of each word that begins at a character of `begins`."""
    found: npt.NDArray[np.uint8] = classes[begins]
    with_script = np.flatnonzero(classes > NO_WORD)
    # Of most words the first character has a script.
    others = np.flatnonzero(found == NO_SCRIPT)
    if len(with_script) and len(others):
        # From the beginning of a word to the beginning of the next one only the word itself has scripts.
        at = np.searchsorted(with_script, begins[others])
        place = with_script[np.minimum(at, len(with_script) - 1)]
        is_own = (at < len(with_script)) & (place < np.append(begins[1:], len(classes))[others])
        found[others[is_own]] = classes[place[is_own]]
    return found


def _mixed(labels: npt.NDArray[np.uint8], starts: Ints) -> Bools:
    """For each text, True if its characters have different labels."""
    changes = np.flatnonzero(labels[1:] != labels[:-1]) + 1
    texts = np.searchsorted(starts, changes, side="right") - 1
    found = np.zeros(len(starts) - 1, np.bool_)
    found[texts[changes > starts[texts]]] = True
    return found


def _sums(keys: npt.NDArray[Any], values: Ints, count: int) -> Ints:
    # Weights are float64, which holds the sums of a block exactly.
    return np.bincount(keys, weights=values, minlength=count).astype(np.int64)
