"""How commands find texts in files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from lexmill._data.file_names import size_of
from lexmill._data.source_names import sources_of
from lexmill.cli.files import STANDARD, LineBatches, check_inputs, is_stream
from lexmill.cli.options import InputName, ReadOptions
from lexmill.cli.outcome import UsageError
from lexmill.errors import OptionError
from lexmill.sources import Files, Lines, Source

__all__ = ["Input", "inputs_of", "named_sources", "read_by", "texts_of"]

# Texts of a source that are handed on together.
_SOME = 1024


@dataclass(frozen=True)
class Input:
    """A file, or stdin, for a command that reads text where a name says nothing.

    Attributes:
        name: its path.
        source: reads the records of a file; None for text.
        size: bytes on the disk; 0 for stdin and pipes.
    """

    name: str
    source: Source | None
    size: int

    @property
    def is_stream(self) -> bool:
        """True if it is text that can be read only once."""
        return self.source is None and is_stream(self.name)


def inputs_of(files: Sequence[str], options: ReadOptions) -> list[Input]:
    """The files that arguments stand for, in order.

    Raises:
        UsageError: stdin is named twice, or a name is empty.
        FileError: a file is missing or must not be read, or a folder or pattern has none.
    """
    found: list[Input] = []
    for path in files:
        if path == STANDARD and options.input in (None, InputName.LINES):
            found.append(Input(path, None, 0))
            continue
        if not path:
            check_inputs([path], are_texts=True)
        for source in sources_of(path, options.reading(is_unnamed_text=True)):
            if isinstance(source, Files):
                is_text = isinstance(source, Lines) and options.input is None
                found += [_input(file, None if is_text else replace(source, paths=file)) for file in source._files()]
    check_inputs([one.name for one in found], are_texts=True)
    return found


def _input(path: str, source: Source | None) -> Input:
    try:
        size = 0 if path == STANDARD else size_of(path)
    except (OSError, ValueError):
        # The error comes when all inputs are checked.
        size = 0
    return Input(path, source, size or 0)


def named_sources(files: Sequence[str], options: ReadOptions) -> list[Source]:
    """The sources for files: as asked for, or as their names end.

    Raises:
        UsageError: neither says how texts are found.
    """
    try:
        return [
            source for path in files for source in sources_of(os.fspath(path), options.reading(is_unnamed_text=False))
        ]
    except OptionError as error:
        message, says, _ = str(error).partition("; pass a source such as")
        if not says:
            raise
        message = f"{message.replace('standard input (-)', f'stdin ({STANDARD})')}; pass --input"
        raise UsageError(message) from None


def read_by(one: Input, read: ReadOptions) -> Source:
    """The source that reads a file."""
    return one.source or Lines(one.name, errors=read.errors.value)


def texts_of(inputs: Sequence[Input], streams: Mapping[str, LineBatches], read: ReadOptions) -> Iterator[list[str]]:
    """The texts of all inputs, in lists."""
    for one in inputs:
        if one.is_stream:
            yield from streams[one.name]
            continue
        texts = iter(read_by(one, read))
        while some := list(islice(texts, _SOME)):
            yield some
