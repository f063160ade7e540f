"""Records of files in blocks: one process reads them, and another one may parse them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from lexmill._core import FileSource, TextIterator, is_url
from lexmill._data.optional import optional_module
from lexmill._data.remote_stream import RemoteStream
from lexmill.errors import FormatError, InputTypeError, InvalidUtf8Error, LexmillError, MissingFileError, OptionError
from lexmill.messages.conversations import Conversation, conversation_of, is_plain_json
from lexmill.sources import Arrow, ArrowStream, JsonLines, Parquet, Source

__all__ = ["Block", "conversation_in", "field_of", "read_blocks", "records_in"]

_BESIDE = ("tools", "documents", "system")
"""Columns of a conversation beside its messages."""

_ROWS = 256
_CHARACTERS = 1 << 20


class Block(NamedTuple):
    """Neighbouring records of one file.

    Attributes:
        file: the number of the file among the files of its source.
        name: its name, for messages of errors.
        first: the number of the first record in the file, from 0 on.
        records: lines; or rows, as `_Rows`.
        read: bytes of the file, as it lies on the disk, up to the end of the block.
    """

    file: int
    name: str
    first: int
    records: list[str] | _Rows
    read: int


class _Rows:
    """Rows of a table. Pickling copies only these rows, even if the batch is a slice of a larger one."""

    def __init__(self, batch: Any) -> None:  # noqa: ANN401 (of pyarrow, which may be absent)
        self.batch = batch

    def __reduce__(self) -> tuple[Callable[[bytes], _Rows], tuple[bytes]]:
        sink = _pyarrow("pyarrow").BufferOutputStream()
        with _pyarrow("pyarrow.ipc").new_stream(sink, self.batch.schema) as stream:
            stream.write_batch(self.batch)
        return _read_rows, (sink.getvalue().to_pybytes(),)


def _read_rows(data: bytes) -> _Rows:
    return _Rows(next(iter(_pyarrow("pyarrow.ipc").open_stream(data))))


def field_of(source: Source) -> str:
    """The field or column of the messages.

    Raises:
        OptionError: the source holds texts, or its column is within another.
    """
    if isinstance(source, JsonLines):
        return source.field
    if not isinstance(source, Parquet | Arrow | ArrowStream):
        message = f"{source!r} holds texts, but conversations are read from JsonLines, Parquet, Arrow and ArrowStream"
        raise OptionError(message)
    if "." in source.column:
        message = f"column is {source.column!r}, but messages are read from a column of the table itself"
        raise OptionError(message)
    return source.column


def read_blocks(
    source: Source, files: Sequence[str], lines: int = _ROWS, begin: tuple[int, int] = (0, 0)
) -> Iterator[Block]:
    """The records of a source.

    Args:
        source: a `JsonLines`, `Parquet`, `Arrow` or `ArrowStream`.
        files: its files; none of a stream.
        lines: lines of a block at most.
        begin: where reading begins: the number of a file, and of a record in this file.

    Raises:
        FileError: a file is missing, cannot be read or is damaged.
        FormatError: a table is broken.
        InvalidUtf8Error: JSON lines have other bytes than UTF-8, with `errors="strict"`.
        LexmillError: a table is given, and pyarrow is not installed.
    """
    field = field_of(source)
    if isinstance(source, ArrowStream):
        batches = _pyarrow("pyarrow").RecordBatchReader.from_stream(source.data)
        yield from _row_blocks(Block(0, "the table", 0, [], 0), ((_sound(batch, field), 0) for batch in batches))
        return
    for number, path in enumerate(files[begin[0] :], begin[0]):
        start = Block(number, path, begin[1] if number == begin[0] else 0, [], 0)
        if isinstance(source, JsonLines):
            yield from _line_blocks(start, source, lines)
        elif isinstance(source, Parquet | Arrow):
            yield from _row_blocks(start, _batches(path, source))


def _line_blocks(start: Block, source: JsonLines, count: int) -> Iterator[Block]:
    lines = iter(FileSource([start.name], errors=source.errors))
    first = start.first
    try:
        for _ in islice(lines, first):
            pass
        while found := _some(lines, count):
            yield start._replace(first=first, records=found, read=lines.read_bytes())
            first += len(found)
    except InvalidUtf8Error as error:
        # The core advises an option that calls with conversations do not have.
        message = (
            f"{str(error).rsplit('; pass ', 1)[0]}; to read such bytes as U+FFFD, pass "
            f'lexmill.sources.JsonLines(path, field={source.field!r}, errors="replace") instead of the path'
        )
        raise InvalidUtf8Error(message) from error


def _some(lines: TextIterator, count: int) -> list[str]:
    found: list[str] = []
    size = 0
    for line in islice(lines, count):
        found.append(line)
        size += len(line)
        if size >= _CHARACTERS:
            break
    return found


def _row_blocks(start: Block, batches: Iterable[tuple[Any, int]]) -> Iterator[Block]:
    number = 0
    for batch, read in batches:
        end = number + batch.num_rows
        for first in range(max(number, start.first), end, _ROWS):
            rows = _Rows(batch.slice(first - number, _ROWS))
            yield start._replace(first=first, records=rows, read=read)
        number = end


def _batches(path: str, source: Parquet | Arrow) -> Iterator[tuple[Any, int]]:
    """The batches of a table, each with the bytes of the file up to its end, about."""
    errors = _pyarrow("pyarrow").lib
    remote = RemoteStream(path) if is_url(path) else None
    try:
        size = Path(path).stat().st_size if remote is None else remote.size
        if isinstance(source, Parquet):
            file = _pyarrow("pyarrow.parquet").ParquetFile(remote or path)
            names = _wanted(file.schema_arrow, source.column)
            rows = 0
            for batch in file.iter_batches(batch_size=_ROWS, columns=names):
                rows += batch.num_rows
                yield _sound(batch, source.column), size * rows // file.metadata.num_rows
            _check_unchanged(remote)
            return
        ipc = _pyarrow("pyarrow.ipc")
        pyarrow = _pyarrow("pyarrow")
        with pyarrow.memory_map(path) if remote is None else pyarrow.PythonFile(remote, "r") as mapped:
            if mapped.read(6) == b"ARROW1":
                reader = ipc.open_file(mapped)
                count = reader.num_record_batches
                yield from (
                    (_sound(reader.get_batch(at), source.column), size * (at + 1) // count) for at in range(count)
                )
            else:
                mapped.seek(0)
                yield from ((_sound(batch, source.column), mapped.tell()) for batch in ipc.open_stream(mapped))
        _check_unchanged(remote)
    except LexmillError:
        raise
    except FileNotFoundError as error:
        raise MissingFileError(f"{path}: {error}") from error
    except (errors.ArrowException, OSError, KeyError, UnicodeDecodeError) as error:
        raise FormatError(f"{path}: {error}") from error


def _check_unchanged(remote: RemoteStream | None) -> None:
    if remote is not None:
        remote.check_unchanged()


def _wanted(schema: Any, column: str) -> list[str]:  # noqa: ANN401
    """The columns that make a conversation."""
    return [name for name in schema.names if name in (column, "conversations", *_BESIDE)]


def _sound(batch: Any, column: str) -> Any:  # noqa: ANN401
    """The columns that make a conversation. They are valid: from invalid offsets, pyarrow reads beyond its memory."""
    batch = batch.select(_wanted(batch.schema, column))
    batch.validate(full=True)
    return batch


def records_in(block: Block, field: str) -> Iterator[tuple[int, str, object]]:
    """The records of a block that are not blank: number in the file, place, and record, or the error in its place."""
    if isinstance(block.records, _Rows):
        try:
            rows = block.records.batch.to_pylist()
        except (ValueError, KeyError, OverflowError) as error:
            raise FormatError(f"{block.name}, row {block.first:,} or one of the next: {error}") from error
        for number, record in enumerate(rows, block.first):
            yield number, f"{block.name}, row {number:,}", record
        return
    # Of `a.messages`, the object `a` is the record.
    inner = field.split(".")[:-1]
    for number, line in enumerate(block.records, block.first):
        if not line.isspace():
            yield number, f"{block.name}, line {number + 1:,}", _parsed(line, inner)


def conversation_in(record: object, field: str, place: str) -> Conversation:
    """The conversation of a record of `records_in`.

    Raises:
        FormatError: there is none; the message has the place.
    """
    try:
        if isinstance(record, LexmillError):
            raise record
        name = field.rpartition(".")[2]
        if isinstance(record, _Plain):
            return conversation_of(record.record, name, place, is_plain=True)
        return conversation_of(record, name, place)
    except (FormatError, InputTypeError) as error:
        raise FormatError(f"{place}: {error}") from error


class _Plain(NamedTuple):
    """A record whose values need no check."""

    record: object


def _parsed(line: str, inner: list[str]) -> object:
    try:
        record = json.loads(line)
    # json refuses very long numbers (ValueError) and deep nesting (RecursionError).
    except (ValueError, RecursionError) as error:
        return FormatError(f"no JSON: {error}")
    for name in inner:
        if not isinstance(record, dict) or name not in record:
            return FormatError(f"no field {name!r}")
        record = record[name]
    return _Plain(record) if is_plain_json(line) else record


def _pyarrow(module: str) -> Any:  # noqa: ANN401 (a module that may be absent)
    return optional_module(module, "columns of messages need the package pyarrow: pip install pyarrow")
