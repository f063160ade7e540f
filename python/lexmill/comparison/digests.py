"""Facts that show that a result is right, whichever form a library gives its results in."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .adapters import Adapter

ENCODING_JOBS = [
    "encode-arrays",
    "encode-lists",
    "encode-encodings",
    "encode-offsets",
    "encode-file",
    "encode-one",
    "count-tokens",
]
# Of these, only merges and counted words can be compared.
BPE_JOBS = ["train-bpe", "train-bpe-128k"]
TRAINING_JOBS = [*BPE_JOBS, "train-wordpiece", "train-wordpiece-likelihood", "train-unigram", "count-words"]
OFFSET_JOBS = ["encode-encodings", "encode-offsets"]
# Texts that the reference encodes at once: its results for a whole corpus may not fit memory.
STEP = 500

Numbers = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Rows:
    """Encoded texts: ids of all rows, the rows' lengths, and offsets where the job has them, a pair an id."""

    ids: Numbers
    lengths: Numbers
    offsets: Numbers | None = None


def rows_of(adapter: Adapter, job: str, result: Any) -> Rows:
    """Reads the result of an encoding job."""
    if job == "count-tokens":
        return Rows(np.empty(0, np.uint32), np.fromiter(result, np.int64, len(result)))
    if job not in OFFSET_JOBS:
        return Rows(*adapter.columns(result))
    # Of `encode-offsets`, rows are ids and offsets that are read already.
    is_read = job == "encode-offsets"
    ids, lengths = adapter.columns([row[0] for row in result] if is_read else result)
    pairs = [row[1] if is_read else row.offsets for row in result]
    return Rows(ids, lengths, _joined([np.asarray(row, np.uint32).reshape(-1, 2) for row in pairs], (0, 2)))


def expected_rows(adapter: Any, job: str, texts: list[str]) -> Iterator[Rows]:
    """The rows of an encoding job as the reference has them, some texts at a time."""
    for start in range(0, len(texts), STEP):
        found = adapter.encode_encodings(texts[start : start + STEP])
        rows = rows_of(adapter, "encode-encodings", found) if job in OFFSET_JOBS else Rows(*adapter.columns(found))
        yield Rows(np.empty(0, np.uint32), rows.lengths) if job == "count-tokens" else rows


class Encoded:
    """Digests encoded texts, at once or step by step: ids, the rows' lengths, and offsets where the job has them."""

    def __init__(self, job: str) -> None:
        """Digests nothing yet."""
        self._parts = {"ids": hashlib.sha256()}
        # One file is one row to some libraries and many to none; its ids alone are compared.
        if job != "encode-file":
            self._parts["lengths"] = hashlib.sha256()
        if job in OFFSET_JOBS:
            self._parts["offsets"] = hashlib.sha256()
        # The numbers of tokens are all that counting tells.
        if job == "count-tokens":
            del self._parts["ids"]

    def add(self, rows: Rows) -> None:
        """Adds some rows."""
        for name, part in self._parts.items():
            part.update(np.ascontiguousarray(getattr(rows, name), "<i8" if name == "lengths" else "<u4").tobytes())

    def hexdigest(self) -> str:
        """The digest of the parts' digests."""
        return hashlib.sha256("".join(part.hexdigest() for part in self._parts.values()).encode()).hexdigest()


def training_facts(adapter: Adapter, job: str, result: Any) -> list[Any] | None:
    """The facts that two trainings must have in common, in order; None where results cannot be compared."""
    facts: Iterable[Any] | None = None
    if job in BPE_JOBS:
        facts = adapter.merges(result)
    elif job == "count-words":
        facts = adapter.word_counts(result)
    if facts is None:
        return None
    return list(facts) if job in BPE_JOBS else sorted(facts)


def digest(adapter: Adapter, job: str, result: Any) -> str | None:
    """SHA-256 of the facts that a right result shares with the reference's; None where results cannot be compared."""
    if job in TRAINING_JOBS:
        facts = training_facts(adapter, job, result)
        return None if facts is None else digest_facts(facts)
    encoded = Encoded(job)
    encoded.add(rows_of(adapter, job, result))
    return encoded.hexdigest()


def digest_facts(facts: list[Any]) -> str:
    """The digest of a training's facts."""
    sha = hashlib.sha256()
    for fact in facts:
        sha.update(repr(fact).encode())
    return sha.hexdigest()


def file_digest(path: Path) -> str:
    """SHA-256 of a file."""
    sha = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            sha.update(block)
    return sha.hexdigest()


def _joined(rows: list[Numbers], empty: tuple[int, ...]) -> Numbers:
    return np.concatenate(rows) if rows else np.empty(empty, np.uint32)
