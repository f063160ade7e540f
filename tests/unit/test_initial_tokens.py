"""Tokens that a vocabulary must have."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines import CoreEngine, Engine
from lexmill import Tokenizer, errors, models, pre_tokenizers, trainers

CLASSES: list[Any] = [trainers.BpeTrainer, trainers.WordPieceTrainer, trainers.UnigramTrainer]
TEXTS = ["mov eax ebx", "mov ecx eax", "add eax ebx ecx"] * 3


def tokenizer_for(model: Any, pre_tokenizer: Any = None) -> Tokenizer:
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = pre_tokenizer or pre_tokenizers.WhitespaceSplit()
    return tokenizer


@pytest.mark.parametrize("trainer", CLASSES)
def test_initial_tokens_are_an_option_as_others(trainer: Any) -> None:
    made = trainer(initial_tokens=["eax", "ebx"])
    assert made.initial_tokens == ["eax", "ebx"]
    assert pickle.loads(pickle.dumps(made)).initial_tokens == made.initial_tokens
    assert 'initial_tokens=["eax", "ebx"]' in repr(made)
    made.initial_tokens = []
    assert made.initial_tokens == trainer().initial_tokens == []
    assert "initial_tokens" not in repr(made)


def test_bpe_reaches_each_initial_token() -> None:
    wanted = ["xmm0", "eax", "xmm", "ax0"]
    tokenizer = tokenizer_for(models.BPE())
    trainer = trainers.BpeTrainer(vocab_size=60, initial_tokens=wanted, show_progress=False)
    tokenizer.train_from_iterator(TEXTS, trainer)
    for token in wanted:
        assert tokenizer.encode(token).tokens == [token]
    # The merges of the first token come first.
    assert tokenizer.encode("xmm0").ids[0] < tokenizer.token_to_id("mov")


@given(
    words=st.lists(
        st.tuples(st.text("abc", min_size=1, max_size=8), st.integers(1, 5)), max_size=8, unique_by=lambda w: w[0]
    ),
    wanted=st.lists(st.text("abc", min_size=1, max_size=7), max_size=6),
    room=st.integers(0, 20),
    byte_level=st.booleans(),
)
def test_every_initial_token_is_one_token(
    engine: Engine, words: list[tuple[str, int]], wanted: list[str], room: int, byte_level: bool
) -> None:
    initial, merges = engine.train_bpe(words, initial_tokens=wanted, min_frequency=10**9)
    vocab, more = engine.train_bpe(words, initial_tokens=wanted, vocab_size=len(initial) + room, byte_level=byte_level)
    assert vocab[: len(initial)] == initial
    assert more[: len(merges)] == merges
    for token in wanted:
        assert [text for _, text, _ in engine.encode_word(vocab, more, token)] == [token]


def test_wordpiece_has_initial_tokens_after_special_ones() -> None:
    tokenizer = tokenizer_for(models.WordPiece(unk_token="[UNK]"))
    for score in ("frequency", "likelihood"):
        trainer = trainers.WordPieceTrainer(
            vocab_size=60,
            special_tokens=["[UNK]"],
            initial_tokens=["xmm", "##0", "eax"],
            score=score,
            show_progress=False,
        )
        tokenizer.train_from_iterator(TEXTS, trainer)
        assert [tokenizer.id_to_token(number) for number in range(4)] == ["[UNK]", "xmm", "##0", "eax"]
        assert tokenizer.encode("xmm0 eax").tokens == ["xmm", "##0", "eax"]


@pytest.mark.parametrize("algorithm", ["em", "exact-loss"])
def test_unigram_keeps_initial_tokens(algorithm: str) -> None:
    tokenizer = tokenizer_for(models.Unigram())
    wanted = ["xmm", "ov", "eax"]
    trainer = trainers.UnigramTrainer(
        vocab_size=16, initial_tokens=wanted, algorithm=algorithm, special_tokens=["<unk>"], unk_token="<unk>"
    )
    trainer.show_progress = False
    tokenizer.train_from_iterator(TEXTS, trainer)
    assert set(wanted) <= set(tokenizer.get_vocab())
    assert tokenizer.get_vocab_size() <= 16


BYTES: Any = pre_tokenizers.ByteLevel(add_prefix_space=False)


@pytest.mark.parametrize(
    ("model", "trainer"),
    [
        (models.BPE, trainers.BpeTrainer),
        (models.Unigram, trainers.UnigramTrainer),
        (models.WordPiece, trainers.WordPieceTrainer),
    ],
)
def test_text_is_refused_at_the_byte_level(model: Any, trainer: Any) -> None:
    tokenizer = tokenizer_for(model(), BYTES)
    expected = "initial_tokens has ' eax' but the vocabulary spells bytes; write 'Ġeax'"
    with pytest.raises(errors.OptionError, match=expected):
        tokenizer.train_from_iterator(TEXTS, trainer(initial_tokens=[" eax"], show_progress=False))
    tokenizer.train_from_iterator(TEXTS, trainer(initial_tokens=["Ġeax"], show_progress=False))
    assert "Ġeax" in tokenizer.get_vocab()


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"initial_tokens": ["abc"], "max_piece_length": 2}, "initial_tokens has 'abc' but max_piece_length is 2"),
    ({"initial_tokens": ["ab"], "special_tokens": ["b"]}, "initial_tokens has 'ab' but 'b' is a special token"),
    ({"initial_tokens": ["zz"], "vocab_size": 3}, "vocab_size is 3 but must be at least 4, which special tokens"),
    ({"initial_tokens": [""]}, "initial_tokens has '' but each must have a character"),
]


@pytest.mark.parametrize(("options", "message"), WRONG)
def test_unigram_refuses_what_it_cannot_keep(engine: Engine, options: dict[str, Any], message: str) -> None:
    with pytest.raises(errors.OptionError, match=message):
        engine.train_unigram([("ab", 3)], **options)


def test_merges_that_undo_others_are_refused(engine: Engine) -> None:
    # With the prefix a, `b` + `ac` and `bc` are spelled alike, so words begin with tokens of merges.
    options: dict[str, Any] = {"continuing_subword_prefix": "a"}
    outcomes = set()
    for wanted in (["abab", "bab"], ["aab", "ab"], ["baab", "aab", "ab"]):
        try:
            vocab, merges = engine.train_bpe([("abab", 2)], initial_tokens=wanted, **options)
        except errors.OptionError as error:
            outcomes.add(str(error))
            continue
        for token in wanted:
            outcomes.add(token in vocab)
        assert len(merges) == len(set(merges))
    assert False not in outcomes


def test_the_core_is_fast_with_many_initial_tokens() -> None:
    wanted = [f"{number:x}" for number in range(2**12, 2**12 + 3000)]
    vocab, merges = CoreEngine().train_bpe([("abc", 1)], initial_tokens=wanted)
    assert set(wanted) <= set(vocab)
    assert len(merges) >= len(wanted)
