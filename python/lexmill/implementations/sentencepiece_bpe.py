"""A tokenizer as SentencePiece's BPE models are: BPE on words with a visible space before each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lexmill import decoders, pre_tokenizers
from lexmill._core import Tokenizer
from lexmill.implementations._arguments import (
    NO_CHARACTERS,
    UNKNOWN,
    Files,
    Merges,
    SpecialToken,
    Texts,
    Vocab,
    as_files,
    bpe,
    known,
)
from lexmill.implementations.base_tokenizer import BaseTokenizer
from lexmill.models import BPE
from lexmill.normalizers import NFKC
from lexmill.trainers import BpeTrainer


class SentencePieceBPETokenizer(BaseTokenizer):
    """NFKC and `Metaspace` around a BPE model.

    For the ids of a SentencePiece `.model` file use `Tokenizer.from_spm`.
    """

    def __init__(
        self,
        vocab: Vocab | None = None,
        merges: Merges | None = None,
        unk_token: str = "<unk>",
        replacement: str = "▁",
        add_prefix_space: bool = True,
        dropout: float | None = None,
        fuse_unk: bool = False,
    ) -> None:
        """Builds the tokenizer from a vocabulary and merges, their paths, or without either, to be trained.

        `replacement`, one character, stands for a space.
        """
        model = bpe(vocab, merges, dropout=dropout, unk_token=unk_token, fuse_unk=fuse_unk)
        tokenizer = Tokenizer(model)
        tokenizer.add_special_tokens(known(tokenizer, [unk_token]))
        tokenizer.normalizer = NFKC()
        scheme: Any = "always" if add_prefix_space else "never"
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement=replacement, prepend_scheme=scheme)
        tokenizer.decoder = decoders.Metaspace(replacement=replacement, prepend_scheme=scheme)
        super().__init__(
            tokenizer,
            {
                "model": "SentencePieceBPE",
                "unk_token": unk_token,
                "replacement": replacement,
                "add_prefix_space": add_prefix_space,
                "dropout": dropout,
            },
        )

    @staticmethod
    def from_file(vocab_filename: str, merges_filename: str, **kwargs: Any) -> SentencePieceBPETokenizer:  # noqa: ANN401
        """Builds the tokenizer from `vocab.json` and `merges.txt`; `kwargs` go to the constructor."""
        return SentencePieceBPETokenizer(*BPE.read_file(vocab_filename, merges_filename), **kwargs)

    def train(
        self,
        files: Files,
        vocab_size: int = 30000,
        min_frequency: int = 2,
        special_tokens: Sequence[SpecialToken] = UNKNOWN,
        limit_alphabet: int = 1000,
        initial_alphabet: Sequence[str] = NO_CHARACTERS,
        show_progress: bool = True,
    ) -> None:
        """Trains the model on the lines of files; the options are `BpeTrainer`'s."""
        trainer = BpeTrainer(
            vocab_size=vocab_size,
            min_frequency=min_frequency,
            special_tokens=special_tokens,
            limit_alphabet=limit_alphabet,
            initial_alphabet=initial_alphabet,
            show_progress=show_progress,
        )
        self._tokenizer.train(as_files(files), trainer=trainer)

    def train_from_iterator(
        self,
        iterator: Texts,
        vocab_size: int = 30000,
        min_frequency: int = 2,
        special_tokens: Sequence[SpecialToken] = UNKNOWN,
        limit_alphabet: int = 1000,
        initial_alphabet: Sequence[str] = NO_CHARACTERS,
        show_progress: bool = True,
        length: int | None = None,
    ) -> None:
        """Trains the model on texts or lists of texts; `length`, how many there are, serves the progress bar only."""
        trainer = BpeTrainer(
            vocab_size=vocab_size,
            min_frequency=min_frequency,
            special_tokens=special_tokens,
            limit_alphabet=limit_alphabet,
            initial_alphabet=initial_alphabet,
            show_progress=show_progress,
        )
        self._tokenizer.train_from_iterator(iterator, trainer=trainer, length=length)
