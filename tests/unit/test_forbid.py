"""Patterns that no learned token may match."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable
from typing import Any

import pytest

from lexmill import Regex, Tokenizer, errors, models, pre_tokenizers, trainers
from lexmill._core import train_bpe_words, train_unigram_words, train_wordpiece_words
from lexmill.reference.bpe_trainer import train_bpe
from lexmill.reference.byte_level import to_chars, token_bytes

TEXTS = ["for  i in range(100):", "    aaa = 2026", "    bbb = aaa", "naïve café 日本語 --- --- 100 2026"] * 5
CLASSES: list[Any] = [trainers.BpeTrainer, trainers.WordPieceTrainer, trainers.UnigramTrainer]


@pytest.mark.parametrize("trainer", CLASSES)
def test_forbid_is_an_option_as_others(trainer: Any) -> None:
    made = trainer(forbid=["  ", Regex(r"\d\d")])
    assert made.forbid == ["  ", r"\d\d"]
    assert pickle.loads(pickle.dumps(made)).forbid == made.forbid
    assert "forbid=" in repr(made)
    made.forbid = "x"
    assert made.forbid == ["x"]
    made.forbid = None
    assert made.forbid == trainer(forbid=()).forbid == trainer().forbid == []
    assert "forbid=" not in repr(made)


@pytest.mark.parametrize("trainer", CLASSES)
def test_wrong_patterns_are_refused(trainer: Any) -> None:
    with pytest.raises(errors.RegexError, match=r"regex `\(`"):
        trainer(forbid="(")
    with pytest.raises(errors.InputTypeError, match="an item of forbid is of type int but must be str or Regex"):
        trainer(forbid=["a", 1])
    with pytest.raises(
        errors.InputTypeError, match="forbid is of type int but must be str or Regex, or a list of these"
    ):
        trainer(forbid=1)
    with pytest.raises(errors.RegexError):
        trainer().forbid = ["("]


@pytest.mark.parametrize("threads", [1, 2])
def test_byte_level_tokens_are_matched_as_text(threads: int) -> None:
    forbid = ["  ", r"\d\d", "---", "a{3}", "ï"]

    def learn(**options: Any) -> Tokenizer:
        tokenizer = Tokenizer(models.BPE())
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
        trainer = trainers.BpeTrainer(vocab_size=400, show_progress=False, **options)
        tokenizer.train_from_iterator(TEXTS, trainer, num_threads=threads)
        return tokenizer

    def texts(tokenizer: Tokenizer) -> list[str]:
        return [token_bytes(token).decode(errors="replace") for token in tokenizer.get_vocab()]

    # Without the option each pattern is in some token.
    free, bound = texts(learn()), texts(learn(forbid=forbid))
    for pattern in forbid:
        assert any(re.search(pattern, text) for text in free)
        assert not any(re.search(pattern, text) for text in bound)
    words = [(to_chars(text), 5) for text in dict.fromkeys(TEXTS)]
    vocab, merges = train_bpe(words, vocab_size=400, forbid=forbid, byte_level=True)
    assert sorted(learn(forbid=forbid).get_vocab()) == sorted(vocab)
    assert train_bpe_words(words, vocab_size=400, forbid=forbid, byte_level=True) == (vocab, merges)


def test_parts_of_characters_are_replacement_characters() -> None:
    words = [(to_chars("日本"), 2)]
    vocab, _ = train_bpe_words(words, forbid=r"\x{FFFD}", byte_level=True)
    # No whole character can be made without a part of it.
    assert all(len(token) == 1 for token in vocab)
    assert any(len(token) > 1 for token in train_bpe_words(words, byte_level=True)[0])


@pytest.mark.parametrize("score", ["frequency", "likelihood", "likelihood-float64"])
def test_wordpiece_matches_tokens_without_their_prefix(score: str) -> None:
    vocab, _ = train_wordpiece_words([("a12", 3), ("12b", 3)], score=score, forbid=r"^\d\d")
    assert {"a12", "##1b"} & set(vocab) <= {"a12"}
    assert not {"12", "##12", "12b"} & set(vocab)


@pytest.mark.parametrize("algorithm", ["em", "exact-loss"])
def test_unigram_spares_characters(algorithm: str) -> None:
    words = [("1212ab", 9), ("12ab", 5), ("ab", 4)]
    train: Callable[..., Any] = train_unigram_words
    free = {piece for piece, _ in train(words, vocab_size=8, algorithm=algorithm)[0]}
    bound = {piece for piece, _ in train(words, vocab_size=8, algorithm=algorithm, forbid=[r"\d\d", "^1$"])[0]}
    assert any(re.search(r"\d\d", piece) for piece in free)
    assert not any(re.search(r"\d\d", piece) for piece in bound)
    assert {"1", "2", "a", "b"} <= bound
