"""Conversations of files and tables, one after the other, in memory that does not grow with them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from typing import Any

from lexmill._core import FileSource, local_path
from lexmill._data.corpus_warnings import SHOWN, warn_of_records
from lexmill._data.source_names import Reading, sources_of
from lexmill.errors import FormatError, InputTypeError, LexmillError, MissingFileError, OptionError
from lexmill.messages.conversations import Conversation, conversation_of
from lexmill.sources import Arrow, ArrowStream, JsonLines, Parquet, Source

__all__ = ["Conversations", "read_conversations"]

Conversations = Source | str | os.PathLike[str] | Iterable[Any]
"""A source, the path of one, or conversations themselves."""

_FIELD = "messages"
_BESIDE = ("tools", "documents", "system")
_BATCH = 256


def read_conversations(given: Conversations) -> Iterator[Conversation]:
    """Conversations of a source, of files by their names, or of an iterable.

    JSON lines are objects with the conversation in `field`, or in `conversations` in ShareGPT's shape, and with `tools`
    and `documents` beside it. Parquet and Arrow have columns of these names: lists of structs, or JSON in strings.

    Args:
        given: a `JsonLines`, `Parquet`, `Arrow` or `ArrowStream`, whose field or column holds the messages; a path,
            whose name says the format and whose field is `messages`; or an iterable of lists of messages and of such
            objects.

    Raises:
        FileError: a file is missing, cannot be read or is damaged.
        FormatError: a record is no conversation, with `on_error="raise"`; the message has its place.
        InputTypeError: the argument is none of these.
        LexmillError: a table is given, and pyarrow is not installed.
        OptionError: a source has another format.

    Warns:
        SkippedRecordsWarning: records were left out, with `on_error="skip"`.
    """
    if isinstance(given, Source | str | os.PathLike):
        for source in sources_of(given, Reading(field=_FIELD)):
            yield from _read_source(source)
        return
    if not isinstance(given, Iterable) or isinstance(given, dict):
        message = f"conversations are a {type(given).__name__} but must be a source, a path or an iterable of them"
        raise InputTypeError(message)
    for number, record in enumerate(given):
        place = f"conversation {number:,}"
        try:
            yield conversation_of(record, place=place)
        except (FormatError, InputTypeError) as error:
            raise type(error)(f"{place}: {error}") from error


def _read_source(source: Source) -> Iterator[Conversation]:
    if isinstance(source, JsonLines):
        records, field = _json_records(source), source.field
    elif isinstance(source, Parquet | Arrow | ArrowStream):
        records, field = _table_records(source), source.column
    else:
        message = f"{source!r} holds texts, but conversations are read from JsonLines, Parquet, Arrow and ArrowStream"
        raise OptionError(message)
    skipped: list[str] = []
    count = 0
    for place, record in records:
        try:
            found = conversation_of(_record(record), field.split(".")[-1], place)
        except (FormatError, InputTypeError) as error:
            if source.on_error == "raise":
                raise FormatError(f"{place}: {error}") from error
            count += 1
            if len(skipped) < SHOWN:
                skipped.append(f"{place}: {error}")
        else:
            yield found
    warn_of_records(count, skipped)


def _record(record: object) -> object:
    """The record of a line, or the error in its place."""
    if isinstance(record, LexmillError):
        raise record
    return record


def _json_records(source: JsonLines) -> Iterator[tuple[str, object]]:
    # Of `a.messages`, the object `a` is the record.
    inner = source.field.split(".")[:-1]
    for path in source._files():
        for number, line in enumerate(FileSource([path], errors=source.errors), 1):
            if not line.isspace():
                yield f"{path}, line {number:,}", _parsed(line, inner)


def _parsed(line: str, inner: list[str]) -> object:
    try:
        record = json.loads(line)
    # Numbers and nesting have limits of their own.
    except (ValueError, RecursionError) as error:
        return FormatError(f"no JSON: {error}")
    for name in inner:
        if not isinstance(record, dict) or name not in record:
            return FormatError(f"no field {name!r}")
        record = record[name]
    return record


def _pyarrow(module: str) -> Any:  # noqa: ANN401 (a module that may be absent)
    import importlib

    try:
        return importlib.import_module(module)
    except ImportError as error:
        message = "columns of messages need the package pyarrow: pip install pyarrow"
        raise LexmillError(message) from error


def _table_records(source: Parquet | Arrow | ArrowStream) -> Iterator[tuple[str, object]]:
    if "." in source.column:
        message = f"column is {source.column!r}, but messages are read from a column of the table itself"
        raise OptionError(message)
    if isinstance(source, ArrowStream):
        batches = _pyarrow("pyarrow").RecordBatchReader.from_stream(source.data)
        yield from _rows("the table", source.column, batches)
        return
    for path in map(local_path, source._files()):
        yield from _rows(path, source.column, _batches(path, source))


def _batches(path: str, source: Parquet | Arrow) -> Iterator[Any]:
    errors = _pyarrow("pyarrow").lib
    try:
        if isinstance(source, Parquet):
            file = _pyarrow("pyarrow.parquet").ParquetFile(path)
            names = [name for name in file.schema_arrow.names if name in (source.column, "conversations", *_BESIDE)]
            yield from file.iter_batches(batch_size=_BATCH, columns=names)
            return
        ipc = _pyarrow("pyarrow.ipc")
        with _pyarrow("pyarrow").memory_map(path) as mapped:
            if mapped.read(6) == b"ARROW1":
                reader = ipc.open_file(mapped)
                yield from (reader.get_batch(number) for number in range(reader.num_record_batches))
            else:
                mapped.seek(0)
                yield from ipc.open_stream(mapped)
    except (errors.ArrowInvalid, errors.ArrowTypeError) as error:
        raise FormatError(f"{path}: {error}") from error
    except FileNotFoundError as error:
        raise MissingFileError(f"{path}: {error}") from error


def _rows(name: str, column: str, batches: Iterable[Any]) -> Iterator[tuple[str, object]]:
    number = 0
    for batch in batches:
        wanted = [one for one in batch.schema.names if one in (column, "conversations", *_BESIDE)]
        for start in range(0, batch.num_rows, _BATCH):
            for record in batch.select(wanted).slice(start, _BATCH).to_pylist():
                yield f"{name}, row {number:,}", record
                number += 1
