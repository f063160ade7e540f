"""SentencePiece: lists of ids with `num_threads`; it loads `.model` files and not tokenizer.json."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import sentencepiece

from .base import Adapter, Unsupported


class Library(Adapter):
    """Threads are an argument of the call."""

    distribution = "sentencepiece"

    def load(self, path: Path) -> None:
        models = sorted([*path.parent.glob("*.model"), *path.parent.glob("source.spm")])
        if not models:
            raise Unsupported("loads .model files only; none is beside the tokenizer.json")
        self.processor = sentencepiece.SentencePieceProcessor(model_file=str(models[0]))

    def encode_arrays(self, texts: list[str]) -> Any:
        return self.processor.Encode(texts, num_threads=self.threads)

    encode_lists = encode_arrays

    def encode_one(self, texts: list[str]) -> Any:
        encode = self.processor.Encode
        return [encode(text) for text in texts]

    # Its merges are not compared: spaces become part of words in its own way, and counts are renewed at intervals.
    def train_bpe(self, corpus: Path, vocab_size: int = 32_000) -> Any:
        model = io.BytesIO()
        sentencepiece.SentencePieceTrainer.Train(
            input=str(corpus),
            model_writer=model,
            model_type="bpe",
            vocab_size=vocab_size,
            num_threads=self.threads,
            byte_fallback=True,
            character_coverage=0.9995,
            max_sentence_length=1 << 20,
            minloglevel=2,
        )
        return model

    def train_bpe_128k(self, corpus: Path) -> Any:
        return self.train_bpe(corpus, 128_000)

    # All text as it is, as the others train.
    def train_unigram(self, corpus: Path) -> Any:
        model = io.BytesIO()
        sentencepiece.SentencePieceTrainer.Train(
            input=str(corpus),
            model_writer=model,
            model_type="unigram",
            vocab_size=16_000,
            num_threads=self.threads,
            character_coverage=1.0,
            normalization_rule_name="identity",
            input_sentence_size=0,
            max_sentence_length=1 << 20,
            minloglevel=2,
        )
        return model
