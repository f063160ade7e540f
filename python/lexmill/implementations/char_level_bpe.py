"""The first BPE tokenizers: BPE on the characters of words, the last one with a suffix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lexmill._core import Tokenizer
from lexmill.decoders import BPEDecoder
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
    in_sequence,
    known,
)
from lexmill.implementations.base_tokenizer import BaseTokenizer
from lexmill.models import BPE
from lexmill.normalizers import BertNormalizer, Lowercase, Normalizer, unicode_normalizer_from_str
from lexmill.pre_tokenizers import BertPreTokenizer, WhitespaceSplit
from lexmill.trainers import BpeTrainer


class CharBPETokenizer(BaseTokenizer):
    """BERT's normalizer and pre-tokenizer, or less, around a BPE model with a suffix at the end of words."""

    def __init__(
        self,
        vocab: Vocab | None = None,
        merges: Merges | None = None,
        unk_token: SpecialToken = "<unk>",
        suffix: str = "</w>",
        dropout: float | None = None,
        lowercase: bool = False,
        unicode_normalizer: str | None = None,
        bert_normalizer: bool = True,
        split_on_whitespace_only: bool = False,
    ) -> None:
        """Builds the tokenizer from a vocabulary and merges, their paths, or without either, to be trained.

        Text goes through the Unicode normal form, BERT's normalizer, which keeps case, and the lower-casing, as far as
        they are asked for.

        Raises:
            OptionError: `unicode_normalizer` is not a key of `normalizers.NORMALIZERS`. A `ValueError`.
        """
        model = bpe(vocab, merges, dropout=dropout, unk_token=str(unk_token), end_of_word_suffix=suffix)
        tokenizer = Tokenizer(model)
        tokenizer.add_special_tokens(known(tokenizer, [unk_token]))
        stages: list[Normalizer] = []
        if unicode_normalizer:
            stages.append(unicode_normalizer_from_str(unicode_normalizer))
        if bert_normalizer:
            stages.append(BertNormalizer(lowercase=False))
        if lowercase:
            stages.append(Lowercase())
        tokenizer.normalizer = in_sequence(stages)
        tokenizer.pre_tokenizer = WhitespaceSplit() if split_on_whitespace_only else BertPreTokenizer()
        tokenizer.decoder = BPEDecoder(suffix=suffix)
        super().__init__(
            tokenizer,
            {
                "model": "BPE",
                "unk_token": unk_token,
                "suffix": suffix,
                "dropout": dropout,
                "lowercase": lowercase,
                "unicode_normalizer": unicode_normalizer,
                "bert_normalizer": bert_normalizer,
                "split_on_whitespace_only": split_on_whitespace_only,
            },
        )

    @staticmethod
    def from_file(vocab_filename: str, merges_filename: str, **kwargs: Any) -> CharBPETokenizer:  # noqa: ANN401
        """Builds the tokenizer from `vocab.json` and `merges.txt`; `kwargs` go to the constructor."""
        return CharBPETokenizer(*BPE.read_file(vocab_filename, merges_filename), **kwargs)

    def train(
        self,
        files: Files,
        vocab_size: int = 30000,
        min_frequency: int = 2,
        special_tokens: Sequence[SpecialToken] = UNKNOWN,
        limit_alphabet: int = 1000,
        initial_alphabet: Sequence[str] = NO_CHARACTERS,
        suffix: str | None = "</w>",
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
        trainer.end_of_word_suffix = suffix
        self._tokenizer.train(as_files(files), trainer=trainer)

    def train_from_iterator(
        self,
        iterator: Texts,
        vocab_size: int = 30000,
        min_frequency: int = 2,
        special_tokens: Sequence[SpecialToken] = UNKNOWN,
        limit_alphabet: int = 1000,
        initial_alphabet: Sequence[str] = NO_CHARACTERS,
        suffix: str | None = "</w>",
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
        trainer.end_of_word_suffix = suffix
        self._tokenizer.train_from_iterator(iterator, trainer=trainer, length=length)
