"""The one rule of sources in all calls: objects of `lexmill.sources`, or paths whose names say the format."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import groupby
from typing import Literal, NamedTuple, TypeAlias

from lexmill._core import FileSource, input_path
from lexmill._data.file_names import (
    TEXT,
    Kind,
    files_of,
    in_folder,
    is_folder,
    is_pattern,
    is_table,
    items_of,
    kind_of,
    matches,
    way_on,
)
from lexmill.errors import InputTypeError, OptionError
from lexmill.sources import Arrow, Csv, Files, JsonLines, Lines, Parquet, Source

__all__ = ["OneSource", "Reading", "opened", "source_of", "sources_of"]

OneSource: TypeAlias = Source | str | os.PathLike[str]
"""What calls take as a source: itself, or a path, whose name says how texts are found."""


class Reading(NamedTuple):
    """How files are read that are given by paths.

    Attributes:
        kind: the format of all files; None for the format that each name says.
        field: the field or column that holds the texts of records.
        errors: `strict`, or `replace` to read bytes that are not UTF-8 as U+FFFD.
        on_error: `raise`, or `skip` to leave out broken records.
        unnamed: the formats that no name but `kind` may choose: a file whose name says nothing is text, unless None is
            among them.
    """

    kind: Kind | None = None
    field: str = "text"
    errors: Literal["strict", "replace"] = "strict"
    on_error: Literal["raise", "skip"] = "raise"
    unnamed: frozenset[Kind | None] = frozenset()


_DEFAULT = Reading()


def sources_of(given: OneSource | Iterable[OneSource], reading: Reading = _DEFAULT) -> list[Source]:
    """The sources that are given, and a source for each path, folder and pattern.

    Raises:
        FileError: a folder or pattern has no files.
        InputTypeError: something is neither a source nor a path.
        OptionError: a name does not say how texts are found, or a folder has files of several formats.
    """
    items = [given] if isinstance(given, Source | str | os.PathLike) else items_of(given, "files")
    return [source for item in items for source in _sources_of_one(item, reading)]


def source_of(given: OneSource, reading: Reading = _DEFAULT) -> Source:
    """The source for a file, a folder or a pattern, whose files are of one format."""
    found = sources_of(given, reading)
    if len(found) > 1:
        message = f"{given} stands for files of several formats; give each of them by itself"
        raise OptionError(message)
    return found[0]


def opened(given: Iterable[OneSource], errors: Literal["strict", "replace"]) -> list[FileSource]:
    """The sources that are given, opened."""
    return [source._open() for source in sources_of(items_of(given, "files"), Reading(errors=errors))]


def _sources_of_one(item: OneSource, reading: Reading) -> list[Source]:
    if isinstance(item, Source):
        return [item]
    if isinstance(item, Mapping) or is_table(item):
        hint = way_on(item) or "; rows of a table are read by lexmill.sources.ArrowStream, which takes the whole table"
        message = f"files have an item of type {type(item).__name__} but must be paths or sources{hint}"
        raise InputTypeError(message)
    path = input_path(item)
    if reading.kind is not None:
        return [_reader(reading.kind, path, reading)]
    if path != "-" and is_folder(path):
        return [_reader(_named(_kind_of_folder(path), path, reading), path, reading)]
    if is_pattern(path) and kind_of(path) is None:
        return _sources_of_pattern(path, reading)
    return [_reader(_named(kind_of(path), path, reading), path, reading)]


def _kind_of_folder(folder: str) -> Kind | None:
    """The format of the files of a folder. Files whose names say nothing are left out where others say a format.

    Raises:
        OptionError: they have several.
    """
    kinds = {kind_of(file) for file in in_folder(folder)}
    named = kinds - {None}
    if len(named) > 1:
        known = ", ".join(sorted(kind for kind in named if kind))
        message = f"{folder} holds files of several formats, {known}: name those to read by a pattern, or their format"
        raise OptionError(message)
    return "lines" if named == {"lines"} and None not in kinds else next(iter(named - {"lines"}), None)


def _sources_of_pattern(pattern: str, reading: Reading) -> list[Source]:
    """The sources for a pattern that says no format: each file is read as its own name says."""
    files: dict[str, Kind] = {}
    for match, is_inner in matches(pattern).items():
        if is_inner:
            kind = _kind_of_folder(match)
            inner = [file for file in in_folder(match) if kind is None or kind_of(file) == kind]
            files |= {file: _named(kind, file, reading) for file in inner}
        else:
            files[match] = _named(kind_of(match), match, reading)
    if not files:
        # Raises.
        files_of([pattern], TEXT)
    return [
        replace(_reader(kind, pattern, reading), paths=tuple(group))
        for kind, group in groupby(sorted(files), key=files.__getitem__)
    ]


def _named(kind: Kind | None, path: str, reading: Reading) -> Kind:
    """The format that a name says; text if it says nothing.

    Raises:
        OptionError: that does not do.
    """
    if kind not in reading.unnamed:
        return kind or "lines"
    what = "standard input (-)" if path == "-" else path
    message = f"{what} does not say how texts are found in it; pass a source such as lexmill.sources.Lines"
    raise OptionError(message)


def _reader(kind: Kind, path: str, reading: Reading) -> Files:
    field, errors, on_error = reading.field, reading.errors, reading.on_error
    if kind == "lines":
        return Lines(path, errors=errors)
    if kind == "jsonl":
        return JsonLines(path, field=field, errors=errors, on_error=on_error)
    if kind in ("parquet", "arrow"):
        read = Parquet if kind == "parquet" else Arrow
        return read(path, column=field, errors=errors, on_error=on_error)
    return Csv(path, column=field, delimiter="\t" if kind == "tsv" else ",", errors=errors, on_error=on_error)
