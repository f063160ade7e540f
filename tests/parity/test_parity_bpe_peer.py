"""Parity-aware training must learn what Hugging Face learns, and look the same."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

import lexmill
from cases import load_cases, pairs
from peers import stdlib_sources

pytestmark = pytest.mark.external

hf = pytest.importorskip("tokenizers", reason="install the dependency group `peers`")

Texts = list[list[str]]


def learnt(package: Any, corpora: Texts, dev: Texts | None, ratio: list[float] | None, **options: Any) -> Any:
    """Returns the tokens by id, and the merges."""
    tokenizer = package.Tokenizer(package.models.BPE())
    tokenizer.pre_tokenizer = package.pre_tokenizers.WhitespaceSplit()
    trainer = package.trainers.ParityBpeTrainer(show_progress=False, **options)
    trainer.train_from_iterator(tokenizer, corpora, dev, ratio)
    model = json.loads(tokenizer.to_str())["model"]
    return sorted(model["vocab"], key=model["vocab"].get), model["merges"]


def texts(words: list[tuple[str, int]]) -> list[str]:
    return [f"{word} " * count for word, count in words]


def random_words(rng: random.Random, letters: str, shortest: int) -> list[tuple[str, int]]:
    words = {"".join(rng.choices(letters, k=rng.randint(shortest, shortest + 8))) for _ in range(rng.randint(1, 8))}
    return [(word, rng.choice([1, 2, rng.randint(1, 400)])) for word in sorted(words)]


@pytest.mark.parametrize("case", load_cases("parity_bpe.json", source="peer"))
def test_golden_cases_are_the_peers(case: dict[str, Any]) -> None:
    options = dict(case["options"])
    corpora, dev = ([texts(pairs(words)) for words in case[key] or []] for key in ("corpora", "dev"))
    vocab, merges = learnt(hf, corpora, dev or None, options.pop("ratio", None), **options)
    assert (vocab, merges) == (case["vocab"], case["merges"])


@pytest.mark.parametrize("seed", range(150))
def test_random_corpora(seed: int) -> None:
    rng = random.Random(seed)
    count = rng.randint(1, 4)
    # With "window" the peer may never end once a language has no pairs left, so that words there are long.
    variant = rng.choice(["base", "window"])
    shortest = 1 if variant == "base" else 20
    corpora = [texts(random_words(rng, "abcd", shortest)) for _ in range(count)]
    dev = [texts(random_words(rng, "abcd", 1)) for _ in range(count)] if rng.random() < 0.4 else None
    ratio = [rng.choice([0.5, 0.7, 1.0, 1.3]) for _ in range(count)] if rng.random() < 0.6 else None
    options = {
        "variant": variant,
        "num_merges": rng.choice([3, 6, 10] if variant == "window" else [3, 10, 60]),
        "min_frequency": 0 if variant == "window" else rng.choice([0, 2, 50]),
        "global_merges": rng.choice([0, 0, 4]),
        "window_size": rng.choice([1, 2, 5, 10]),
        "alpha": rng.choice([0.3, 0.6, 1.0, 1.2, 2.0]),
        "total_symbols": rng.random() < 0.2,
        "special_tokens": rng.sample(["ab", "a", "<s>", "abc"], rng.randint(0, 2)),
        "initial_alphabet": rng.choice([[], ["z", "a"]]),
        "max_token_length": rng.choice([None, None, 5]) if variant == "base" else None,
    }
    ours, theirs = (learnt(package, corpora, dev, ratio, **options) for package in (lexmill, hf))
    assert ours == theirs


@pytest.mark.parametrize("seed", range(100))
def test_dev_sets_with_characters_of_their_own(seed: int) -> None:
    rng = random.Random(seed)
    count = rng.randint(1, 3)
    corpora = [texts(random_words(rng, "abc", 1)) for _ in range(count)]
    dev = [texts(random_words(rng, "abcxy", 1)) for _ in range(count)]
    options = {
        "num_merges": rng.choice([3, 8, 20]),
        "total_symbols": rng.random() < 0.4,
        "continuing_subword_prefix": rng.choice([None, "##"]),
        "end_of_word_suffix": rng.choice([None, "</w>"]),
        "special_tokens": rng.choice([[], ["##x", "x"], ["x</w>"]]),
    }
    (vocab, merges), (peers_vocab, peers_merges) = (
        learnt(package, corpora, dev, None, **options) for package in (lexmill, hf)
    )
    assert merges == peers_merges
    # The peer numbers characters with a prefix or suffix at random.
    assert sorted(vocab) == sorted(peers_vocab)


@pytest.mark.parametrize("variant", ["base", "window"])
@pytest.mark.parametrize("by", ["dev", "ratio"])
def test_a_real_corpus_in_three_parts(variant: str, by: str) -> None:
    lines = [line for text in stdlib_sources() for line in text.splitlines() if line.strip()]
    third = len(lines) // 3
    corpora = [lines[start : start + third] for start in (0, third, 2 * third)]
    dev = [part[::50] for part in corpora] if by == "dev" else None
    ratio = None if dev else [1.0, 1.5, 1.2]
    options: dict[str, Any] = {"variant": variant, "num_merges": 2_000, "global_merges": 200}
    ours, theirs = (learnt(package, corpora, dev, ratio, **options) for package in (lexmill, hf))
    assert ours == theirs


def test_repr_and_state_are_the_peers() -> None:
    arguments: Any = (5, "window", 2, [1.0, 2.5], 3, 7, 0.5, True, [], False, 9, ["a", "b"], "##", "</w>", 6)
    ours, theirs = (package.trainers.ParityBpeTrainer(*arguments) for package in (lexmill, hf))
    assert repr(ours) == repr(theirs)
    assert list(ours.__getstate__().items()) == list(theirs.__getstate__().items())
    ours.__setstate__(theirs.__getstate__())


@pytest.mark.parametrize(
    "call",
    [
        lambda package: package.trainers.ParityBpeTrainer(variant="x"),
        lambda package: package.trainers.ParityBpeTrainer(num_merges=-1),
        lambda package: package.trainers.ParityBpeTrainer(special_tokens=[1]),
        lambda package: package.trainers.ParityBpeTrainer(initial_alphabet=["ab"]),
        lambda package: package.trainers.ParityBpeTrainer(ratio=1.0),
        lambda package: package.trainers.ParityBpeTrainer(unknown=1),
        lambda package: learnt(package, [], None, None),
        lambda package: learnt(package, [["a"]], [], None),
        lambda package: package.trainers.ParityBpeTrainer().__setstate__({}),
        lambda package: package.trainers.ParityBpeTrainer().__setstate__(b""),
    ],
)
def test_errors_are_of_the_peers_kind(call: Any) -> None:
    with pytest.raises(Exception) as theirs:  # noqa: PT011 - any error of the peer
        call(hf)
    with pytest.raises(type(theirs.value)):
        call(lexmill)
