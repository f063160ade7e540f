"""The tokens that a set of BPE tokens needs, found by merging each of them once and noting every step.

Order of choices: as in `bpe.py`. A kept token needs all tokens that merging makes of its own text on the way to it, and
the symbols that it starts from; a token that merging does not make of its own text needs no others.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from lexmill.reference.bpe import Bpe

__all__ = ["closed", "is_made", "steps"]


def steps(bpe: Bpe, token: str) -> tuple[list[str], set[str]]:
    """Merges the characters of a token; returns the symbols left, and all symbols that were there at some time.

    The model has no prefix and no suffix, and knows each character of the token.
    """
    symbols, seen = list(token), set(token)
    names = {id_: name for name, id_ in bpe.vocab.items()}
    ranks = {(names[left], names[right]): rank for (left, right), (rank, _) in bpe._ranks.items()}
    while True:
        found = [(ranks[pair], place) for place, pair in enumerate(pairwise(symbols)) if pair in ranks]
        if not found:
            return symbols, seen
        place = min(found)[1]
        symbols[place : place + 2] = [symbols[place] + symbols[place + 1]]
        seen.add(symbols[place])


def is_made(bpe: Bpe, token: str) -> bool:
    """True if merging makes the token of its own text."""
    return steps(bpe, token)[0] == [token]


def closed(bpe: Bpe, keep: Iterable[str]) -> set[str]:
    """The tokens to keep, and all tokens that they need."""
    kept = set(keep)
    return kept.union(*(steps(bpe, token)[1] for token in kept if is_made(bpe, token)))
