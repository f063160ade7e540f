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

from lexmill._core import Tokenizer
from lexmill.models import BPE
from lexmill.reports.characters import Ints
from lexmill.reports.vocabulary import Vocabulary

__all__ = ["Curve", "curve_of"]

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

    merges: Ints
    vocabulary: Ints
    tokens: Ints
    inexact: int


def curve_of(tokenizer: Tokenizer, vocabulary: Vocabulary, counts: Ints) -> Curve | None:
    """The curve for the counts of tokens by id; None if the model is no BPE, or does not merge by rank alone."""
    model, formation = tokenizer.model, vocabulary.formation
    if formation is None:
        return None
    assert isinstance(model, BPE)
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
    # The first point at which merging makes the token.
    complete = np.searchsorted(ranks, formation.ranks, side="right")
    pending: list[int] = counts.tolist()
    gains = np.zeros(made + 1, np.int64)
    inexact = 0
    if model.ignore_merges:
        rows = zip(
            formation.ids.tolist(), formation.left.tolist(), formation.right.tolist(), complete.tolist(), strict=True
        )
        parts = {id_: (one, other, point) for id_, one, other, point in rows}
        inexact = sum(point > points[id_] + 1 and pending[id_] > 0 for id_, (_, _, point) in parts.items())
        _hand_on_whole(tokenizer, pending, parts, points, gains)
    np.add.at(gains, complete - 1, formation.hand_on(pending))
    tokens = int(counts.sum()) + np.cumsum(gains[::-1])[::-1]
    size = tokenizer.get_vocab_size() - made
    return Curve(np.append(ranks, end), size + np.arange(made + 1), tokens, inexact)


def _hand_on_whole(
    tokenizer: Tokenizer, pending: list[int], parts: _Parts, points: dict[int, int], gains: Ints
) -> None:
    """Hands on the counts of tokens that merging does not make, each of which was a whole word.

    `points` has the point at which each token that a merge makes is the next one.
    """
    whole = sorted(id_ for id_ in points if id_ not in parts and pending[id_])
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
            pending[part] += count
