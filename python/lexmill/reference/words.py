"""Splits texts into words and counts equal words; every trainer starts from these counts.

Order of choices: texts in the order given, words left to right; a word's place is the place of its first appearance, so
a word's index is final as soon as it is seen. The patterns are matched left to right, the first alternative that
matches wins, and a repetition takes as much as it can.
Sources: Radford et al. 2019, released code of GPT-2 (the pattern); Unicode property White_Space (25 characters).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from lexmill.reference.byte_level import to_chars

GPT2_PATTERN = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
WHITESPACE_PATTERN = r"\w+|[^\w\s]+"

# Spelt out because str.isspace also accepts U+001C to U+001F, which are not White_Space.
WHITE_SPACE = frozenset(
    "\t\n\x0b\x0c\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)


def _find_all(pattern: str, text: str) -> list[str]:
    # The standard `re` knows no \p{..} and its \w leaves out combining marks.
    import regex

    matches: Any = regex.finditer(pattern, text)
    return [match.group() for match in matches]


def byte_level(text: str, *, add_prefix_space: bool = True) -> list[str]:
    """Splits as GPT-2 does and spells each word with one character per byte.

    With `add_prefix_space` a space goes before a text that does not begin with one (U+0020; other white space does
    not count), the empty text excepted.
    """
    if add_prefix_space and text and not text.startswith(" "):
        text = " " + text
    return [to_chars(word) for word in _find_all(GPT2_PATTERN, text)]


def whitespace(text: str) -> list[str]:
    r"""Splits into runs of word characters and runs of the rest, white space dropped: `\w+|[^\w\s]+`."""
    return _find_all(WHITESPACE_PATTERN, text)


def whitespace_split(text: str) -> list[str]:
    """Splits at white space, which is dropped."""
    words: list[str] = []
    start = 0
    for end in range(len(text) + 1):
        if end == len(text) or text[end] in WHITE_SPACE:
            if start < end:
                words.append(text[start:end])
            start = end + 1
    return words


def count_words(texts: Iterable[str], split: Callable[[str], list[str]]) -> list[tuple[str, int]]:
    """Counts equal words over all texts, in order of first appearance."""
    counts: dict[str, int] = {}
    for text in texts:
        for word in split(text):
            counts[word] = counts.get(word, 0) + 1
    return list(counts.items())
