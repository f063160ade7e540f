"""The texts that are encoded, and how they lie on disk, so that each process reads the same ones outside the clock."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

DOCUMENT_BYTES = 4096
SHORT_TEXTS = 20_000
SHORTEST, LONGEST = 20, 200
# A document without a safe place to cut ends at the first line after so many times its usual size.
_PATIENCE = 4


def documents(lines: Iterable[str], size: int = DOCUMENT_BYTES, *, safe: bool = True) -> Iterator[str]:
    """Joins lines, each with its line feed, to documents of more than `size` bytes of UTF-8.

    A cut stands after a single line feed and before a letter or digit. There no known byte-level splitter looks from
    one side to the other, so a library that reads the file as one text must give the same ids. Without `safe`, text
    that has no such place is cut at another line, so that documents stay short.
    """
    held: list[str] = []
    length = 0
    for line in lines:
        if length > size and (_may_cut(held[-1], line) or (length > size * _PATIENCE and not safe)):
            yield "".join(held)
            held, length = [], 0
        held.append(line)
        length += len(line.encode())
    if held:
        yield "".join(held)


def _may_cut(line: str, following: str) -> bool:
    before = line[-2:-1] or "\n"
    return line.endswith("\n") and not before.isspace() and following[:1].isalnum()


def read_lines(path: Path) -> Iterator[str]:
    """The lines of a file, each with its line feed; nothing else ends a line."""
    with path.open(encoding="utf-8", newline="\n") as lines:
        yield from lines


def short_texts(lines: Iterable[str], count: int = SHORT_TEXTS) -> list[str]:
    """The first `count` lines of 20 to 200 bytes with their ends, without these ends."""
    texts: list[str] = []
    for line in lines:
        if SHORTEST <= len(line.encode()) <= LONGEST:
            texts.append(line.rstrip("\n"))
            if len(texts) == count:
                break
    return texts


class TextFile:
    """Texts in a file, one after the other, and where each begins and ends in a second file beside it.

    A line feed follows each text that ends with none, so that the file read as one text keeps the words apart.
    """

    def __init__(self, folder: Path, name: str) -> None:
        """Names the files and touches neither."""
        self.path = folder / f"{name}.txt"
        self._spans = folder / f"{name}-spans.npy"

    def write(self, texts: Iterable[str]) -> None:
        """Writes texts, in memory that does not grow with them but for 16 bytes each."""
        spans = array("q")
        with self.path.open("wb") as file:
            start = 0
            for text in texts:
                end = start + file.write(text.encode())
                spans.extend((start, end))
                start = end + (0 if text.endswith("\n") else file.write(b"\n"))
        np.save(self._spans, np.asarray(spans, np.int64).reshape(-1, 2))

    def read(self) -> list[str]:
        """All texts."""
        data = self.path.read_bytes()
        return [data[start:end].decode() for start, end in np.load(self._spans).tolist()]

    def read_one(self, index: int) -> str:
        """One text."""
        start, end = np.load(self._spans)[index].tolist()
        with self.path.open("rb") as file:
            file.seek(start)
            return file.read(end - start).decode()

    @property
    def bytes(self) -> int:
        """Bytes of UTF-8 of all texts."""
        spans = np.load(self._spans)
        return int((spans[:, 1] - spans[:, 0]).sum())

    def __len__(self) -> int:
        """The number of texts."""
        return len(np.load(self._spans))
