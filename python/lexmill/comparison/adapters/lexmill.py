"""lexmill, this project."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

import numpy as np

import lexmill

from .base import Adapter, Columns, Merges, Unsupported, token_bytes


class Library(Adapter):
    """Threads come from `RAYON_NUM_THREADS`."""

    distribution = "lexmill"

    # A checkout on the path is no distribution.
    @property
    def version(self) -> str:
        return lexmill.__version__

    def load(self, path: Path) -> None:
        try:
            self.tokenizer = lexmill.Tokenizer.from_file(str(path))
        except lexmill.errors.FormatError as error:
            raise Unsupported(str(error)) from error
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()

    def encode_arrays(self, texts: list[str]) -> Any:
        return self.tokenizer.encode_batch_arrays(texts, add_special_tokens=False)

    def encode_lists(self, texts: list[str]) -> Any:
        return self.tokenizer.encode_batch_ids(texts, add_special_tokens=False)

    def encode_encodings(self, texts: list[str]) -> Any:
        return self.tokenizer.encode_batch(texts, add_special_tokens=False)

    def encode_offsets(self, texts: list[str]) -> Any:
        return [(encoding.ids, encoding.offsets) for encoding in self.encode_encodings(texts)]

    def encode_one(self, texts: list[str]) -> Any:
        encode = self.tokenizer.encode
        return [encode(text, add_special_tokens=False) for text in texts]

    def encode_file(self, path: Path) -> Any:
        return self.tokenizer.encode_files_arrays([str(path)], add_special_tokens=False)

    def count_tokens(self, texts: list[str]) -> Any:
        return self.tokenizer.count_tokens(texts, add_special_tokens=False)

    def train_bpe(self, corpus: Path, vocab_size: int = 32_000) -> Any:
        return self._train(corpus, vocab_size)

    def train_bpe_128k(self, corpus: Path) -> Any:
        return self.train_bpe(corpus, 128_000)

    def count_words(self, corpus: Path) -> Any:
        return self._train(corpus, 256)

    def train_wordpiece(self, corpus: Path, score: Literal["frequency", "likelihood"] = "frequency") -> Any:
        tokenizer = lexmill.Tokenizer(lexmill.models.WordPiece(unk_token="[UNK]"))
        tokenizer.normalizer = lexmill.normalizers.BertNormalizer()
        tokenizer.pre_tokenizer = lexmill.pre_tokenizers.BertPreTokenizer()
        trainer = lexmill.trainers.WordPieceTrainer(
            vocab_size=30_000, special_tokens=["[UNK]"], show_progress=False, score=score
        )
        tokenizer.train([str(corpus)], trainer)
        return tokenizer

    def train_wordpiece_likelihood(self, corpus: Path) -> Any:
        return self.train_wordpiece(corpus, "likelihood")

    def train_unigram(self, corpus: Path) -> Any:
        tokenizer = lexmill.Tokenizer(lexmill.models.Unigram())
        tokenizer.pre_tokenizer = lexmill.pre_tokenizers.Metaspace()
        trainer = lexmill.trainers.UnigramTrainer(
            vocab_size=16_000, unk_token="<unk>", special_tokens=["<unk>"], show_progress=False
        )
        tokenizer.train([str(corpus)], trainer)
        return tokenizer

    def columns(self, result: Any) -> Columns:
        if not hasattr(result, "row_splits"):
            return super().columns(result)
        return np.asarray(result.ids), np.diff(np.asarray(result.row_splits))

    def merges(self, result: Any) -> Merges:
        merges = json.loads(result.to_str())["model"]["merges"]
        return [(token_bytes(left), token_bytes(right)) for left, right in merges]

    def _train(self, corpus: Path, vocab_size: int) -> Any:
        tokenizer = lexmill.Tokenizer(lexmill.models.BPE())
        tokenizer.pre_tokenizer = lexmill.pre_tokenizers.ByteLevel(add_prefix_space=False)
        trainer = lexmill.trainers.BpeTrainer(
            vocab_size=vocab_size,
            initial_alphabet=lexmill.pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        )
        tokenizer.train([str(corpus)], trainer)
        return tokenizer
