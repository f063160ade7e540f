"""Entropies and inequalities: cases worked out by hand, and the reference on random counts."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lexmill.errors import OptionError
from lexmill.evaluation import formulas
from lexmill.reference import evaluation as reference

COUNTS = st.lists(st.integers(0, 2**40), max_size=20)
ALPHAS = st.sampled_from([0.0, 0.5, 1.0, 2.0, 2.5, 3.0, 200.0, math.inf]) | st.floats(0, 50)


def ints(*counts: int) -> formulas.Ints:
    return np.array(counts, np.int64)


def test_entropies_of_a_half_and_two_quarters() -> None:
    counts = ints(2, 0, 1, 1)
    assert formulas.shannon_entropy(counts) == 1.5
    # -log2(1/4 + 1/16 + 1/16)
    assert formulas.renyi_entropy(counts, 2) == pytest.approx(math.log2(8 / 3))
    assert formulas.renyi_entropy(counts, 0) == pytest.approx(math.log2(3))
    assert formulas.renyi_entropy(counts, 1) == 1.5
    assert formulas.renyi_entropy(counts, math.inf) == 1
    assert formulas.efficiency(1.5, 4) == 0.75


def test_efficiency_of_the_published_example() -> None:
    # "pick @@ed pick @@l @@ed pick @@les" in the README of tokenization-scorer 1.1.8, which writes power=2.5 beside the
    # value for 3, the default.
    counts = ints(3, 2, 1, 1)
    assert formulas.efficiency(formulas.renyi_entropy(counts, 3), 4) == pytest.approx(0.8031528501359657)
    # -log2((3^2.5 + 2^2.5 + 2) / 7^2.5) / 1.5 / 2
    assert formulas.efficiency(formulas.renyi_entropy(counts, 2.5), 4) == pytest.approx(0.8265064834225245)


def test_numbers_of_nothing_are_not_defined() -> None:
    for counts in (ints(), ints(0, 0)):
        assert formulas.shannon_entropy(counts) is None
        assert formulas.renyi_entropy(counts, 2.5) is None
    assert formulas.gini([]) is None
    assert formulas.gini([0, 0]) is None
    assert formulas.ratio(0, 0) is None
    assert formulas.efficiency(None, 5) is None


def test_one_token_has_no_entropy_and_no_efficiency_in_a_vocabulary_of_one() -> None:
    assert [formulas.renyi_entropy(ints(0, 7), alpha) for alpha in (0, 0.5, 1, 2.5, math.inf)] == [0] * 5
    assert formulas.efficiency(0.0, 1) is None
    assert formulas.efficiency(0.0, 2) == 0


def test_equal_counts_have_the_highest_entropy() -> None:
    for alpha in (0, 0.5, 1, 2.5, 1000, math.inf):
        entropy = formulas.renyi_entropy(ints(*[3] * 8), alpha)
        assert formulas.efficiency(entropy, 8) == pytest.approx(1)


@pytest.mark.parametrize(("costs", "expected"), [([5], 0), ([4, 4, 4], 0), ([0, 1], 1 / 2), ([3, 1, 2], 2 / 9)])
def test_gini_of_few(costs: list[int], expected: float) -> None:
    assert formulas.gini(costs) == pytest.approx(expected)


@pytest.mark.parametrize("alpha", [-1.0, -1e-9, math.nan])
def test_orders_that_are_none_are_refused(alpha: float) -> None:
    with pytest.raises(OptionError, match=r"alpha is .* but must be a number from 0 on"):
        formulas.renyi_entropy(ints(1), alpha)


@given(COUNTS, ALPHAS)
@example([1, 2**40], 50.0)
@example([1] * 20, 200.0)
def test_entropies_match_reference(counts: list[int], alpha: float) -> None:
    expected = reference.shannon_entropy(counts)
    found = formulas.shannon_entropy(ints(*counts))
    assert found == (None if expected is None else pytest.approx(expected, abs=1e-9))
    if abs(alpha - 1) < 1e-3 and alpha != 1:
        # So near to 1, both divide rounded numbers by nearly nothing.
        return
    try:
        expected = reference.renyi_entropy(counts, alpha)
    except ValueError:
        # The powers of the plain formula are all 0.
        expected = None if not any(counts) else reference.renyi_entropy(counts, math.inf) * alpha / (alpha - 1)
    found = formulas.renyi_entropy(ints(*counts), alpha)
    assert found == (None if expected is None else pytest.approx(expected, rel=1e-6, abs=1e-6))


@given(COUNTS)
def test_entropy_falls_with_its_order(counts: list[int]) -> None:
    orders = (0, 0.5, 1, 2.5, 30, math.inf)
    found = [formulas.renyi_entropy(ints(*counts), alpha) for alpha in orders]
    if any(counts):
        assert all(one >= other - 1e-9 for one, other in itertools.pairwise(found))


@given(st.lists(st.integers(0, 10**9), max_size=12))
def test_gini_matches_reference(costs: list[int]) -> None:
    expected = reference.gini(costs)
    found = formulas.gini(costs)
    assert found == (None if expected is None else pytest.approx(expected, abs=1e-12))
    assert found is None or 0 <= found < 1
