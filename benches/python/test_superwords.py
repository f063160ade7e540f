"""The cost of superwords in encoding: passes of tokenizers with superwords beside the same training without them.

Each bench checks its ids against the other library's first, and says so in `extra_info`.
"""

from __future__ import annotations

from typing import Any

import pytest

import lexmill
from lexmill.pre_tokenizers import ByteLevel
from lexmill.trainers import BpeTrainer, SuperwordOptions

pytestmark = pytest.mark.bench

ALGORITHMS = ["none", "boundless", "superbpe"]


@pytest.fixture(scope="session")
def saved(texts: list[str]) -> dict[str, str]:
    """Byte-level BPE of 8,000 tokens by algorithm, of which the last 1,000 are superwords."""
    return {algorithm: _trained(texts, algorithm).to_str() for algorithm in ALGORITHMS}


def _trained(texts: list[str], algorithm: str) -> lexmill.Tokenizer:
    tokenizer = lexmill.Tokenizer(lexmill.models.BPE())
    tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False)
    superwords = None if algorithm == "none" else SuperwordOptions(7000, algorithm=algorithm)
    alphabet = ByteLevel.alphabet()
    trainer = BpeTrainer(vocab_size=8000, superwords=superwords, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def encode(tokenizer: Any, texts: list[str]) -> Any:
    """By the library's fastest call for a batch."""
    if isinstance(tokenizer, lexmill.Tokenizer):
        return tokenizer.encode_batch_arrays(texts, num_threads=1)
    return tokenizer.encode_batch_fast(texts)


def same_ids(result: Any, expected: list[Any]) -> bool:
    ids = result.ids if hasattr(result, "ids") else [token for row in result for token in row.ids]
    return list(ids) == [token for row in expected for token in row.ids]


@pytest.mark.benchmark(group="superwords, first pass")
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_first_pass(benchmark: Any, library: Any, saved: dict[str, str], texts: list[str], algorithm: str) -> None:
    reference = pytest.importorskip("tokenizers").Tokenizer.from_str(saved[algorithm])

    def fresh() -> tuple[tuple[Any, list[str]], dict[str, Any]]:
        return (library.Tokenizer.from_str(saved[algorithm]), texts), {}

    assert same_ids(encode(*fresh()[0]), reference.encode_batch(texts))
    benchmark.extra_info.update(correct=True, bytes=sum(len(text.encode()) for text in texts))
    benchmark.pedantic(encode, setup=fresh, rounds=5)


@pytest.mark.benchmark(group="superwords, later passes")
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_later_passes(benchmark: Any, library: Any, saved: dict[str, str], texts: list[str], algorithm: str) -> None:
    tokenizer = library.Tokenizer.from_str(saved[algorithm])
    reference = pytest.importorskip("tokenizers").Tokenizer.from_str(saved[algorithm])
    assert same_ids(encode(tokenizer, texts), reference.encode_batch(texts))
    benchmark.extra_info.update(correct=True, bytes=sum(len(text.encode()) for text in texts))
    benchmark(encode, tokenizer, texts)
