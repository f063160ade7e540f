"""Hugging Face tokenizers 1.x: `encode_batch` gives objects with ids alone; its other calls and offsets are gone."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, cast

import tokenizers

from .base import Adapter, Unsupported


class Library(Adapter):
    """Uses a thread for each processor of the process. No call and no variable sets another number."""

    distribution = "tokenizers"
    series = "1."

    def __init__(self, threads: int) -> None:
        """Notes the number of threads; `Unsupported` where the process cannot be held to it."""
        super().__init__(threads)
        if threads < (os.cpu_count() or 1) and not hasattr(os, "sched_setaffinity"):
            raise Unsupported(f"uses all processors and threads is {threads}: this system holds no process to fewer")

    # Files of 0.x are converted here, so loading takes longer.
    def load(self, path: Path) -> None:
        try:
            # The stubs of the other major version may be the ones that are installed.
            self.tokenizer = cast("Any", tokenizers.Tokenizer.from_file(str(path)))
        except ValueError as error:
            raise Unsupported(str(error)) from error
        self.tokenizer.truncation = None
        self.tokenizer.padding = None

    def encode_arrays(self, texts: list[str]) -> Any:
        return self.tokenizer.encode_batch(texts, add_special_tokens=False)

    def encode_lists(self, texts: list[str]) -> Any:
        return [encoding.ids for encoding in self.encode_arrays(texts)]

    def encode_one(self, texts: list[str]) -> Any:
        encode = self.tokenizer.encode
        return [encode(text, add_special_tokens=False) for text in texts]
