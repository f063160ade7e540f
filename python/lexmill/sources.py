"""Where texts come from: files in several formats, plain or compressed, and Arrow data of other libraries.

A source is a description that can be compared, pickled and shown; it opens nothing until it is read. It can be
iterated, and `Tokenizer.train` takes it in the place of a path:

    tokenizer.train([JsonLines("data/*.jsonl.zst", field="text")], trainer)

Files may be compressed with gzip, zstd, xz or bzip2, which is told by their first bytes and not by their names; all
members, frames or streams of a file are read. Windows of zstd may have 128 MiB. Parquet files are compressed within.

Paths and patterns may be URLs, such as `s3://bucket/key`, which fsspec reads: `pip install 'lexmill[remote]'`.

A record is in memory as a whole: a line takes its own bytes, a JSON line as many again for its text. `on_error="skip"`
leaves out records, never files: a file that is missing, cannot be read or is damaged is always an error.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar, Literal, Protocol, TypeAlias

from lexmill._core import FileSource
from lexmill._data.corpus_warnings import warn_of_skipped
from lexmill._data.file_names import TEXT, Kind, files_of, paths_of
from lexmill.errors import InputTypeError, OptionError

__all__ = ["Arrow", "ArrowStream", "Csv", "Documents", "Files", "JsonLines", "Lines", "Parquet", "Source"]

_Paths: TypeAlias = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
"""Files, folders, patterns such as `data/**/*.jsonl.gz`, `-` for standard input; one or several."""


class _ArrowStreamExportable(Protocol):
    """An object that offers a stream of Arrow data."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


class Source:
    """Texts that can be read again and again, unless they come from standard input or another stream."""

    def _open(self) -> FileSource:
        raise NotImplementedError

    def __iter__(self) -> Iterator[str]:
        """Reads the texts in order, in memory that does not grow with the files.

        Raises:
            FileError: a file is missing, cannot be read or is damaged.
            InvalidUtf8Error: bytes are not UTF-8, with `errors="strict"`.
            FormatError: a record is broken, with `on_error="raise"`, or there is no such column.
            TextTooLongError: a text has 2 GiB or more.
        """
        opened = self._open()
        yield from opened
        warn_of_skipped(opened)


@dataclass(frozen=True)
class Files(Source):
    """Texts in files.

    Attributes:
        paths: files, folders, patterns, or `-` for standard input; a `str` may be a URL. Of a folder, and of the
            folders in it, a file is read if its name ends as names of the format do, such as `.parquet` or
            `.jsonl.zst`; as text, if its name says no other format. Names that begin with a dot or an underscore,
            such as `_SUCCESS`, are left out. A pattern stands for all files that it matches, and for the
            files of all folders that it matches. The files of a folder or pattern come in the order of their names.
            Links to folders may lead in a circle, so they are not followed within a folder, nor by `**` in a pattern.

    Raises:
        InputTypeError: the paths are neither a path nor a list of paths.
        RemotePathError: a URL became a `pathlib.Path`, which makes one slash of two.
    """

    paths: _Paths
    _kinds: ClassVar[frozenset[Kind | None]] = TEXT

    def __post_init__(self) -> None:
        """Makes the given paths comparable and hashable."""
        object.__setattr__(self, "paths", tuple(paths_of(self.paths)))

    def _files(self) -> list[str]:
        return files_of(paths_of(self.paths), self._kinds)


@dataclass(frozen=True)
class Lines(Files):
    """Text files: each line, with its line feed, is a text.

    Attributes:
        errors: `strict`, or `replace` to read bytes that are not UTF-8 as U+FFFD.
    """

    _: KW_ONLY
    errors: Literal["strict", "replace"] = "strict"

    def _open(self) -> FileSource:
        return FileSource(self._files(), errors=self.errors)


@dataclass(frozen=True)
class JsonLines(Files):
    """JSON lines: each line is an object, one field of which is a text.

    Attributes:
        field: the name of the field; dots lead into inner objects (`meta.text`).
        errors: `strict`, or `replace` to read bytes that are not UTF-8 as U+FFFD.
        on_error: `raise`, or `skip` to leave out lines that are no such object or have 2 GiB and more, and to warn at
            the end.
    """

    _kinds = frozenset(["jsonl"])
    _: KW_ONLY
    field: str = "text"
    errors: Literal["strict", "replace"] = "strict"
    on_error: Literal["raise", "skip"] = "raise"

    def _open(self) -> FileSource:
        if not isinstance(self.field, str):
            message = f"field is {self.field!r} but must be str"
            raise InputTypeError(message)
        keys = self.field.split(".")
        if not all(keys):
            message = f"field is {self.field!r} but must be a name, or names with a dot between them"
            raise OptionError(message)
        return FileSource(self._files(), format="json-lines", column=keys, errors=self.errors, on_error=self.on_error)


