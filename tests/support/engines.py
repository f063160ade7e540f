"""One face for the reference and the compiled core, so that a test is written once and holds for both."""

from __future__ import annotations

from typing import Any, Protocol

import lexmill
from lexmill import models
from lexmill.reference.bpe import Bpe
from lexmill.reference.bpe_trainer import train_bpe
from lexmill.reference.parity_bpe_trainer import train_parity_bpe
from lexmill.reference.unigram import Unigram
from lexmill.reference.unigram_exact_loss import train_exact_loss
from lexmill.reference.unigram_trainer import train_unigram
from lexmill.reference.wordlevel import WordLevel, train_wordlevel
from lexmill.reference.wordpiece import WordPiece
from lexmill.reference.wordpiece_trainer import train_wordpiece

Words = list[tuple[str, int]]
Merges = list[tuple[str, str]]
Encoded = list[tuple[int, str, tuple[int, int]]]
Pieces = list[tuple[str, float]]


class Engine(Protocol):
    """What both engines offer; options go by their public names."""

    name: str

    def train_bpe(self, words: Words, **options: Any) -> tuple[list[str], Merges]:
        """Returns the tokens by id, and the merges in the order learnt."""

    def train_parity_bpe(
        self, corpora: list[Words], dev: list[Words] | None, **options: Any
    ) -> tuple[list[str], Merges]:
        """Returns the tokens by id, and the merges in the order learnt."""

    def train_wordpiece(self, words: Words, **options: Any) -> tuple[list[str], Merges]:
        """Returns the tokens by id, and the merges in the order learnt."""

    def train_wordlevel(self, words: Words, **options: Any) -> list[str]:
        """Returns the tokens by id."""

    def encode_word(self, vocab: list[str], merges: Merges, word: str, **options: Any) -> Encoded:
        """Returns id, token and byte offsets of the word's tokens."""

    def encode_unigram(self, pieces: Pieces, word: str, **options: Any) -> Encoded:
        """The same by a unigram model."""

    def train_unigram(self, words: Words, **options: Any) -> Pieces:
        """Returns the pieces with their scores, special tokens left out."""

    def encode_unigram_nbest(self, pieces: Pieces, word: str, n: int, **options: Any) -> list[tuple[Encoded, float]]:
        """Returns the best segmentations with their scores."""

    def encode_wordpiece(self, vocab: list[str], word: str, **options: Any) -> Encoded:
        """Returns id, token and byte offsets of the word's tokens."""

    def encode_wordlevel(self, vocab: list[str], word: str, **options: Any) -> Encoded:
        """Returns id, token and byte offsets of the word's token."""


def ids(vocab: list[str]) -> dict[str, int]:
    """The place of each token."""
    return {token: token_id for token_id, token in enumerate(vocab)}


class ReferenceEngine:
    """The readable implementation."""

    name = "reference"

    def train_bpe(self, words: Words, **options: Any) -> tuple[list[str], Merges]:
        """Trains in one thread, whatever `num_threads` says."""
        options.pop("num_threads", None)
        return train_bpe(words, **options)

    def train_parity_bpe(
        self, corpora: list[Words], dev: list[Words] | None, **options: Any
    ) -> tuple[list[str], Merges]:
        """Trains in one thread, whatever `num_threads` says."""
        options.pop("num_threads", None)
        return train_parity_bpe(corpora, dev, **options)

    def train_wordpiece(self, words: Words, **options: Any) -> tuple[list[str], Merges]:
        """Trains in one thread, whatever `num_threads` says."""
        options.pop("num_threads", None)
        return train_wordpiece(words, **options)

    def train_wordlevel(self, words: Words, **options: Any) -> list[str]:
        """Trains by the reference."""
        return train_wordlevel(words, **options)

    def encode_word(self, vocab: list[str], merges: Merges, word: str, **options: Any) -> Encoded:
        """Encodes by the reference."""
        return [tuple(token) for token in Bpe(ids(vocab), merges, **options).tokenize(word)]

    def encode_wordpiece(self, vocab: list[str], word: str, **options: Any) -> Encoded:
        """Encodes by the reference."""
        return [tuple(token) for token in WordPiece(ids(vocab), **options).tokenize(word)]

    def encode_wordlevel(self, vocab: list[str], word: str, **options: Any) -> Encoded:
        """Encodes by the reference."""
        return [tuple(token) for token in WordLevel(ids(vocab), **options).tokenize(word)]

    def encode_unigram(self, pieces: Pieces, word: str, **options: Any) -> Encoded:
        """Encodes by a model made for the word."""
        return _tuples(Unigram(pieces, **options).tokenize(word))

    def encode_unigram_nbest(self, pieces: Pieces, word: str, n: int, **options: Any) -> list[tuple[Encoded, float]]:
        """Encodes by a model made for the word."""
        best = Unigram(pieces, **options).encode_nbest(word, n)
        return [(_tuples(found), score) for found, score in best]

    def train_unigram(self, words: Words, **options: Any) -> Pieces:
        """Trains in one thread, whatever `num_threads` says."""
        options.pop("num_threads", None)
        train = train_exact_loss if options.pop("algorithm", "em") == "exact-loss" else train_unigram
        return [(piece, score) for piece, score in train(words, **options)]


