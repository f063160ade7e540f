"""tokie: `encode_batch` gives objects whose ids are read lazily; `encode_files` gives arrays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import tokie

from .base import SEPARATOR, Adapter, Columns, Unsupported


class Library(Adapter):
    """Threads come from `RAYON_NUM_THREADS`."""

    distribution = "tokie"

    def load(self, path: Path) -> None:
        try:
            self.tokenizer = tokie.Tokenizer.from_json(str(path))
        except tokie.TokieError as error:
            raise Unsupported(str(error)) from error

    def encode_arrays(self, texts: list[str]) -> Any:
        return self.tokenizer.encode_batch(texts, add_special_tokens=False)

    def encode_lists(self, texts: list[str]) -> Any:
        return [encoding.ids for encoding in self.tokenizer.encode_batch(texts, add_special_tokens=False)]

    def encode_one(self, texts: list[str]) -> Any:
        encode = self.tokenizer.encode
        return [encode(text, add_special_tokens=False) for text in texts]

    # Without a separator in it, the file is one document, as it is for the others.
    def encode_file(self, path: Path) -> Any:
        return self.tokenizer.encode_files([str(path)], separator=SEPARATOR)

    def count_tokens(self, texts: list[str]) -> Any:
        return self.tokenizer.count_tokens_batch(texts)

    def columns(self, result: Any) -> Columns:
        if not isinstance(result, tuple):
            return super().columns(result)
        ids, limits = result
        return ids, np.diff(limits.astype(np.int64))
