"""splintr-rs: `encode_batch_flat` gives two buffers; both batch calls add the special tokens of the template."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import splintr

from .base import Adapter, Columns, Unsupported, flat_buffers


class Library(Adapter):
    """Threads come from `RAYON_NUM_THREADS`."""

    distribution = "splintr-rs"

    def load(self, path: Path) -> None:
        try:
            self.tokenizer = splintr.from_json(str(path))
        except ValueError as error:
            raise Unsupported(str(error)) from error

    def encode_arrays(self, texts: list[str]) -> Any:
        return self.tokenizer.encode_batch_flat(texts)

    def encode_lists(self, texts: list[str]) -> Any:
        return self.tokenizer.encode_batch(texts)

    def encode_one(self, texts: list[str]) -> Any:
        encode = self.tokenizer.encode_raw
        return [encode(text) for text in texts]

    def columns(self, result: Any) -> Columns:
        ids, lengths = flat_buffers(result) if isinstance(result, tuple) else super().columns(result)
        before, after = self._template()
        if not before + after or len(ids) != lengths.sum():
            return ids, lengths
        inner = np.ones(len(ids), bool)
        ends = lengths.cumsum()
        for place in range(before):
            inner[ends - lengths + place] = False
        for place in range(after):
            inner[ends - 1 - place] = False
        return ids[inner], lengths - before - after

    def _template(self) -> tuple[int, int]:
        """How many special tokens the batch calls put before and after each text: they cannot leave them out."""
        raw, full = self.tokenizer.encode_raw("a"), self.tokenizer.encode("a")
        before = next(place for place in range(len(full)) if full[place : place + len(raw)] == raw)
        return before, len(full) - len(raw) - before
