"""How merging makes the tokens of a BPE model, as lists with an entry for each token that it makes.

`rust/models/bpe/formation.rs` finds the last merges and proves that the text around a token does not change them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lexmill.models import BPE
from lexmill.reports.characters import Ints

__all__ = ["Formation", "formation_of"]


@dataclass(frozen=True, eq=False)
class Formation:
    """The last merge of each token that merging makes of its own text.

    Attributes:
        ids: the tokens, in descending order of their symbols, so that each token comes before its parts.
        left, right: the two parts of the last merge of each.
        ranks: the highest rank of all merges that make it.
    """

    ids: Ints
    left: Ints
    right: Ints
    ranks: Ints

    def hand_on(self, counts: list[int]) -> Ints:
        """Adds the count of each token to the counts of its two parts, and so on for these; `counts` has them by id.

        Answers the counts of `ids` at the end: how often merging makes each of these tokens.
        """
        for id_, one, other in zip(self.ids.tolist(), self.left.tolist(), self.right.tolist(), strict=True):
            if count := counts[id_]:
                counts[one] += count
                counts[other] += count
        return np.array(counts, np.int64)[self.ids]


def formation_of(model: BPE) -> Formation | None:
    """The last merges of a model; None if it does not merge by rank alone."""
    last = model._last_merges()
    if last is None:
        return None
    ids, left, right, ranks = np.array(last, np.int64).reshape(-1, 4).T
    order = np.argsort(-_symbol_counts(ids, left, right), kind="stable")
    return Formation(ids[order], left[order], right[order], ranks[order])


def _symbol_counts(ids: Ints, left: Ints, right: Ints) -> Ints:
    """How many symbols each token is made of."""
    size = int(max(ids.max(), left.max(), right.max())) + 1 if len(ids) else 0
    counts = np.ones(size, np.int64)
    counts[ids] = 0
    found: list[int] = counts.tolist()
    parts: dict[int, tuple[int, int]] = {}
    # Most tokens come after their parts. The others wait until all tokens are known.
    for id_, one, other in zip(ids.tolist(), left.tolist(), right.tolist(), strict=True):
        if found[one] and found[other]:
            found[id_] = found[one] + found[other]
        else:
            parts[id_] = one, other
    for id_ in parts:
        stack = [] if found[id_] else [id_]
        while stack:
            one, other = parts[stack[-1]]
            if missing := [part for part in (one, other) if not found[part]]:
                stack.append(missing[0])
            else:
                found[stack.pop()] = found[one] + found[other]
    return np.array(found, np.int64)[ids]
