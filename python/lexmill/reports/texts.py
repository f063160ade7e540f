"""The texts of a corpus in blocks, each with its file and, where the corpus tells, its language."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from lexmill._core import TextBlock, resident_bytes
from lexmill._data.corpus_warnings import warn_of_repeated, warn_of_skipped
from lexmill._data.file_names import is_compressed, size_of
from lexmill._data.source_names import OneSource, sources_of
from lexmill._types import OnProgress
from lexmill.errors import OptionError
from lexmill.sources import Csv, Files, JsonLines, Lines, Source, _Columns

__all__ = ["Block", "CorpusFile", "Progress", "blocks_of", "files_of"]


# Characters of a block: enough for threads to share. Tokenizers encode a block in turn, and each evicts the tables of
# the others from the processor's caches, so blocks are large.
_BLOCK = 1 << 22


@dataclass(frozen=True)
class CorpusFile:
    """One file of a corpus, or a source that is no file.

    Attributes:
        name: the path as it was given, or the kind of the source.
        source: reads the texts.
        languages: reads the language of each text, if the corpus tells; as many as there are texts.
        size: bytes of the file, or 0 if they do not tell how much text there is.
    """

    name: str
    source: Source
    languages: Source | None
    size: int


@dataclass(frozen=True)
class Block:
    """Some texts of one file, with the language of each if the corpus tells, and the characters of all."""

    file: int
    texts: TextBlock
    languages: list[str] | None
    characters: int


class Progress:
    """Tells how much text of all files is read."""

    def __init__(self, files: Sequence[CorpusFile], on_progress: OnProgress | None) -> None:
        """Begins to count the time; the total is known if each file tells how much text it has."""
        self._call = on_progress
        self._started = time.monotonic()
        self._total = sum(file.size for file in files) if all(file.size for file in files) else 0
        self._done = 0

    def add(self, size: int) -> None:
        """Tells of so many bytes more."""
        self._done += size
        if self._call is not None:
            known = min(self._done, self._total) if self._total else self._done
            self._call("read", known, self._total, self._seconds_left(), resident_bytes())

    def _seconds_left(self) -> float | None:
        """Seconds until all bytes are read, at the mean rate; None if the total is not known."""
        if not self._total or not self._done:
            return None
        return (time.monotonic() - self._started) * max(0, self._total - self._done) / self._done


def files_of(corpus: OneSource | Iterable[OneSource], group_by: str | None) -> list[CorpusFile]:
    """The files of sources, in order.

    Raises:
        FileError: a folder or pattern has no files.
        OptionError: `group_by` is given and a source has no such fields, or can be read once only.
    """
    files: list[CorpusFile] = []
    for source in sources_of(corpus):
        if not isinstance(source, Files):
            if group_by is not None:
                raise OptionError(_no_languages(group_by, repr(source)))
            files.append(CorpusFile(type(source).__name__, source, None, 0))
            continue
        for path in source._files():
            own = replace(source, paths=path)
            languages = None if group_by is None else _languages_of(own, path, group_by)
            name = "stdin" if path == "-" else path
            files.append(CorpusFile(name, own, languages, _size(path) if type(source) is Lines else 0))
    warn_of_repeated(file.name for file in files)
    return files


def blocks_of(files: Sequence[CorpusFile]) -> Iterator[Block]:
    """Reads the texts of files.

    Raises:
        FileError, InvalidUtf8Error, FormatError, TextTooLongError: as iterating over a source does.
    """
    for number, file in enumerate(files):
        opened = file.source._open()
        texts = iter(opened)
        # Both read all records, so they have as many.
        languages = None if file.languages is None else iter(file.languages._open())
        while True:
            block, characters = texts.take(_BLOCK)
            if not len(block):
                break
            own = None if languages is None else list(islice(languages, len(block)))
            yield Block(number, block, own, characters)
        warn_of_skipped(opened)


def _languages_of(source: Files, path: str, group_by: str) -> Source:
    """The source that reads the field `group_by` of the records of a file."""
    if not isinstance(source, JsonLines | Csv | _Columns) or path == "-":
        raise OptionError(_no_languages(group_by, path))
    if source.on_error == "skip":
        # The texts and the languages could be from different records.
        message = f"group_by is {group_by!r} but records that are skipped have no language; pass on_error='raise'"
        raise OptionError(message)
    return replace(source, field=group_by) if isinstance(source, JsonLines) else replace(source, column=group_by)


def _no_languages(group_by: str, what: str) -> str:
    return f"group_by is {group_by!r} but {what} is no file of JSON lines, CSV, Parquet or Arrow, which has fields"


def _size(path: str) -> int:
    """Bytes of a file whose bytes are text; 0 for others."""
    try:
        size = size_of(path)
        return size if size and not is_compressed(path) else 0
    except OSError:
        # The error comes when the file is read.
        return 0
