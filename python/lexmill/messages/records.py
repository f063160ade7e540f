"""Conversations of files and tables, one after the other, in memory that does not grow with them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any

from lexmill._data.corpus_warnings import SHOWN, warn_of_records
from lexmill._data.source_names import Reading, sources_of
from lexmill.errors import FormatError, InputTypeError
from lexmill.messages._blocks import conversation_in, field_of, read_blocks, records_in
from lexmill.messages.conversations import Conversation, conversation_of
from lexmill.sources import Files, Source

__all__ = ["FIELD", "Conversations", "read_conversations"]

Conversations = Source | str | os.PathLike[str] | Iterable[Any]
"""A source, the path of one, or conversations themselves."""

FIELD = "messages"
"""The field of messages in files that are given by their names."""


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
        for source in sources_of(given, Reading(field=FIELD)):
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
    field, files = field_of(source), source._files() if isinstance(source, Files) else []
    skipped: list[str] = []
    count = 0
    # A line at a time, since a pipe may give one now and then.
    for block in read_blocks(source, files, lines=1):
        for _, place, record in records_in(block, field):
            try:
                found = conversation_in(record, field, place)
            except FormatError as error:
                if getattr(source, "on_error", "raise") == "raise":
                    raise
                count += 1
                if len(skipped) < SHOWN:
                    skipped.append(str(error))
            else:
                yield found
    warn_of_records(count, skipped)
