"""The words of texts by a rule that is stated, and the tokens that touch each word."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from lexmill._data.optional import optional_module
from lexmill.errors import OptionError
from lexmill.reports.characters import Bools, Characters, Ints, Words, words_of_white_space

__all__ = ["Rule", "check_rule", "count_words", "regex_module", "words_by"]

Rule: TypeAlias = Literal["whitespace", "unicode"]


def check_rule(rule: str) -> None:
    """Checks that words can be divided so.

    Raises:
        OptionError: there is no such rule.
        LexmillError: the package `regex` is missing, which divides words by Unicode's rule.
    """
    if rule not in get_args(Rule):
        message = f"words is {rule!r} but must be {' or '.join(map(repr, get_args(Rule)))}"
        raise OptionError(message)
    if rule == "unicode":
        regex_module()


def regex_module() -> Any:  # noqa: ANN401 (a module that may be absent)
    """The package `regex`, which knows the word boundaries of Unicode.

    Raises:
        LexmillError: it is not installed.
    """
    return optional_module("regex", "words='unicode' needs the package regex: pip install 'lexmill[report]'")


def words_by(rule: Rule, texts: Sequence[str], characters: Characters) -> Words:
    """The words of texts: between white space, or by UAX 29 those segments that have a letter or a number."""
    return words_of_white_space(characters) if rule == "whitespace" else _unicode_words(texts, characters)


def _unicode_words(texts: Sequence[str], characters: Characters) -> Words:
    find = _unicode_finder()
    spans = [
        (start + begin, start + end)
        for start, text in zip(characters.starts[:-1].tolist(), texts, strict=True)
        for begin, end in find(text)
    ]
    begins, ends = np.array(spans, np.int64).reshape(-1, 2).T
    is_word = _covered(begins, ends, len(characters.codes))
    is_inner = is_word.copy()
    is_inner[begins] = False
    return Words(is_word, is_inner)


@cache
def _unicode_finder() -> Callable[[str], list[tuple[int, int]]]:
    regex = regex_module()
    # A segment from one word boundary of UAX 29 to the next. `.` must match line ends, which are segments too.
    segment = regex.compile(r"(?ws)\b(?:.+?\b)")
    is_word = regex.compile(r"[\p{Alphabetic}\p{N}]")
    return lambda text: [found.span() for found in segment.finditer(text) if is_word.search(found[0])]


def count_words(words: Words, begins: Ints, ends: Ints, is_unknown: Bools | None) -> tuple[int, int, int]:
    """How many words there are, are touched by two tokens or more, and by one token alone that is not unknown.

    Args:
        words: the words of a block.
        begins: the first character of each token in the block.
        ends: the character after the last one of each token, which has at least one.
        is_unknown: True for each unknown token; None if there are none.
    """
    size, count = len(words.is_word), words.count
    unknown = None if is_unknown is None else (begins[is_unknown], ends[is_unknown])
    if (begins[1:] < begins[:-1]).any() or (ends[1:] < ends[:-1]).any():
        # A normalizer has put characters into another order. The depth of tokens over each character stays as it is.
        begins, ends = np.sort(begins), np.sort(ends)
    begins_at = np.zeros(size, np.bool_)
    begins_at[begins] = True
    lefts, rights = _gaps(words, begins, ends)
    missing = 0
    if len(lefts):
        first, last = np.searchsorted(words.begins, lefts), np.searchsorted(words.ends, rights, side="right")
        missing = int(np.maximum(last - first, 0).sum())
        # A word that begins in such a gap is not cut where its first token begins.
        lefts, rights = lefts[rights < size], rights[rights < size]
        lefts, rights = lefts[words.is_inner[rights]], rights[words.is_inner[rights]]
        begins_at[rights[words.begins[words.numbers[rights]] >= lefts]] = False
    begins_at &= words.is_inner

    is_cut = np.zeros(count, np.bool_)
    is_cut[words.numbers[np.flatnonzero(begins_at)]] = True
    shared = np.flatnonzero(begins[1:] < ends[:-1])
    if len(shared):
        is_cut |= _touched(words, begins[1:][shared], ends[:-1][shared])
    continued = int(is_cut.sum())
    whole = count - continued - missing
    if unknown is not None and len(unknown[0]):
        whole -= int((_touched(words, *unknown) & ~is_cut).sum())
    return count, continued, whole


def _gaps(words: Words, begins: Ints, ends: Ints) -> tuple[Ints, Ints]:
    """The runs of characters without a token that may have characters of words: first characters, and those after."""
    size = len(words.is_word)
    if not len(begins):
        return np.zeros(1, np.int64), np.full(1, size)
    # Most are a single blank.
    lengths = begins[1:] - ends[:-1]
    odd = np.flatnonzero((lengths > 0) & (words.is_word[begins[1:] - 1] | (lengths > 1)))
    return np.concatenate([[0], ends[odd], ends[-1:]]), np.concatenate([begins[:1], begins[odd + 1], [size]])


def _touched(words: Words, begins: Ints, ends: Ints) -> Bools:
    """For each word, True if one of the spans has a character of it."""
    first, after = np.searchsorted(words.ends, begins, side="right"), np.searchsorted(words.begins, ends)
    return _covered(first, np.maximum(first, after), len(words.begins))


def _covered(begins: Ints, ends: Ints, size: int) -> Bools:
    """For each place below `size`, True if a span covers it."""
    depth = np.bincount(begins, minlength=size + 1) - np.bincount(ends, minlength=size + 1)
    return np.cumsum(depth)[:size] > 0
