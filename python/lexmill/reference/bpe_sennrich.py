"""BPE with the end of a word as a symbol of its own, as in the paper (Sennrich et al. 2016, algorithm 1).

Each word is its characters and then one more symbol, `</w>`. The trainer's `end_of_word_suffix` is another rule: it
glues the suffix to the last character.

Order of choices: the pair with the highest count; among equal counts the one whose first occurrence comes first (word
index, then place in the word). Overlapping pairs count fully; merges go left to right and do not overlap. A token is
its string: two merges that spell the same string make the same token.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from lexmill.errors import OptionRangeError

END_OF_WORD = "</w>"

Pair = tuple[str, str]


def train_bpe_sennrich(
    words: Iterable[tuple[str, int]], num_merges: int, *, end_of_word: str = END_OF_WORD
) -> tuple[list[Pair], list[tuple[list[str], int]]]:
    """Learns `num_merges` merges, or fewer if no pair is left.

    Args:
        words: distinct words in order of first appearance, each with its count, which is at least 1.
        num_merges: how many steps to take.
        end_of_word: the symbol that ends every word.

    Returns:
        The merges in the order learnt, and the words as segmented by them, in the order given.

    Raises:
        OptionRangeError: `num_merges` is negative.
    """
    if num_merges < 0:
        raise OptionRangeError(f"num_merges is {num_merges} but must be at least 0")
    segments = [([*word, end_of_word], count) for word, count in words]
    merges: list[Pair] = []
    for _ in range(num_merges):
        counts: dict[Pair, int] = {}
        for symbols, count in segments:
            for pair in pairwise(symbols):
                counts[pair] = counts.get(pair, 0) + count
        if not counts:
            break
        # max keeps the first of equals, and the dictionary is in first-seen order.
        best = max(counts, key=lambda pair: counts[pair])
        merges.append(best)
        segments = [(_merge_pair(symbols, best), count) for symbols, count in segments]
    return merges, segments


def segment(word: str, merges: Iterable[Pair], *, end_of_word: str = END_OF_WORD) -> list[str]:
    """Applies the merges to one word in the order learnt, each from left to right."""
    symbols = [*word, end_of_word]
    for pair in merges:
        symbols = _merge_pair(symbols, pair)
    return symbols


def _merge_pair(symbols: list[str], pair: Pair) -> list[str]:
    merged = list(symbols)
    place = 0
    while place < len(merged) - 1:
        if (merged[place], merged[place + 1]) == pair:
            merged[place : place + 2] = ["".join(pair)]
        # Past the merged symbol too: a new symbol does not merge again in the same pass.
        place += 1
    return merged
