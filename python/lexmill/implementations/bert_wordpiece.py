"""BERT's tokenizer: WordPiece on words in lower case, between `[CLS]` and `[SEP]`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lexmill._core import Tokenizer
from lexmill.decoders import WordPiece as WordPieceDecoder
from lexmill.errors import InputTypeError
from lexmill.implementations._arguments import NO_CHARACTERS, Files, SpecialToken, Texts, Vocab, as_files, known
from lexmill.implementations.base_tokenizer import BaseTokenizer
from lexmill.models import WordPiece
from lexmill.normalizers import BertNormalizer
from lexmill.pre_tokenizers import BertPreTokenizer
from lexmill.processors import BertProcessing
from lexmill.trainers import WordPieceTrainer

SPECIAL_TOKENS: list[SpecialToken] = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


class BertWordPieceTokenizer(BaseTokenizer):
    """BERT's normalizer, pre-tokenizer and post-processor around a WordPiece model."""

    def __init__(
        self,
        vocab: Vocab | None = None,
        unk_token: SpecialToken = "[UNK]",
        sep_token: SpecialToken = "[SEP]",
        cls_token: SpecialToken = "[CLS]",
        pad_token: SpecialToken = "[PAD]",
        mask_token: SpecialToken = "[MASK]",
        clean_text: bool = True,
        handle_chinese_chars: bool = True,
        strip_accents: bool | None = None,
        lowercase: bool = True,
        wordpieces_prefix: str = "##",
    ) -> None:
        """Builds the tokenizer from a vocabulary, the path of a `vocab.txt`, or nothing, to be trained.

        The model's own prefix is always `##`; `wordpieces_prefix` is the decoder's. Without a vocabulary no special
        tokens are added around a text.

        Raises:
            InputTypeError: `sep_token` or `cls_token` is not in the vocabulary. A `TypeError`.
        """
        model = WordPiece(unk_token=str(unk_token)) if vocab is None else WordPiece(vocab, unk_token=str(unk_token))
        tokenizer = Tokenizer(model)
        tokenizer.add_special_tokens(known(tokenizer, [unk_token, sep_token, cls_token, pad_token, mask_token]))
        tokenizer.normalizer = BertNormalizer(
            clean_text=clean_text,
            handle_chinese_chars=handle_chinese_chars,
            strip_accents=strip_accents,
            lowercase=lowercase,
        )
        tokenizer.pre_tokenizer = BertPreTokenizer()
        if vocab is not None:
            sep = _with_id(tokenizer, "sep_token", sep_token)
            tokenizer.post_processor = BertProcessing(sep, _with_id(tokenizer, "cls_token", cls_token))
        tokenizer.decoder = WordPieceDecoder(prefix=wordpieces_prefix)
        super().__init__(
            tokenizer,
            {
                "model": "BertWordPiece",
                "unk_token": unk_token,
                "sep_token": sep_token,
                "cls_token": cls_token,
                "pad_token": pad_token,
                "mask_token": mask_token,
                "clean_text": clean_text,
                "handle_chinese_chars": handle_chinese_chars,
                "strip_accents": strip_accents,
                "lowercase": lowercase,
                "wordpieces_prefix": wordpieces_prefix,
            },
        )

    @staticmethod
    def from_file(vocab: str, **kwargs: Any) -> BertWordPieceTokenizer:  # noqa: ANN401
        """Builds the tokenizer from the path of a `vocab.txt`; `kwargs` go to the constructor."""
        return BertWordPieceTokenizer(WordPiece.read_file(vocab), **kwargs)

    def train(
        self,
        files: Files,
        vocab_size: int = 30000,
        min_frequency: int = 2,
        limit_alphabet: int = 1000,
        initial_alphabet: Sequence[str] = NO_CHARACTERS,
        special_tokens: Sequence[SpecialToken] = SPECIAL_TOKENS,
        show_progress: bool = True,
        wordpieces_prefix: str = "##",
    ) -> None:
        """Trains the model on the lines of files; the options are `WordPieceTrainer`'s."""
        trainer = WordPieceTrainer(
            vocab_size=vocab_size,
            min_frequency=min_frequency,
            limit_alphabet=limit_alphabet,
            initial_alphabet=initial_alphabet,
            special_tokens=special_tokens,
            show_progress=show_progress,
            continuing_subword_prefix=wordpieces_prefix,
        )
        self._tokenizer.train(as_files(files), trainer=trainer)

    def train_from_iterator(
        self,
        iterator: Texts,
        vocab_size: int = 30000,
        min_frequency: int = 2,
        limit_alphabet: int = 1000,
        initial_alphabet: Sequence[str] = NO_CHARACTERS,
        special_tokens: Sequence[SpecialToken] = SPECIAL_TOKENS,
        show_progress: bool = True,
        wordpieces_prefix: str = "##",
        length: int | None = None,
    ) -> None:
        """Trains the model on texts or lists of texts; `length`, how many there are, serves the progress bar only."""
        trainer = WordPieceTrainer(
            vocab_size=vocab_size,
            min_frequency=min_frequency,
            limit_alphabet=limit_alphabet,
            initial_alphabet=initial_alphabet,
            special_tokens=special_tokens,
            show_progress=show_progress,
            continuing_subword_prefix=wordpieces_prefix,
        )
        self._tokenizer.train_from_iterator(iterator, trainer=trainer, length=length)


def _with_id(tokenizer: Tokenizer, option: str, token: SpecialToken) -> tuple[str, int]:
    """A token with its id, as post-processors take it."""
    content = str(token)
    id = tokenizer.token_to_id(content)
    if id is None:
        raise InputTypeError(f"{option} is {content!r}, which is not in the vocabulary")
    return content, id
