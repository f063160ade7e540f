"""Files of documents, opened: text files by their paths, and records."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

from lexmill._core import FileSource, input_path
from lexmill._data.file_names import TEXT, files_of, is_folder, is_pattern, items_of, kind_of
from lexmill.errors import OptionError

if TYPE_CHECKING:
    from lexmill._data.source_names import OneSource

__all__ = ["opened_documents"]


def opened_documents(
    given: Iterable[OneSource], separator: str | None, errors: Literal["strict", "replace"]
) -> list[FileSource | str]:
    """Sources of records, opened, and paths of text files. A text file is a document, or is cut at separators.

    Raises:
        OptionError: there is a separator, and a file of records by its name.
    """
    found: list[FileSource | str] = []
    for item in items_of(given, "paths"):
        if _is_text_file(item):
            found += files_of([input_path(item)], TEXT)
        else:
            found += _opened_one(item, separator, errors)
    return found


def _is_text_file(item: OneSource) -> bool:
    """True if an item is one text file by its name, for which no source has to be made or imported."""
    if not isinstance(item, str | os.PathLike) or kind_of(item) not in TEXT:
        return False
    path = input_path(item)
    return not is_folder(path) and not is_pattern(path)


def _opened_one(item: OneSource, separator: str | None, errors: Literal["strict", "replace"]) -> list[FileSource | str]:
    # Not everybody who reads text files reads records, and these take time to import.
    from lexmill._data.source_names import Reading, sources_of
    from lexmill.sources import Lines, Source

    if isinstance(item, Source):
        return [item._open()]
    found: list[FileSource | str] = []
    for source in sources_of([item], Reading(errors=errors)):
        if isinstance(source, Lines):
            found += source._files()
        elif separator is not None:
            message = f"separator is {separator!r} but {item} holds records, each of which is a document"
            raise OptionError(message)
        else:
            found.append(source._open())
    return found
