"""Trainers that recount everything before each step, and the core, learn the same from real text."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from engines import CoreEngine, ReferenceEngine, Words
from peers import corpus_file

pytestmark = pytest.mark.slow

REFERENCE, CORE = ReferenceEngine(), CoreEngine()
BYTES = 1 << 20
# Merges that the reference has time for.
MERGES = 40
# Words that the reference has time for, by exact loss.
EXACT_LOSS_WORDS = 60


def words(corpus: str) -> Words:
    """The distinct words of a slice, first seen first."""
    with corpus_file(corpus).open("rb") as file:
        return list(Counter(file.read(BYTES).decode(errors="ignore").split()).items())


@pytest.mark.parametrize("corpus", ["english", "multilingual"])
@pytest.mark.parametrize("least", [0, 20])
@pytest.mark.parametrize("score", ["frequency", "likelihood", "likelihood-float64"])
def test_wordpiece_of_a_slice(corpus: str, least: int, score: str) -> None:
    counted = words(corpus)
    options: dict[str, Any] = {"score": score, "min_pair_frequency": least}
    initial = len(CORE.train_wordpiece(counted, vocab_size=1 << 20, min_frequency=1 << 40, score=score)[0])
    options["vocab_size"] = initial + MERGES
    expected = REFERENCE.train_wordpiece(counted, **options)
    assert len(expected[0]) == initial + MERGES
    for threads in (1, 2, 7):
        assert CORE.train_wordpiece(counted, **options, num_threads=threads) == expected


@pytest.mark.parametrize("corpus", ["english", "multilingual"])
def test_exact_loss_of_a_slice(corpus: str) -> None:
    counted = words(corpus)[:EXACT_LOSS_WORDS]
    options: dict[str, Any] = {"algorithm": "exact-loss", "vocab_size": 150, "max_piece_length": 6}
    expected = REFERENCE.train_unigram(counted, **options)
    for threads in (1, 2, 7):
        assert CORE.train_unigram(counted, **options, num_threads=threads) == expected