class CoreEngine:
    """The compiled core."""

    name = "core"

    def train_bpe(self, words: Words, **options: Any) -> tuple[list[str], Merges]:
        """Trains by the core, with as many threads as `num_threads` says."""
        # No limit is no argument there; `None` is refused, as by Hugging Face.
        given = {name: value for name, value in options.items() if value is not None}
        vocab, merges = lexmill._core.train_bpe_words(words, **given)
        return list(vocab), [tuple(merge) for merge in merges]

    def train_parity_bpe(
        self, corpora: list[Words], dev: list[Words] | None, **options: Any
    ) -> tuple[list[str], Merges]:
        """Trains by the core, with as many threads as `num_threads` says."""
        vocab, merges = lexmill._core.train_parity_bpe_words(corpora, dev, **options)
        return list(vocab), [tuple(merge) for merge in merges]

    def train_wordpiece(self, words: Words, **options: Any) -> tuple[list[str], Merges]:
        """Trains by the core, with as many threads as `num_threads` says."""
        vocab, merges = lexmill._core.train_wordpiece_words(words, **options)
        return list(vocab), [tuple(merge) for merge in merges]

    def train_wordlevel(self, words: Words, **options: Any) -> list[str]:
        """Trains by the core."""
        return list(lexmill._core.train_wordlevel_words(words, **options))

    def encode_word(self, vocab: list[str], merges: Merges, word: str, **options: Any) -> Encoded:
        """Encodes by the public model class, which wraps the core."""
        given = {name: value for name, value in options.items() if value is not None}
        return [token.as_tuple() for token in models.BPE(ids(vocab), merges, **given).tokenize(word)]

    def encode_wordpiece(self, vocab: list[str], word: str, **options: Any) -> Encoded:
        """Encodes by the public model class, which wraps the core."""
        return [token.as_tuple() for token in models.WordPiece(ids(vocab), **options).tokenize(word)]

    def encode_wordlevel(self, vocab: list[str], word: str, **options: Any) -> Encoded:
        """Encodes by the public model class, which wraps the core."""
        return [token.as_tuple() for token in models.WordLevel(ids(vocab), **options).tokenize(word)]

    def encode_unigram(self, pieces: Pieces, word: str, **options: Any) -> Encoded:
        """Encodes by a model made for the word."""
        return _tuples(lexmill.models.Unigram(pieces, **options).tokenize(word))

    def encode_unigram_nbest(self, pieces: Pieces, word: str, n: int, **options: Any) -> list[tuple[Encoded, float]]:
        """Encodes by a model made for the word."""
        best = lexmill.models.Unigram(pieces, **options).encode_nbest(word, n)
        return [(_tuples(found), score) for found, score in best]

    def train_unigram(self, words: Words, **options: Any) -> Pieces:
        """Trains by the core, with as many threads as `num_threads` says."""
        specials = set(options.get("special_tokens", []))
        if options.get("auto_character_coverage"):
            specials |= {f"<0x{byte:02X}>" for byte in range(256)}
        pieces, _ = lexmill._core.train_unigram_words(words, **options)
        return pieces[len(specials) :]


def _tuples(tokens: Any) -> Encoded:
    return [(token.id, token.value, tuple(token.offsets)) for token in tokens]


ENGINES: list[type[Engine]] = [ReferenceEngine, CoreEngine]
