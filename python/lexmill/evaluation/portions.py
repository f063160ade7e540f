"""The portions of a block: texts whose tokens need offsets, and texts that are encoded without them in less time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lexmill._core import TokenArrays, Tokenizer
from lexmill.reports.characters import Bools, Ints

__all__ = ["Portion", "encode_portion"]


@dataclass(frozen=True)
class Portion:
    """Texts of a block that are encoded together.

    Attributes:
        numbers: the number of each text in the block, in ascending order.
        texts: the texts.
        encoded: their tokens by each tokenizer, all with offsets or all without.
    """

    numbers: Ints
    texts: list[str]
    encoded: tuple[TokenArrays, ...]


def encode_portion(
    tokenizers: Sequence[Tokenizer],
    texts: Sequence[str],
    chosen: Bools,
    *,
    return_offsets: bool,
    num_threads: int | None,
) -> Portion:
    """Encodes the texts of a block for which `chosen` is true.

    Raises:
        VocabError: a model has no token for a word and no unknown token.
    """
    numbers = np.flatnonzero(chosen)
    own = [texts[at] for at in numbers.tolist()]
    encoded = tuple(
        tokenizer.encode_batch_arrays(
            own, add_special_tokens=False, return_offsets=return_offsets, num_threads=num_threads
        )
        for tokenizer in tokenizers
    )
    return Portion(numbers, own, encoded)
