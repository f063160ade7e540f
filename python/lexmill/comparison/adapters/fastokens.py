"""fastokens: `encode_batch_flat` of its native class gives two buffers; `encode_batch` objects with lists made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fastokens import Tokenizer

from .base import Adapter, Columns, Unsupported, flat_buffers


class Library(Adapter):
    """Threads come from `RAYON_NUM_THREADS`."""

    distribution = "fastokens"

    def load(self, path: Path) -> None:
        try:
            self.tokenizer = Tokenizer.from_file(str(path))
        except ValueError as error:
            self.tokenizer = self._from_ranks(path.parent, error)

    @staticmethod
    def _from_ranks(folder: Path, reason: ValueError) -> Tokenizer:
        ranks = folder / f"{folder.name}.tiktoken"
        if not ranks.is_file():
            raise Unsupported(str(reason)) from reason
        try:
            return Tokenizer.from_tiktoken(str(ranks), encoding=folder.name)
        except ValueError as error:
            raise Unsupported(str(error)) from error

    def encode_arrays(self, texts: list[str]) -> Any:
        return self.tokenizer.encode_batch_flat(texts)

    def encode_lists(self, texts: list[str]) -> Any:
        return [encoding.ids for encoding in self.tokenizer.encode_batch(texts)]

    def encode_one(self, texts: list[str]) -> Any:
        encode = self.tokenizer.encode
        return [encode(text) for text in texts]

    def columns(self, result: Any) -> Columns:
        return flat_buffers(result) if isinstance(result, tuple) else super().columns(result)
