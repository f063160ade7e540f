"""A tokenizer as SentencePiece's Unigram models are, and one that reads their files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lexmill import decoders, pre_tokenizers
from lexmill._core import Regex, Tokenizer
from lexmill.errors import FormatError
from lexmill.implementations._arguments import Files, Path, SpecialToken, Texts, as_files
from lexmill.implementations.base_tokenizer import BaseTokenizer
from lexmill.models import Unigram
from lexmill.normalizers import NFKC, Nmt, Replace
from lexmill.normalizers import Sequence as NormalizerSequence
from lexmill.trainers import UnigramTrainer


class SentencePieceUnigramTokenizer(BaseTokenizer):
    """`Nmt`, NFKC and `Metaspace` around a Unigram model."""

    def __init__(
        self, vocab: list[tuple[str, float]] | None = None, replacement: str = "▁", add_prefix_space: bool = True
    ) -> None:
        """Builds the tokenizer from pieces with their scores, or without any, to be trained.

        A model from `vocab` has no unknown piece. `replacement`, one character, stands for a space.
        """
        tokenizer = Tokenizer(Unigram() if vocab is None else Unigram(vocab))
        tokenizer.normalizer = NormalizerSequence([Nmt(), NFKC(), Replace(Regex(" {2,}"), " ")])
        scheme: Any = "always" if add_prefix_space else "never"
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement=replacement, prepend_scheme=scheme)
        tokenizer.decoder = decoders.Metaspace(replacement=replacement, prepend_scheme=scheme)
        super().__init__(
            tokenizer,
            {"model": "SentencePieceUnigram", "replacement": replacement, "add_prefix_space": add_prefix_space},
        )

    @staticmethod
    def from_spm(filename: Path) -> SentencePieceUnigramTokenizer:
        """Builds the tokenizer from a SentencePiece `.model` file, with SentencePiece's ids.

        The stages are the same as in `Tokenizer.from_spm`.

        Raises:
            FileError: The file cannot be read.
            FormatError: The file is malformed, or its model is not a Unigram model.
        """
        wrapped = Tokenizer.from_spm(filename)
        if not isinstance(wrapped.model, Unigram):
            raise FormatError(f"{filename} holds a {type(wrapped.model).__name__} model and not a Unigram model")
        tokenizer = SentencePieceUnigramTokenizer()
        BaseTokenizer.__init__(tokenizer, wrapped, {"model": "SentencePieceUnigram"})
        return tokenizer

    def train(
        self,
        files: Files,
        vocab_size: int = 8000,
        show_progress: bool = True,
        special_tokens: Sequence[SpecialToken] | None = None,
        initial_alphabet: Sequence[str] | None = None,
        unk_token: str | None = None,
    ) -> None:
        """Trains the model on the lines of files; the options are `UnigramTrainer`'s."""
        trainer = UnigramTrainer(
            vocab_size=vocab_size,
            show_progress=show_progress,
            special_tokens=[] if special_tokens is None else special_tokens,
            initial_alphabet=[] if initial_alphabet is None else initial_alphabet,
            unk_token=unk_token,
        )
        self._tokenizer.train(as_files(files), trainer=trainer)

    def train_from_iterator(
        self,
        iterator: Texts,
        vocab_size: int = 8000,
        show_progress: bool = True,
        special_tokens: Sequence[SpecialToken] | None = None,
        initial_alphabet: Sequence[str] | None = None,
        unk_token: str | None = None,
        length: int | None = None,
    ) -> None:
        """Trains the model on texts or lists of texts; `length`, how many there are, serves the progress bar only."""
        trainer = UnigramTrainer(
            vocab_size=vocab_size,
            show_progress=show_progress,
            special_tokens=[] if special_tokens is None else special_tokens,
            initial_alphabet=[] if initial_alphabet is None else initial_alphabet,
            unk_token=unk_token,
        )
        self._tokenizer.train_from_iterator(iterator, trainer=trainer, length=length)
