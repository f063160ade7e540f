"""transformers: a fast tokenizer of its own, which calls Hugging Face's `tokenizers` and makes lists."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from transformers import PreTrainedTokenizerFast

from .base import Adapter, Unsupported


class Library(Adapter):
    """Threads come from `RAYON_NUM_THREADS`."""

    distribution = "transformers"

    def load(self, path: Path) -> None:
        try:
            self.tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(path))
        except Exception as error:  # `tokenizers` raises no more special kind.
            raise Unsupported(str(error)) from error

    def encode_arrays(self, texts: list[str]) -> Any:
        return self.tokenizer(texts, add_special_tokens=False, return_attention_mask=False)["input_ids"]

    encode_lists = encode_arrays

    def encode_one(self, texts: list[str]) -> Any:
        encode = self.tokenizer.encode
        return [encode(text, add_special_tokens=False) for text in texts]
