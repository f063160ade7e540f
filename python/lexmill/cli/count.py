"""`lexmill count`: how many tokens text files have."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lexmill.cli.display import columns, printable
from lexmill.cli.encode import Source, encode_groups
from lexmill.cli.outcome import Outcome

__all__ = ["count"]


@dataclass(frozen=True)
class _Count:
    path: str
    tokens: int
    size: int

    @property
    def as_json(self) -> dict[str, object]:
        return {"path": self.path, "tokens": self.tokens, "bytes": self.size}

    @property
    def cells(self) -> tuple[str, ...]:
        ratio = f"{self.size / self.tokens:.2f}" if self.tokens else "-"
        return f"{self.tokens:,}", f"{self.size:,}", ratio, printable(self.path)


def count(source: Source) -> Outcome:
    """Counts the tokens of each file, and of all."""
    counts = [
        _Count(path, int(tokens), size)
        for part in encode_groups(source)
        for path, size, tokens in zip(part.files, part.sizes, np.diff(part.arrays.row_splits), strict=True)
    ]
    total = _Count("total", sum(count.tokens for count in counts), sum(count.size for count in counts))
    shown = [*counts, total] if len(counts) > 1 else counts
    table = [("tokens", "bytes", "bytes/token", "file"), *(count.cells for count in shown)]
    data: dict[str, object] = {
        "files": [count.as_json for count in counts],
        "tokens": total.tokens,
        "bytes": total.size,
    }
    return Outcome(data, text=columns(table, ">>><"))