@dataclass(frozen=True)
class Csv(Files):
    r"""Comma-separated values: one column of each record is a text.

    A value in quotation marks may hold delimiters, line ends and, written twice, quotation marks. A mark that is never
    closed, or not within 2 GiB, and a closing mark with text after it make a broken record, named by the line of the
    opening mark. With `on_error="skip"` reading goes on at the line after that one.

    Attributes:
        column: the name of the column in the first record, or its number from 0 on in files without names.
        delimiter: the character between values; `"\t"` for TSV.
        errors: `strict`, or `replace` to read bytes that are not UTF-8 as U+FFFD.
        on_error: `raise`, or `skip` to leave out records that are broken or without the column, and to warn at the end.
    """

    _kinds = frozenset(["csv", "tsv"])
    _: KW_ONLY
    column: str | int = "text"
    delimiter: str = ","
    errors: Literal["strict", "replace"] = "strict"
    on_error: Literal["raise", "skip"] = "raise"

    def _open(self) -> FileSource:
        if not isinstance(self.column, str) and self.column < 0:
            message = f"column is {self.column} but must be a name or a number from 0 on"
            raise OptionError(message)
        return FileSource(
            self._files(),
            format="csv",
            column=self.column,
            separator=self.delimiter,
            errors=self.errors,
            on_error=self.on_error,
        )


@dataclass(frozen=True)
class _Columns(Files):
    """Files with columns of known types."""

    _: KW_ONLY
    column: str = "text"
    errors: Literal["strict", "replace"] = "strict"
    on_error: Literal["raise", "skip"] = "raise"
    _format: ClassVar[str]

    def _open(self) -> FileSource:
        return FileSource(
            self._files(), format=self._format, column=self.column, errors=self.errors, on_error=self.on_error
        )


class Parquet(_Columns):
    """Parquet files: one column of strings, or of bytes in UTF-8, holds the texts.

    Only this column is read, page by page, so memory does not grow with row groups. Standard input and pipes will not
    do, since a Parquet file is read from its end.

    Attributes:
        column: the name of the column; dots lead into structs (`meta.text`).
        errors: `strict`, or `replace` to read bytes that are not UTF-8 as U+FFFD.
        on_error: `raise`, or `skip` to leave out nulls and values that are not UTF-8, and to warn at the end.
    """

    _format = "parquet"
    _kinds = frozenset(["parquet"])


class Arrow(_Columns):
    """Arrow IPC files and streams: one column of strings, or of bytes in UTF-8, holds the texts.

    Such a column may be a dictionary, or within structs. The first bytes of a file tell if it is an Arrow file or a
    stream. The cache of Hugging Face `datasets` and the files of `save_to_disk` are streams; `write_ipc` of polars and
    Feather of version 2 make Arrow files. Arrow files are read from their footer, so a file that is compressed as a
    whole, or comes from a pipe, is copied to a temporary file first. One record batch has to fit into memory.

    Attributes:
        column: the name of the column; dots lead into structs (`meta.text`).
        errors: `strict`, or `replace` to read bytes that are not UTF-8 as U+FFFD.
        on_error: `raise`, or `skip` to leave out nulls and values that are not UTF-8, and to warn at the end.
    """

    _format = "arrow"
    _kinds = frozenset(["arrow"])


@dataclass(frozen=True, eq=False)
class ArrowStream(Source):
    """Arrow data of another library: one column of strings, or of bytes in UTF-8, holds the texts.

    Batches are asked for one by one and read where they lie. Two such sources are equal if they have the same object
    and options.

    Attributes:
        data: an object with `__arrow_c_stream__`, such as a pyarrow table or record batch reader, a polars data frame
            or a duckdb relation. An object that is a single column, such as a pyarrow chunked array, is taken whole.
        column: the name of the column; dots lead into structs (`meta.text`).
        errors: `strict`, or `replace` to read bytes that are not UTF-8 as U+FFFD.
        on_error: `raise`, or `skip` to leave out nulls and values that are not UTF-8, and to warn at the end.
    """

    data: _ArrowStreamExportable
    _: KW_ONLY
    column: str = "text"
    errors: Literal["strict", "replace"] = "strict"
    on_error: Literal["raise", "skip"] = "raise"

    def __repr__(self) -> str:
        """Names the type of the object, whose own text may be long."""
        kind = f"{type(self.data).__module__}.{type(self.data).__qualname__}"
        options = f"column={self.column!r}, errors={self.errors!r}, on_error={self.on_error!r}"
        return f"ArrowStream(data=<{kind}>, {options})"

    def __eq__(self, other: object) -> bool:
        """True if the other source reads the same object with the same options."""
        return isinstance(other, ArrowStream) and self._key() == other._key()

    def __hash__(self) -> int:
        """The hash that goes with `==`."""
        return hash(self._key())

    def _key(self) -> tuple[object, ...]:
        return id(self.data), self.column, self.errors, self.on_error

    def _open(self) -> FileSource:
        return FileSource.of_stream(self.data, column=self.column, errors=self.errors, on_error=self.on_error)


@dataclass(frozen=True)
class Documents(Files):
    """Text files: each file is a text, or each part of it that ends with a separator.

    An empty text after the last separator is left out.

    Attributes:
        separator: the text that ends each text and is not part of it, such as `<|endoftext|>`; None for whole files.
        errors: `strict`, or `replace` to read bytes that are not UTF-8 as U+FFFD.
    """

    # A file of code or data may be a document.
    _kinds = TEXT | {"jsonl", "csv", "tsv"}
    _: KW_ONLY
    separator: str | None = None
    errors: Literal["strict", "replace"] = "strict"

    def _open(self) -> FileSource:
        return FileSource(self._files(), format="documents", separator=self.separator, errors=self.errors)
