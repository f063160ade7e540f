"""rustbpe: a trainer; its encoder takes tokenizers that it has trained, not published ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import rustbpe

from .base import GPT2_PATTERN, Adapter


class Library(Adapter):
    """Threads come from `RAYON_NUM_THREADS`."""

    distribution = "rustbpe"

    # Its merges are not compared: ids of bytes, which break ties, follow the bytes and not the byte-level alphabet.
    def train_bpe(self, corpus: Path, vocab_size: int = 32_000) -> Any:
        tokenizer = rustbpe.Tokenizer()
        with corpus.open(encoding="utf-8", newline="\n") as lines:
            tokenizer.train_from_iterator(lines, vocab_size=vocab_size, pattern=GPT2_PATTERN)
        return tokenizer

    def train_bpe_128k(self, corpus: Path) -> Any:
        return self.train_bpe(corpus, 128_000)
