"""Unigram training must explain text that it has not seen at least as well as the libraries that it follows."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import lexmill
from peers import corpus_file

pytestmark = pytest.mark.external

VOCAB_SIZE = 4_000
# Of a corpus, half of which is trained on.
BYTES = 2 << 20
# The share of log likelihood that may be lost.
TOLERANCE = 0.001


def words(corpus: str, remainder: int) -> list[str]:
    """Words of every other line, of ASCII, so that every character has a piece everywhere."""
    with corpus_file(corpus).open("rb") as file:
        lines = file.read(BYTES).decode(errors="ignore").splitlines()
    return [word for line in lines[remainder::2] for word in line.split() if word.isascii()]


@cache
def ours(corpus: str) -> list[tuple[str, float]]:
    tokenizer = lexmill.Tokenizer(lexmill.models.Unigram())
    tokenizer.pre_tokenizer = lexmill.pre_tokenizers.Metaspace()
    trainer = lexmill.trainers.UnigramTrainer(vocab_size=VOCAB_SIZE, unk_token="<unk>", show_progress=False)
    tokenizer.train_from_iterator([" ".join(words(corpus, 0))], trainer)
    return pieces(tokenizer)


def pieces(tokenizer: Any) -> list[tuple[str, float]]:
    return [(piece, score) for piece, score in json.loads(tokenizer.to_str())["model"]["vocab"]]


def log_likelihood(corpus: str, vocab: list[tuple[str, float]]) -> float:
    """Of the best segmentations of words that were not trained on."""
    model = lexmill.models.Unigram(vocab, [piece for piece, _ in vocab].index("<unk>"))
    counts = Counter("▁" + word for word in words(corpus, 1))
    return sum(count * model.encode_nbest(word, 1)[0][1] for word, count in counts.items())


def check(corpus: str, theirs: list[tuple[str, float]]) -> None:
    assert len(ours(corpus)) == VOCAB_SIZE
    # Logarithms are negative: the smaller one is further from zero.
    assert log_likelihood(corpus, ours(corpus)) >= (1 + TOLERANCE) * log_likelihood(corpus, theirs)


@pytest.mark.parametrize("corpus", ["english", "german"])
def test_held_out_text_is_as_likely_as_to_hugging_face(corpus: str) -> None:
    hf = pytest.importorskip("tokenizers", reason="install the dependency group `peers`")
    tokenizer = hf.Tokenizer(hf.models.Unigram())
    tokenizer.pre_tokenizer = hf.pre_tokenizers.Metaspace()
    trainer = hf.trainers.UnigramTrainer(vocab_size=VOCAB_SIZE, unk_token="<unk>", show_progress=False)
    tokenizer.train_from_iterator([" ".join(words(corpus, 0))], trainer)
    check(corpus, pieces(tokenizer))


@pytest.mark.parametrize("corpus", ["english", "german"])
def test_held_out_text_is_as_likely_as_to_sentencepiece(corpus: str, tmp_path: Path) -> None:
    spm = pytest.importorskip("sentencepiece", reason="install the dependency group `peers`")
    spm.SentencePieceTrainer.train(
        sentence_iterator=iter(words(corpus, 0)),
        model_prefix=str(tmp_path / "m"),
        vocab_size=VOCAB_SIZE,
        character_coverage=1.0,
        normalization_rule_name="identity",
        max_sentence_length=1 << 20,
        minloglevel=2,
    )
    model = spm.SentencePieceProcessor(model_file=str(tmp_path / "m.model"))
    check(corpus, [(model.id_to_piece(id_), model.get_score(id_)) for id_ in range(model.get_piece_size())])
