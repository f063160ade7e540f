"""Pairs of neighbours in BPE training: how often each occurs, the pair to merge, and its merge.

`bpe_trainer` has the order of choices.
"""

from __future__ import annotations

from itertools import pairwise

Pair = tuple[int, int]


def is_eligible(left_length: int, right_length: int, max_token_length: int | None) -> bool:
    """Tells if a pair counts, given how many characters each half stands for.

    Two single characters may merge under every limit; any other pair only if the result is strictly shorter than the
    limit. So limits 0 to 3 all give tokens of at most two characters, and 5 gives at most four.
    Prefix and suffix are not counted.
    """
    return max_token_length is None or left_length == right_length == 1 or left_length + right_length < max_token_length


def count_pairs(
    segments: list[tuple[list[int], int]], lengths: dict[int, int], max_token_length: int | None
) -> dict[Pair, int]:
    """Counts the eligible pairs; the dictionary is in the order in which they are first seen."""
    counts: dict[Pair, int] = {}
    for symbols, count in segments:
        for left, right in pairwise(symbols):
            if is_eligible(lengths[left], lengths[right], max_token_length):
                counts[left, right] = counts.get((left, right), 0) + count
    return counts


def best_pair(counts: dict[Pair, int], tie_break: str) -> Pair | None:
    """Returns the pair to merge, or None if there is none."""
    if not counts:
        return None
    if tie_break == "first-seen":
        # max keeps the first of equals, and the dictionary is in first-seen order.
        return max(counts, key=lambda pair: counts[pair])
    return min(counts, key=lambda pair: (-counts[pair], pair))


def merge_pair(symbols: list[int], pair: Pair, new: int) -> list[int]:
    """Replaces the pair by one symbol, from left to right and without overlap."""
    merged: list[int] = []
    place = 0
    while place < len(symbols):
        if tuple(symbols[place : place + 2]) == pair:
            merged.append(new)
            place += 2
        else:
            merged.append(symbols[place])
            place += 1
    return merged
