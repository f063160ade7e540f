"""gigatoken: `encode_batch` and `encode_files` give awkward arrays; `encode_batch_list` gives lists."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import awkward
import gigatoken
import numpy as np
from gigatoken import gigatoken_rs

from .base import SEPARATOR, Adapter, Columns, Merges, Unsupported


class Library(Adapter):
    """Threads come from `RAYON_NUM_THREADS`."""

    distribution = "gigatoken"

    def load(self, path: Path) -> None:
        try:
            self.tokenizer = gigatoken.Tokenizer(str(path))
        except (RuntimeError, ValueError) as error:
            raise Unsupported(str(error).splitlines()[0]) from error

    def encode_arrays(self, texts: list[str]) -> Any:
        return self.tokenizer.encode_batch(texts)

    def encode_lists(self, texts: list[str]) -> Any:
        return self.tokenizer.encode_batch_list(texts)

    def encode_one(self, texts: list[str]) -> Any:
        encode = self.tokenizer.encode
        return [encode(text) for text in texts]

    def encode_file(self, path: Path) -> Any:
        return self.tokenizer.encode_files(gigatoken.TextFileSource([str(path)]))

    # A file is one text to it, and a line to the reference; with a separator after each line both count the same words.
    def prepare_training(self, corpus: Path, scratch: Path) -> Any:
        data = corpus.read_bytes()
        if SEPARATOR in data:
            raise Unsupported("the separator occurs in the corpus")
        target = scratch / f"{corpus.stem}-separated.txt"
        target.write_bytes(data.replace(b"\n", b"\n" + SEPARATOR))
        return target

    def train_bpe(self, corpus: Path, vocab_size: int = 32_000) -> Any:
        return gigatoken.train_bpe(gigatoken.TextFileSource([str(corpus)], separator=SEPARATOR), vocab_size, [])

    def train_bpe_128k(self, corpus: Path) -> Any:
        return self.train_bpe(corpus, 128_000)

    def merges(self, result: Any) -> Merges:
        return [(bytes(left), bytes(right)) for left, right in result[1]]

    def count_words(self, corpus: Path) -> Any:
        return gigatoken_rs.pretokenized_counts(corpus.read_bytes(), separator=SEPARATOR)

    def word_counts(self, result: Any) -> Any:
        return ((bytes(word), count) for word, count in result)

    def columns(self, result: Any) -> Columns:
        if not isinstance(result, awkward.Array):
            return super().columns(result)
        return awkward.to_numpy(awkward.flatten(result)), np.asarray(awkward.num(result))
