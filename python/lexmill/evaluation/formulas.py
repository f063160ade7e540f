"""Entropies of token counts and the inequality of costs; `docs/algorithms/evaluation.md` has the sources.

`lexmill.reference.evaluation` says the same in plain Python. None stands for a number that is not defined.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from lexmill.errors import OptionError
from lexmill.reports.characters import Ints

__all__ = ["check_alpha", "efficiency", "gini", "ratio", "renyi_entropy", "shannon_entropy"]


def check_alpha(alpha: float) -> None:
    """Raises OptionError unless `alpha` is an order of Rényi's entropy."""
    if not alpha >= 0:
        message = f"alpha is {alpha} but must be a number from 0 on, or infinity"
        raise OptionError(message)


def shannon_entropy(counts: Ints) -> float | None:
    """Bits per token, -Σ p log2 p; None without a token."""
    used = counts[counts > 0]
    if not len(used):
        return None
    shares = used / used.sum()
    # Rounding may leave -0.0 of a single token.
    return max(0.0, float(-(shares * np.log2(shares)).sum()))


def renyi_entropy(counts: Ints, alpha: float) -> float | None:
    """Bits per token, log2(Σ p^alpha) / (1 - alpha), or its limit for 1 and infinity; None without a token.

    Raises:
        OptionError: `alpha` is negative or no number.
    """
    check_alpha(alpha)
    used = counts[counts > 0]
    if not len(used):
        return None
    # So near to 1, rounding moves the quotient more than the step to the limit does.
    if abs(alpha - 1) < 1e-8:
        return shannon_entropy(counts)
    shares = used / used.sum()
    highest = float(shares.max())
    if math.isinf(alpha):
        return max(0.0, -math.log2(highest))
    # Shares relative to the highest one, or high powers would all be 0.
    power = alpha * math.log2(highest) + math.log2(float(((shares / highest) ** alpha).sum()))
    return max(0.0, power / (1 - alpha))


def efficiency(entropy: float | None, tokens: int) -> float | None:
    """An entropy as a share of its highest value for so many tokens, log2 of their number; None below two tokens."""
    return None if entropy is None or tokens < 2 else entropy / math.log2(tokens)


def gini(costs: Sequence[int]) -> float | None:
    """The Gini coefficient of costs: 0 if all are equal, towards 1 if one has them all; None if all are 0."""
    ordered = sorted(costs)
    total, count = sum(ordered), len(ordered)
    if not total:
        return None
    weighted = sum((count - place) * cost for place, cost in enumerate(ordered))
    return ((count + 1) * total - 2 * weighted) / (count * total)


def ratio(value: int, of: int) -> float | None:
    """A quotient; None if it divides by 0."""
    return value / of if of else None
