"""Hugging Face tokenizers 0.x: the reference. Its fastest list input is `encode_batch_fast`, without offsets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import tokenizers

from .base import Adapter, Merges, Unsupported, token_bytes


class Library(Adapter):
    """Threads come from `RAYON_NUM_THREADS`."""

    distribution = "tokenizers"
    series = "0."

    def load(self, path: Path) -> None:
        try:
            self.tokenizer = tokenizers.Tokenizer.from_file(str(path))
        except Exception as error:  # The library raises no other kind.
            raise Unsupported(str(error)) from error
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()

    def encode_arrays(self, texts: list[str]) -> Any:
        return self.tokenizer.encode_batch_fast(texts, add_special_tokens=False)

    def encode_lists(self, texts: list[str]) -> Any:
        return [encoding.ids for encoding in self.tokenizer.encode_batch_fast(texts, add_special_tokens=False)]

    def encode_encodings(self, texts: list[str]) -> Any:
        return self.tokenizer.encode_batch(texts, add_special_tokens=False)

    def encode_offsets(self, texts: list[str]) -> Any:
        return [(encoding.ids, encoding.offsets) for encoding in self.encode_encodings(texts)]

    def encode_one(self, texts: list[str]) -> Any:
        encode = self.tokenizer.encode
        return [encode(text, add_special_tokens=False) for text in texts]

    def train_bpe(self, corpus: Path, vocab_size: int = 32_000) -> Any:
        return self._train(corpus, vocab_size)[0]

    def train_bpe_128k(self, corpus: Path) -> Any:
        return self.train_bpe(corpus, 128_000)

    def merges(self, result: Any) -> Merges:
        merges = json.loads(result.to_str())["model"]["merges"]
        return [(token_bytes(left), token_bytes(right)) for left, right in merges]

    # The results of these two are not compared: both depend on an order of tokens that changes from run to run.
    def train_wordpiece(self, corpus: Path) -> Any:
        tokenizer = tokenizers.Tokenizer(tokenizers.models.WordPiece(unk_token="[UNK]"))
        tokenizer.normalizer = tokenizers.normalizers.BertNormalizer()
        tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
        trainer = tokenizers.trainers.WordPieceTrainer(vocab_size=30_000, special_tokens=["[UNK]"], show_progress=False)
        tokenizer.train([str(corpus)], trainer)
        return tokenizer

    def train_unigram(self, corpus: Path) -> Any:
        tokenizer = tokenizers.Tokenizer(tokenizers.models.Unigram())
        tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace()
        trainer = tokenizers.trainers.UnigramTrainer(
            vocab_size=16_000, unk_token="<unk>", special_tokens=["<unk>"], show_progress=False
        )
        tokenizer.train([str(corpus)], trainer)
        return tokenizer

    # Counting has no call of its own; a vocabulary of the 256 bytes leaves nothing to merge.
    def count_words(self, corpus: Path) -> Any:
        return self._train(corpus, 256)[1]

    def word_counts(self, result: Any) -> Any:
        words = json.loads(result.__getstate__())["BpeTrainer"]["words"]
        return ((token_bytes(word), count) for word, count in words.items())

    def _train(self, corpus: Path, vocab_size: int) -> Any:
        tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
        tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
        trainer = tokenizers.trainers.BpeTrainer(
            vocab_size=vocab_size,
            initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        )
        tokenizer.train([str(corpus)], trainer)
        return tokenizer, trainer
