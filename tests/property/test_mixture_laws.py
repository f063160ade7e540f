"""Laws of mixtures: an integer weight is as good as a corpus that is repeated so often."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lexmill import Tokenizer, count_words, models, normalizers, pre_tokenizers, trainers

WORDS = st.sampled_from(["ab", "aab", "aaaa", "abc", "cab", "bcb", "c", "é中", "中中", "a1", "11"])
TEXTS = st.lists(st.lists(WORDS, min_size=1, max_size=6).map(" ".join), min_size=1, max_size=5)
NAMES = ["en", "hi", "code"]

Made = tuple[Any, Any]
TRAINERS: dict[str, Callable[[int], Made]] = {
    **{
        f"bpe {rule}": lambda least, rule=rule: (
            models.BPE(),
            trainers.BpeTrainer(vocab_size=30, min_frequency=least, tie_break=rule, show_progress=False),
        )
        for rule in ("smallest-ids", "first-seen")
    },
    **{
        f"wordpiece {score} {rule}": lambda least, score=score, rule=rule: (
            models.WordPiece(unk_token="[UNK]"),
            trainers.WordPieceTrainer(
                vocab_size=30,
                min_frequency=least,
                special_tokens=["[UNK]"],
                score=score,
                tie_break=rule,
                show_progress=False,
            ),
        )
        for score in ("frequency", "likelihood", "likelihood-float64")
        for rule in ("smallest-ids", "first-seen")
    },
    **{
        f"unigram {algorithm}": lambda _, algorithm=algorithm: (
            models.Unigram(),
            trainers.UnigramTrainer(vocab_size=14, algorithm=algorithm, show_progress=False),
        )
        for algorithm in ("em", "exact-loss")
    },
    "wordlevel": lambda least: (
        models.WordLevel(unk_token="[UNK]"),
        trainers.WordLevelTrainer(vocab_size=6, min_frequency=least, special_tokens=["[UNK]"], show_progress=False),
    ),
}


def untrained(model: Any) -> Tokenizer:
    tokenizer = Tokenizer(model)
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return tokenizer


@pytest.mark.parametrize("trainer", TRAINERS)
@settings(max_examples=40)
@given(
    corpora=st.lists(TEXTS, min_size=1, max_size=3),
    weights=st.lists(st.integers(0, 4), min_size=3, max_size=3).filter(lambda weights: weights[0] > 0),
    least=st.integers(0, 6),
    data=st.data(),
)
def test_a_weight_repeats_the_corpus(
    trainer: str, corpora: list[list[str]], weights: list[int], least: int, data: st.DataObject
) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        files = {}
        for domain, texts in zip(NAMES, corpora, strict=False):
            files[domain] = folder / f"{domain}.txt"
            files[domain].write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
        whole = folder / "whole.txt"
        by_name = dict(zip(files, weights, strict=False))
        whole.write_text("".join(files[name].read_text("utf-8") * weight for name, weight in by_name.items()), "utf-8")
        model, how = TRAINERS[trainer](least)
        repeated = untrained(model)
        repeated.train([whole], how)

        mixed = untrained(TRAINERS[trainer](least)[0])
        # A domain without a weight is counted once.
        given_weights = {name: weight for name, weight in by_name.items() if weight != 1 or data.draw(st.booleans())}
        mixed.train(files, how, weights=given_weights)
        assert mixed.to_str() == repeated.to_str()

        counts = {
            domain: count_words(path, normalizer=mixed.normalizer, pre_tokenizer=mixed.pre_tokenizer)
            for domain, path in files.items()
        }
        counted = untrained(TRAINERS[trainer](least)[0])
        counted.train_from_counts(counts, how, weights=given_weights, num_threads=data.draw(st.integers(1, 3)))
        assert counted.to_str() == repeated.to_str()
