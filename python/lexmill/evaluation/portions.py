"""The portions of a block: texts whose tokens need offsets, and texts that are encoded without them in less time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lexmill._core import TextBlock, TokenArrays, Tokenizer
from lexmill.reports.characters import Bools, Ints
from lexmill.reports.scripts import TextRanges

__all__ = ["Portion", "encode_portion", "portion_by_ranges"]


@dataclass(frozen=True)
class Portion:
    """Texts of a block that are encoded together.

    Attributes:
        numbers: the number of each text in the block, in ascending order.
        texts: the texts.
        encoded: their tokens by each tokenizer, all with offsets or all without.
        ranges: the ranges of the texts, if they were asked for and there are no offsets.
        told: for each tokenizer, the index of the first token of each range, and the characters of each text that the
            unknown token stands for; -1 where this is not known without offsets.
    """

    numbers: Ints
    texts: TextBlock
    encoded: tuple[TokenArrays, ...]
    ranges: TextRanges | None = None
    told: tuple[tuple[Ints, Ints], ...] = ()


def encode_portion(
    tokenizers: Sequence[Tokenizer],
    texts: TextBlock,
    chosen: Bools,
    *,
    return_offsets: bool,
    num_threads: int | None,
) -> Portion:
    """Encodes the texts of a block for which `chosen` is true.

    Raises:
        VocabError: a model has no token for a word and no unknown token.
    """
    own = texts.chosen(chosen)
    encoded = tuple(
        tokenizer.encode_batch_arrays(
            own, add_special_tokens=False, return_offsets=return_offsets, num_threads=num_threads
        )
        for tokenizer in tokenizers
    )
    return Portion(np.flatnonzero(chosen), own, encoded)


def portion_by_ranges(
    tokenizers: Sequence[tuple[Tokenizer, int | None]],
    texts: TextBlock,
    chosen: Bools,
    ranges: TextRanges,
    num_threads: int | None,
) -> Portion:
    """As `encode_portion` without offsets, by tokenizers with their unknown tokens, for a block with these ranges.

    Raises:
        VocabError: a model has no token for a word and no unknown token.
    """
    own = texts.chosen(chosen)
    ranges = ranges.of(chosen)
    places, splits = ranges.places, ranges.splits
    found = [one._encode_ranges(own, places, splits, unknown, num_threads) for one, unknown in tokenizers]
    told = tuple((firsts, unknown) for _, firsts, unknown in found)
    return Portion(np.flatnonzero(chosen), own, tuple(arrays for arrays, *_ in found), ranges, told)
