"""How many tokens a corpus would have with a smaller vocabulary, told from its tokens and the merges.

A token was made by merges of its own bytes alone, in any text around it (`rust/models/bpe/formation.rs` has the proof).
If its last merge is cut off, the two parts of that merge stand in its place, and so on. So the counts of the tokens of
a corpus are enough: from the last merge to the first, each token hands its count to its two parts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from lexmill._core import Tokenizer
from lexmill.models import BPE

__all__ = ["Curve", "curve_of", "symbol_counts"]

_Ints: TypeAlias = npt.NDArray[np.int64]
# The two parts of the last merge of a token, and the point of the curve at which the token is complete.
_Parts: TypeAlias = Mapping[int, tuple[int, int, int]]


@dataclass(frozen=True, eq=False)
class Curve:
    """The tokens of a corpus by the size of the vocabulary.

    Attributes:
        merges: for each point, how many merges are kept: at point `m` the most that make no more than `m` tokens.
        vocabulary: the size of the vocabulary at each point, tokens that no merge makes included.
        tokens: the tokens that the corpus would have at each point.
        inexact: with `ignore_merges`, how many tokens of the corpus have a merge that is listed before the merges of
            its parts. Between the two, a whole word can be such a token and merging cannot make it; the curve counts
            its parts there. With 0, all points are exact.
    """

    merges: _Ints
    vocabulary: _Ints
    tokens: _Ints
    inexact: int


def curve_of(tokenizer: Tokenizer, counts: _Ints) -> Curve | None:
    """The curve for the counts of tokens by id; None if the model is no BPE, or does not merge by rank alone."""
    model = tokenizer.model
    if not isinstance(model, BPE):
        return None
    last = model._last_merges()
    if last is None:
        return None
    firsts: list[int] = []
    # The point at which a token is the next one to be made.
    points: dict[int, int] = {}
    end = 0
    for rank, id_ in model._made_ids():
        end = rank + 1
        if id_ not in points:
            points[id_] = len(firsts)
            firsts.append(rank)
    made, ranks = len(firsts), np.array(firsts, np.int64)
    ids, left, right, highest = np.array(last, np.int64).reshape(-1, 4).T
    # The first point at which merging makes the token.
    complete = np.searchsorted(ranks, highest, side="right")
    rows = zip(ids.tolist(), left.tolist(), right.tolist(), complete.tolist(), strict=True)
    parts = {id_: (one, other, point) for id_, one, other, point in rows}
    pending = dict(enumerate(counts.tolist()))
    gains = np.zeros(made + 1, np.int64)
    inexact = 0
    if model.ignore_merges:
        inexact = sum(parts[id_][2] > points[id_] + 1 and pending.get(id_, 0) > 0 for id_ in parts)
        _hand_on_whole(tokenizer, pending, parts, points, gains)
    # A token is complete after its parts, or at the same point and longer than they are, since the ranks of its merges
    # include theirs.
    lengths = symbol_counts(parts)
    for id_ in sorted(parts, key=lambda id_: (-parts[id_][2], -lengths[id_], id_)):
        count = pending.get(id_, 0)
        if count:
            one, other, point = parts[id_]
            gains[point - 1] += count
            pending[one] = pending.get(one, 0) + count
            pending[other] = pending.get(other, 0) + count
    tokens = int(counts.sum()) + np.cumsum(gains[::-1])[::-1]
    size = tokenizer.get_vocab_size() - made
    return Curve(np.append(ranks, end), size + np.arange(made + 1), tokens, inexact)


def symbol_counts(parts: Mapping[int, tuple[int, ...]]) -> dict[int, int]:
    """How many symbols each token is made of, given the two parts of its last merge."""
    lengths: dict[int, int] = {}
    for id_ in parts:
        stack = [id_]
        while stack:
            left, right = parts[stack[-1]][:2]
            if left in parts and left not in lengths:
                stack.append(left)
            elif right in parts and right not in lengths:
                stack.append(right)
            else:
                lengths[stack.pop()] = lengths.get(left, 1) + lengths.get(right, 1)
    return lengths


def _hand_on_whole(
    tokenizer: Tokenizer, pending: dict[int, int], parts: _Parts, points: dict[int, int], gains: _Ints
) -> None:
    """Hands on the counts of tokens that merging does not make, each of which was a whole word.

    `points` has the point at which each token that a merge makes is the next one.
    """
    whole = sorted(id_ for id_ in points if id_ not in parts and pending.get(id_))
    if not whole:
        return
    plain = Tokenizer.from_str(Tokenizer(tokenizer.model).to_str())
    model = plain.model
    assert isinstance(model, BPE)
    model.ignore_merges = False
    encoded = plain.encode_batch_arrays([plain.id_to_token(id_) or "" for id_ in whole])
    for id_, ids in zip(whole, encoded, strict=True):
        point, count = points[id_], pending[id_]
        stack, left = ids.tolist(), []
        while stack:
            part = stack.pop()
            if part in parts and parts[part][2] > point + 1:
                stack += parts[part][:2]
            else:
                left.append(part)
        gains[point] += count * (len(left) - 1)
        for part in left:
            pending[part] = pending.get(part, 0) + count
