"""Superwords from counts that the memory of the second phase does not hold: rounds learn the same tokens."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Literal

import pytest

from lexmill import Tokenizer, models, pre_tokenizers, trainers
from lexmill.errors import OptionError

Algorithm = Literal["boundless", "superbpe"]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Few words in many phrases: 100,000 lines, nearly all of which are different."""
    draw = random.Random(5)
    words = ["".join(draw.choices("abcdefgh", k=draw.randint(2, 6))) for _ in range(400)]
    weights = [1 / rank for rank in range(1, 401)]
    lines = (" ".join(draw.choices(words, weights, k=draw.randint(3, 14))) for _ in range(100_000))
    path = tmp_path_factory.mktemp("corpus") / "phrases.txt"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def trained(corpus: Path, algorithm: Algorithm, max_memory: int | None) -> str:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    superwords = trainers.SuperwordOptions(700, algorithm=algorithm)
    trainer = trainers.BpeTrainer(vocab_size=1500, superwords=superwords, show_progress=False)
    tokenizer.train([str(corpus)], trainer, max_memory=max_memory, num_threads=2)
    return tokenizer.to_str()


@pytest.mark.parametrize("algorithm", ["boundless", "superbpe"])
def test_rounds_learn_the_same_tokens(corpus: Path, algorithm: Algorithm) -> None:
    expected = trained(corpus, algorithm, None)
    for mebibytes in (26, 28, 32):
        assert trained(corpus, algorithm, mebibytes << 20) == expected


@pytest.mark.parametrize("algorithm", ["boundless", "superbpe"])
def test_too_little_memory_for_any_round_is_an_error(corpus: Path, algorithm: Algorithm) -> None:
    with pytest.raises(OptionError, match=r"about the memory of the second phase for .* give more memory"):
        trained(corpus, algorithm, 25 << 20)
