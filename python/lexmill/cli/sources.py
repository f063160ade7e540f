"""How commands find texts in files."""

from __future__ import annotations

from enum import Enum
from typing import Literal

from lexmill import _source_names
from lexmill.cli.files import STANDARD
from lexmill.cli.outcome import UsageError
from lexmill.sources import Source

__all__ = ["InputName", "source_of"]


class InputName(str, Enum):
    """How texts are found in files."""

    JSONL = "jsonl"
    CSV = "csv"
    TSV = "tsv"
    LINES = "lines"
    PARQUET = "parquet"
    ARROW = "arrow"


def source_of(
    path: str,
    kind: InputName | None,
    field: str,
    errors: Literal["strict", "replace"],
    on_error: Literal["raise", "skip"],
) -> Source:
    """What reads a file: as asked for, or as its name ends.

    Raises:
        UsageError: neither says how texts are found.
    """
    found = kind.value if kind is not None else _source_names.kind_of(path)
    if found is None:
        what = f"stdin ({STANDARD})" if path == STANDARD else path
        message = f"{what} does not say how texts are found in it; pass --input"
        raise UsageError(message)
    return _source_names.source_of(found, path, field=field, errors=errors, on_error=on_error)
