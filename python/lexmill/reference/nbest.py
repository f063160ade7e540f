"""Combines the best ways to cut each pre-token into the best ways to cut a text.

The score of a way is the sum of its pre-tokens' scores, made from left to right in double precision, and higher ones go
first. Order of choices among equal sums: the way whose beginning, all but the last pre-token, comes first in this very
order; then the one whose last pre-token's way does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

T = TypeVar("T")


def combine_nbest(words: Iterable[Sequence[tuple[T, float]]], n: int) -> list[tuple[tuple[T, ...], float]]:
    """Returns the `n` best combinations of one way for each word, with their scores.

    Args:
        words: the best ways of each word with their scores, best first.
        n: how many are wanted; all if there are fewer.
    """
    best: list[tuple[tuple[T, ...], float]] = [((), 0.0)]
    for ways in words:
        combined = [((*parts, part), total + score) for parts, total in best for part, score in ways]
        # `sorted` keeps equals in order; a way that is not among the n best now cannot come back.
        best = sorted(combined, key=lambda way: -way[1])[:n]
    return best[:n]
