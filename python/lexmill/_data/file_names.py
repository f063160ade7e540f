"""From paths, folders and patterns to files, and from the name of a file to its format.

pathlib takes longer to import than a short file to encode, so only folders and patterns import it.
"""

from __future__ import annotations

import errno
import glob
import os
import re
import stat
from collections.abc import Collection, Iterable, Mapping, Set
from types import ModuleType
from typing import Any, Literal, TypeAlias

from lexmill._core import binary_start, input_path, is_url
from lexmill.errors import FileError, InputTypeError

__all__ = [
    "TEXT",
    "Kind",
    "files_of",
    "in_folder",
    "is_compressed",
    "is_folder",
    "is_pattern",
    "is_table",
    "items_of",
    "kind_of",
    "matches",
    "paths_of",
    "size_of",
    "way_on",
]

Kind: TypeAlias = Literal["jsonl", "csv", "tsv", "lines", "parquet", "arrow"]

# By the ends of names, without the end that names a compression.
_KINDS: dict[str, Kind] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".txt": "lines",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
}
_COMPRESSED = (".gz", ".zst", ".xz", ".bz2")

_START = 16
"""Bytes that tell a compression or another format than text."""

TEXT: frozenset[Kind | None] = frozenset(["lines", None])
"""The formats of plain text: `lines`, and None for a name without a known end."""


def kind_of(path: str | os.PathLike[str]) -> Kind | None:
    """The format that the name of a file says, if it says one."""
    name = os.fspath(path).lower()
    if name.startswith(("http://", "https://")):
        name = name.partition("#")[0].partition("?")[0]
    stem, end = os.path.splitext(name)  # noqa: PTH122
    if end in _COMPRESSED:
        _, end = os.path.splitext(stem)  # noqa: PTH122
    return _KINDS.get(end)


def is_compressed(path: str) -> bool:
    """True if a file has to be decompressed."""
    if is_url(path):
        return binary_start(_remote().first_bytes(path, _START)) is not None
    with open(path, "rb") as file:  # noqa: PTH123
        return binary_start(file.read(_START)) is not None


def size_of(path: str) -> int | None:
    """Bytes of a file; None if it is no regular file.

    Raises:
        OSError: it is not there, or its store gives no answer.
    """
    if is_url(path):
        size: int = _remote().status(path, is_now=False).size
        return size
    data = os.stat(path)  # noqa: PTH116 (pathlib takes time to import)
    return data.st_size if stat.S_ISREG(data.st_mode) else None


def _remote() -> ModuleType:
    # Not everybody who reads files reads URLs.
    from lexmill._data import remote

    return remote


def _remote_names() -> ModuleType:
    from lexmill._data import remote_names

    return remote_names


def paths_of(given: object) -> list[str]:
    """One path or several.

    Raises:
        InputTypeError: the argument is no path and no list of paths.
        RemotePathError: a path was a URL before pathlib made a path of it.
    """
    if isinstance(given, str | os.PathLike):
        return [input_path(given)]
    return [input_path(path) for path in items_of(given, "paths")]


def items_of(given: object, name: str) -> list[Any]:
    """The items of a list, a tuple or another iterable in an order of its own.

    Raises:
        InputTypeError: the argument has no items, no order, or items of another kind.
    """
    is_text = isinstance(given, str | bytes | bytearray | memoryview)
    # The items of a table are its rows or the names of its columns.
    if isinstance(given, Iterable) and not (is_text or isinstance(given, Mapping | Set) or is_table(given)):
        return list(given)
    message = f"{name} is of type {type(given).__name__} but must be a list of paths or sources{way_on(given)}"
    raise InputTypeError(message)


def is_table(given: object) -> bool:
    """True if an object has columns, such as a data frame or a data set, whose items are rows or names."""
    return hasattr(given, "column_names") or hasattr(given, "columns")


def way_on(given: object) -> str:
    """How the texts of a table are read, as the end of a message; nothing of other objects."""
    if isinstance(given, Mapping):
        has_tables = any(is_table(value) for value in given.values())
        return "; pass one of its tables, as lexmill.sources.ArrowStream" if has_tables else ""
    if not is_table(given):
        return ""
    # Hugging Face's data sets may have an order other than their table's, which `with_format` follows.
    table = 'dataset.with_format("arrow")[:]' if hasattr(given, "with_format") else "table"
    return f"; pass [ArrowStream({table})] of lexmill.sources, with the name of the column"


def files_of(paths: Iterable[str], kinds: Collection[Kind | None]) -> list[str]:
    """The files that paths, folders and patterns stand for; of a folder, the files whose names fit one of the formats.

    Raises:
        FileError: a pattern or folder has no file.
    """
    return [file for path in paths for file in _expanded(path, kinds)]


