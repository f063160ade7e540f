"""The symbols that BPE training begins with: characters of the alphabet, with the prefix or suffix of their places.

`bpe_trainer` has the order of choices.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Words = Sequence[tuple[str, int]]


def choose_alphabet(words: Words, limit: int | None, initial: Iterable[str]) -> list[str]:
    """Returns the characters that get an id, sorted by code point.

    A limit may drop characters of the initial alphabet too, once no others are left.
    """
    counts: dict[str, float] = {}
    for word, count in words:
        for char in word:
            counts[char] = counts.get(char, 0) + count
    for string in initial:
        if string:
            counts[string[0]] = float("inf")
    most_frequent_first = sorted(counts, key=lambda char: (-counts[char], char))
    return sorted(most_frequent_first[:limit])


def split_word(word: str, ids: dict[str, int], prefix: str, suffix: str) -> list[int]:
    """Returns the word's symbols, and gives ids to new symbols with a prefix or suffix.

    A character without an id is deleted, so that its neighbours become adjacent. First and last mean the word as
    written: when the last character is deleted no symbol carries the suffix. A dropped character that is a special
    token has an id, and stays.
    """
    symbols: list[int] = []
    for place, char in enumerate(word):
        if char not in ids:
            continue
        symbol = char
        if place > 0:
            symbol = prefix + symbol
        if place == len(word) - 1:
            symbol += suffix
        symbols.append(ids.setdefault(symbol, len(ids)))
    return symbols
