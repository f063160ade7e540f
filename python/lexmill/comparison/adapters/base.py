"""The base of adapters: a method for each job that a library can do, and the reading of its results afterwards.

The passes time a job's method alone, so it holds the library's own call and nothing else. Everything that a fair
comparison needs but a user would not wait for stands in `load`, `prepare_training` and `columns`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

Columns = tuple["np.ndarray[Any, Any]", "np.ndarray[Any, Any]"]
Merges = list[tuple[bytes, bytes]]

# Some libraries cut a file at a separator and drop it; this one occurs in no text, `\x1e` alone does.
SEPARATOR = b"\x1e\x1flexmill\x1f\x1e"
GPT2_PATTERN = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
BYTES_OF_CHARS = dict(
    zip(
        [*map(chr, [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]), *map(chr, range(0x100, 0x144))],
        [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100), *range(0x21), *range(0x7F, 0xA1), 0xAD],
        strict=True,
    )
)


class Unsupported(Exception):
    """Raised when a library cannot do a job, or cannot load a tokenizer: a fact to report, no failure."""


class NotInstalled(Unsupported):
    """Raised when a library cannot be imported."""


class OtherVersion(NotInstalled):
    """Raised when a library is of a version with other calls."""


class Adapter:
    """Base of all adapters: every job is unsupported until a subclass has a method of its name.

    Methods by job: `encode_arrays` (the fastest kind of result), `encode_lists` (lists of Python ints),
    `encode_encodings` (objects with offsets), `encode_offsets` (the same, and ids and offsets read from each),
    `encode_one` (one call a text) and `count_tokens` take the texts, `encode_file` a path; `train_bpe`,
    `train_bpe_128k`, `train_wordpiece`, `train_wordpiece_likelihood`, `train_unigram` and `count_words` take
    the result of `prepare_training`. WordPiece learns 30,000 tokens after BERT's normalizer and splitter, Unigram
    16,000 pieces of words.
    """

    distribution: str
    # The start of the versions that have the calls of the adapter; empty if all have them.
    series = ""

    def __init__(self, threads: int) -> None:
        """Notes how many threads each call is to use."""
        self.threads = threads

    @property
    def version(self) -> str:
        """The version of the library."""
        return metadata.version(self.distribution)

    def load(self, path: Path) -> None:
        """Loads a `tokenizer.json`, or another form of it in the same folder; `Unsupported` if the library cannot."""
        raise Unsupported("does not load published tokenizers")

    def prepare_training(self, corpus: Path, scratch: Path) -> Any:
        """Brings a corpus into the form that the library trains from, before the clock starts."""
        return corpus

    def columns(self, result: Any) -> Columns:
        """Ids of all rows, and the rows' lengths: here of rows that are lists of ids, or objects with `ids`."""
        rows = [getattr(row, "ids", row) for row in result]
        return flat(rows), np.fromiter(map(len, rows), np.int64, len(rows))

    def merges(self, result: Any) -> Merges | None:
        """The merges learnt, as bytes, in order; none where the library's rule for ties or spaces is another."""
        return None

    def word_counts(self, result: Any) -> Iterable[tuple[bytes, int]] | None:
        """Words and counts, in any order; none where the library keeps them to itself."""
        return None


def flat(rows: Sequence[Any]) -> np.ndarray[Any, Any]:
    """Joins rows of ids."""
    return np.concatenate([np.asarray(row, np.uint32) for row in rows]) if rows else np.empty(0, np.uint32)


def flat_buffers(result: tuple[bytes, bytes]) -> Columns:
    """Reads ids as little-endian `uint32` and the rows' limits as `uint64`."""
    ids, limits = result
    return np.frombuffer(ids, "<u4"), np.diff(np.frombuffer(limits, "<u8").astype(np.int64))


def token_bytes(token: str) -> bytes:
    """The bytes that a byte-level token's characters stand for."""
    return bytes(BYTES_OF_CHARS[char] for char in token)