def _expanded(path: str, kinds: Collection[Kind | None]) -> list[str]:
    if path == "-":
        try:
            # Rust takes a descriptor that is closed, or not open for reading, for one at its end.
            os.read(0, 0)
        except OSError as error:
            raise FileError(error.errno, "standard input is not open for reading", path) from error
        return [path]
    if is_folder(path):
        if files := _fitting(path, kinds):
            return files
        ends = " or ".join(end for end, kind in _KINDS.items() if kind in kinds)
        which = "to read as text" if None in kinds else f"whose name ends in {ends}"
        raise FileError(errno.EISDIR, f"is a directory, but no file is there {which}", path)
    if not is_pattern(path):
        return [path]
    found: set[str] = set()
    for match, is_inner in matches(path).items():
        found.update(_fitting(match, kinds) if is_inner else [match])
    if not found:
        raise FileError(errno.ENOENT, "no file is there", path)
    return sorted(found)


def is_folder(path: str) -> bool:
    """True if a path leads to a folder; takes a third of the time of pathlib."""
    return bool(_remote_names().is_folder(path)) if is_url(path) else os.path.isdir(path)  # noqa: PTH112


def is_pattern(path: str) -> bool:
    """True if a path is a pattern and not a file whose name looks like one."""
    if not glob.has_magic(path):
        return False
    return bool(_remote_names().is_pattern(path)) if is_url(path) else not os.path.exists(path)  # noqa: PTH110


def in_folder(folder: str) -> list[str]:
    """The files of a folder and of the folders in it, in the order of their names.

    Names that begin with a dot or an underscore are left out: programs give them to files without data, such as
    `_SUCCESS`, `_temporary` and `.part-0.crc`. Links to folders are not followed: they may lead in a circle.

    Raises:
        FileError: a folder in it cannot be read.
    """
    if is_url(folder):
        return list(_remote_names().in_folder(folder))
    from pathlib import Path

    files: list[Path] = []
    try:
        for inner, folders, names in os.walk(folder, onerror=_raise):
            folders[:] = [name for name in folders if name[0] not in "._"]
            files += [Path(inner, name) for name in names if name[0] not in "._"]
        return [str(file) for file in sorted(files) if file.is_file()]
    except OSError as error:
        raise FileError(error.errno, error.strerror, error.filename) from None


def _raise(error: OSError) -> None:
    raise error


def _fitting(folder: str, kinds: Collection[Kind | None]) -> list[str]:
    return [file for file in in_folder(folder) if kind_of(file) in kinds]


def matches(pattern: str) -> dict[str, bool]:
    """The files and folders that match a pattern, in the order of their names, each with True if it is a folder.

    A folder or a marker without an ending that begins with an underscore, such as `_temporary` and `_SUCCESS`, has to
    be named: no wildcard stands for it.
    """
    if is_url(pattern):
        return dict(_remote_names().matches(pattern, kind_of))
    from pathlib import Path

    parts = Path(pattern).parts
    is_named = any(part.startswith("_") for part in parts)
    is_recursive = "**" in parts
    if parts and parts[-1] == "**" and pattern.endswith(os.sep):
        # Folders alone, the outermost one among them.
        return {}

    def is_wanted(match: str, *, is_dir: bool) -> bool:
        path = Path(match)
        if is_dir:
            return (is_named or not path.name.startswith("_")) and not (is_recursive and path.is_symlink())
        return path.is_file() and (is_named or not path.name.startswith("_") or kind_of(path) is not None)

    found = ((match, is_folder(match)) for match in sorted(_matches(pattern)))
    return {match: is_dir for match, is_dir in found if is_wanted(match, is_dir=is_dir)}


def _matches(pattern: str) -> set[str]:
    """The matches of a pattern, as `glob` has them; but `**` follows no links to folders, which may form a circle."""
    pattern = pattern.replace(os.altsep, os.sep) if os.altsep else pattern
    # Not as a Path, to which a separator at the end says nothing.
    recursive = re.search(rf"(?:^|(?<={re.escape(os.sep)}))\*\*(?:{re.escape(os.sep)}|$)", pattern)
    if recursive is None:
        return set(glob.glob(pattern))  # noqa: PTH207 (any pattern)
    before, rest = pattern[: recursive.start()], pattern[recursive.end() :]
    rest = rest or ("" if recursive[0].endswith(os.sep) else "*")
    found: set[str] = set()
    for top in _matches(before) if before else [""]:
        for folder, inner, _ in os.walk(top or os.curdir):
            # As elsewhere in patterns, a name that begins with a dot has to be spelled; so has a folder without data.
            inner[:] = [name for name in inner if name[0] not in "._"]
            folder = folder if top else os.path.relpath(folder)
            found |= _matches(os.path.join("" if folder == os.curdir else glob.escape(folder), rest))  # noqa: PTH118 (a pattern)
    return found
