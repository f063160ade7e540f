"""The files of sources, each with its number in the whole corpus, in groups that one task reads."""

from __future__ import annotations

import os
import socket
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from stat import S_ISREG

from lexmill._core import is_url, local_path
from lexmill._data import remote
from lexmill._data.corpus_warnings import warn_of_repeated
from lexmill._data.file_names import items_of
from lexmill._data.source_names import OneSource, sources_of
from lexmill.errors import FileError, OptionError
from lexmill.sources import Files, Lines, Source

__all__ = ["Group", "plan"]

_EDGE = 4096
"""Bytes at the beginning and at the end of a file by which two files of one size are told apart."""


@dataclass(frozen=True)
class InputFile:
    """A file as the driver sees it.

    Attributes:
        source: the reader of this file alone: a source, or a path whose lines are texts.
        path: the absolute path.
        bytes: its size.
        modified: when it was modified, in nanoseconds since 1970, by the driver's clock; 0 for a file of a store.
        edges: a checksum of its first and last bytes, or of the version of a file of a store.
    """

    source: Source | str
    path: str
    bytes: int
    modified: int
    edges: int

    def check(self) -> None:
        """Compares the file with the driver's view of it.

        Raises:
            FileError: the file is missing or another one.
        """
        found = _seen(self.path)
        host = socket.gethostname()
        if found[0] != self.bytes:
            message = f"{self.path} has {found[0]} bytes on {host} but {self.bytes} on the driver"
            raise FileError(message)
        if found[2] != self.edges:
            parts = "is another version" if is_url(self.path) else "begins or ends with other bytes"
            message = f"{self.path} {parts} on {host} than on the driver"
            raise FileError(message)

    def entry(self) -> dict[str, object]:
        """The file's entry in a manifest."""
        source = self.source if isinstance(self.source, str) else repr(self.source)
        return {"source": source, "bytes": self.bytes, "modified": self.modified, "edges": f"{self.edges:08x}"}


@dataclass(frozen=True)
class Group:
    """Neighbouring files that one task reads.

    Attributes:
        number: the number of the group.
        first_source: the number of the first file in the whole corpus.
        files: the files.
    """

    number: int
    first_source: int
    files: tuple[InputFile, ...]

    @property
    def bytes(self) -> int:
        """Bytes of all files."""
        return sum(file.bytes for file in self.files)

    @property
    def sources(self) -> list[Source | str]:
        """The readers of the files."""
        return [file.source for file in self.files]

    def check(self) -> None:
        """Compares the files with the driver's view of them.

        Raises:
            FileError: a file is missing or another one.
        """
        for file in self.files:
            file.check()


def plan(sources: OneSource | Iterable[OneSource], *, group_bytes: int, first_source: int = 0) -> list[Group]:
    """Divides the files of sources into groups; there is at least one group, which may be empty.

    The groups depend on the order and the sizes of the files alone: a group ends before the file that would take it
    beyond `group_bytes`. A larger file is a group of its own.

    Raises:
        FileError: a file is missing, or a pattern or folder has none.
        OptionError: a source is no file, or can be read only once.
    """
    if group_bytes < 1:
        message = f"group_bytes is {group_bytes} but must be at least 1"
        raise OptionError(message)
    given = [sources] if isinstance(sources, Source | str | os.PathLike) else items_of(sources, "sources")
    files = [file for source in given for file in _input_files(source)]
    warn_of_repeated(file.path for file in files)
    groups: list[Group] = []
    start, size = 0, 0
    for at, file in enumerate(files):
        if at > start and size + file.bytes > group_bytes:
            groups.append(_group(groups, files[start:at], first_source + start))
            start, size = at, 0
        size += file.bytes
    return [*groups, _group(groups, files[start:], first_source + start)]


def _group(before: Sequence[Group], files: Sequence[InputFile], first_source: int) -> Group:
    return Group(len(before), first_source, tuple(files))


def _input_files(given: OneSource) -> list[InputFile]:
    """The files of a source. Paths become absolute, since a worker may have another working folder."""
    files: list[InputFile] = []
    for source in sources_of([given]):
        if not isinstance(source, Files):
            message = f"{source!r} is on one machine only; tasks read files"
            raise OptionError(message)
        # The options of the call say how a path of text is read.
        is_path = isinstance(source, Lines) and not isinstance(given, Source)
        paths = [_absolute(path) for path in source._files()]
        files += [_input_file(path if is_path else replace(source, paths=(path,)), path) for path in paths]
    return files


def _absolute(path: str) -> str:
    if path == "-":
        message = "standard input is on one machine only; tasks read files"
        raise OptionError(message)
    return path if is_url(path) else str(Path(local_path(path)).absolute())


def _input_file(source: Source | str, path: str) -> InputFile:
    return InputFile(source, path, *_seen(path))


def _seen(path: str) -> tuple[int, int, int]:
    """Size, time of change and checksum of both ends of a file; of a file of a store, a checksum of its version."""
    if is_url(path):
        size, version = remote.status(path, is_now=True)
        return size, 0, zlib.crc32((version or "").encode())
    try:
        data = Path(path).stat()
        if not S_ISREG(data.st_mode):
            message = f"{path} can be read only once, or is no file"
            raise OptionError(message)
        with Path(path).open("rb") as file:
            edges = zlib.crc32(file.read(_EDGE))
            if data.st_size > _EDGE:
                file.seek(max(_EDGE, data.st_size - _EDGE))
                edges = zlib.crc32(file.read(_EDGE), edges)
    except OSError as error:
        message = f"cannot read it on {socket.gethostname()}: {error.strerror}"
        raise FileError(error.errno, message, path) from error
    return data.st_size, data.st_mtime_ns, edges
