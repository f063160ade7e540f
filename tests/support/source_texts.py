"""Shared by the tests of sources: texts, their forms on the disk, and a tokenizer trained from sources."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
from collections.abc import Callable

from lexmill import Tokenizer, pre_tokenizers
from lexmill.models import BPE
from lexmill.sources import Source
from lexmill.trainers import BpeTrainer

# Half a megabyte: more than a block.
TEXTS = [f'a{number % 977} été 日本\n{"x" * (number % 50)} \\ "{number}", ' for number in range(12_000)]
COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
}


def as_json(texts: list[str]) -> bytes:
    return "".join(json.dumps({"id": 1, "meta": {"text": text}}) + "\n" for text in texts).encode()


def trained(files: list[str | Source], threads: int) -> str:
    tokenizer = Tokenizer(BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel()
    trainer = BpeTrainer(vocab_size=600, show_progress=False, tie_break="first-seen")
    tokenizer.train(files, trainer, num_threads=threads)
    return tokenizer.to_str()
