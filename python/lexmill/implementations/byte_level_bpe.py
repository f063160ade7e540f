"""GPT-2's tokenizer: BPE on the bytes of words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lexmill import decoders, pre_tokenizers, processors
from lexmill._core import Tokenizer
from lexmill.implementations._arguments import (
    NO_TOKENS,
    Files,
    Merges,
    SpecialToken,
    Texts,
    Vocab,
    as_files,
    bpe,
    in_sequence,
)
from lexmill.implementations.base_tokenizer import BaseTokenizer
from lexmill.models import BPE
from lexmill.normalizers import Lowercase, Normalizer, unicode_normalizer_from_str
from lexmill.trainers import BpeTrainer


class ByteLevelBPETokenizer(BaseTokenizer):
    """The byte-level stages around a BPE model."""

    def __init__(
        self,
        vocab: Vocab | None = None,
        merges: Merges | None = None,
        add_prefix_space: bool = False,
        lowercase: bool = False,
        dropout: float | None = None,
        unicode_normalizer: str | None = None,
        continuing_subword_prefix: str | None = None,
        end_of_word_suffix: str | None = None,
        trim_offsets: bool = False,
    ) -> None:
        """Builds the tokenizer from a vocabulary and merges, their paths, or without either, to be trained.

        Without them, `dropout`, the prefix and the suffix do not reach the model.

        Raises:
            OptionError: `unicode_normalizer` is not a key of `normalizers.NORMALIZERS`. A `ValueError`.
        """
        model = BPE()
        if vocab is not None and merges is not None:
            model = bpe(
                vocab,
                merges,
                dropout=dropout,
                continuing_subword_prefix=continuing_subword_prefix or "",
                end_of_word_suffix=end_of_word_suffix or "",
            )
        stages: list[Normalizer] = [unicode_normalizer_from_str(unicode_normalizer)] if unicode_normalizer else []
        tokenizer = Tokenizer(model)
        tokenizer.normalizer = in_sequence([*stages, Lowercase()] if lowercase else stages)
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=add_prefix_space)
        tokenizer.decoder = decoders.ByteLevel()
        tokenizer.post_processor = processors.ByteLevel(trim_offsets=trim_offsets)
        super().__init__(
            tokenizer,
            {
                "model": "ByteLevelBPE",
                "add_prefix_space": add_prefix_space,
                "lowercase": lowercase,
                "dropout": dropout,
                "unicode_normalizer": unicode_normalizer,
                "continuing_subword_prefix": continuing_subword_prefix,
                "end_of_word_suffix": end_of_word_suffix,
                "trim_offsets": trim_offsets,
            },
        )

    @staticmethod
    def from_file(vocab_filename: str, merges_filename: str, **kwargs: Any) -> ByteLevelBPETokenizer:  # noqa: ANN401
        """Builds the tokenizer from `vocab.json` and `merges.txt`; `kwargs` go to the constructor."""
        return ByteLevelBPETokenizer(*BPE.read_file(vocab_filename, merges_filename), **kwargs)

    def train(
        self,
        files: Files,
        vocab_size: int = 30000,
        min_frequency: int = 2,
        show_progress: bool = True,
        special_tokens: Sequence[SpecialToken] = NO_TOKENS,
    ) -> None:
        """Trains the model on the lines of files; the options are `BpeTrainer`'s, the alphabet is all 256 bytes."""
        trainer = BpeTrainer(
            vocab_size=vocab_size,
            min_frequency=min_frequency,
            show_progress=show_progress,
            special_tokens=special_tokens,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        )
        self._tokenizer.train(as_files(files), trainer=trainer)

    def train_from_iterator(
        self,
        iterator: Texts,
        vocab_size: int = 30000,
        min_frequency: int = 2,
        show_progress: bool = True,
        special_tokens: Sequence[SpecialToken] = NO_TOKENS,
        length: int | None = None,
    ) -> None:
        """Trains the model on texts or lists of texts; `length`, how many there are, serves the progress bar only."""
        trainer = BpeTrainer(
            vocab_size=vocab_size,
            min_frequency=min_frequency,
            show_progress=show_progress,
            special_tokens=special_tokens,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        )
        self._tokenizer.train_from_iterator(iterator, trainer=trainer, length=length)
