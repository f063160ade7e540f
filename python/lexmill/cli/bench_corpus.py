"""The texts of `lexmill bench`: read once, cut at a size, and laid out for the processes that measure."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from lexmill.cli.options import ReadOptions
from lexmill.cli.sources import named_sources
from lexmill.comparison.digests import file_digest
from lexmill.comparison.expected import DOCUMENTS, SHORT
from lexmill.comparison.texts import TextFile, documents, read_lines, short_texts
from lexmill.errors import EmptyCorpusError
from lexmill.sources import Lines, Source

__all__ = ["PreparedTexts", "prepare"]

# Of texts without a line of the usual length, this many characters of each are a short text.
_SHORT_CHARS = 100


@dataclass(frozen=True)
class PreparedTexts:
    """Prepared texts.

    Attributes:
        folder: where they lie.
        texts: their number.
        bytes: their bytes of UTF-8.
        sha256: the digest of the file that holds them.
    """

    folder: Path
    texts: int
    bytes: int
    sha256: str


def prepare(
    files: list[str],
    folder: Path,
    *,
    limit: int,
    document_bytes: int,
    read: ReadOptions,
) -> PreparedTexts:
    """Writes the first `limit` bytes of the texts in `files`, whole documents, to `folder`.

    Raises:
        UsageError: the name of a file does not say how texts are found in it.
        EmptyCorpusError: there is no text.
        FileError, FormatError, InvalidUtf8Error: a file cannot be read.
    """
    sources = named_sources(files, read)
    kept, short = TextFile(folder, DOCUMENTS), TextFile(folder, SHORT)
    kept.write(_cut(itertools.chain.from_iterable(_documents(source, document_bytes) for source in sources), limit))
    if not len(kept):
        message = f"{', '.join(files)}: there is no text"
        raise EmptyCorpusError(message)
    short.write(short_texts(read_lines(kept.path)) or [text[:_SHORT_CHARS] for text in kept.read()])
    return PreparedTexts(folder, len(kept), kept.bytes, file_digest(kept.path))


def _documents(source: Source, document_bytes: int) -> Iterator[str]:
    """The texts of a source; lines of text files are joined, since programs seldom encode a line alone."""
    if isinstance(source, Lines) and document_bytes:
        return documents(source, document_bytes, safe=False)
    return iter(source)


def _cut(texts: Iterable[str], limit: int) -> Iterator[str]:
    """Texts that are not empty, up to `limit` bytes together; a first one that is longer is cut itself."""
    size = 0
    for text in texts:
        data = text.encode()
        if size + len(data) > limit:
            if not size:
                yield data[:limit].decode(errors="ignore")
            return
        size += len(data)
        if text:
            yield text
