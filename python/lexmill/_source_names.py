"""How texts are found in a file whose name says it."""

from __future__ import annotations

import os
from pathlib import PurePath
from typing import Literal, TypeAlias

from lexmill.sources import Arrow, Csv, JsonLines, Lines, Parquet, Source

__all__ = ["Kind", "OneSource", "kind_of", "source_of"]

OneSource: TypeAlias = Source | str | os.PathLike[str]
"""What calls take as a source: itself, or a path, whose name says how texts are found."""

Kind: TypeAlias = Literal["jsonl", "csv", "tsv", "lines", "parquet", "arrow"]

# By the ends of names, that of a compressed file taken away.
_KINDS: dict[str, Kind] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".txt": "lines",
    ".parquet": "parquet",
    ".arrow": "arrow",
}
_COMPRESSED = (".gz", ".zst", ".xz", ".bz2")


def kind_of(path: str | os.PathLike[str]) -> Kind | None:
    """What the name of a file says, if anything."""
    name = PurePath(os.fspath(path))
    bare = PurePath(name.stem) if name.suffix.lower() in _COMPRESSED else name
    return _KINDS.get(bare.suffix.lower())


def source_of(
    kind: Kind,
    path: str | os.PathLike[str],
    *,
    field: str = "text",
    errors: Literal["strict", "replace"] = "strict",
    on_error: Literal["raise", "skip"] = "raise",
) -> Source:
    """What reads a file of a kind, with texts in a field or column."""
    if kind == "lines":
        return Lines(path, errors=errors)
    if kind == "jsonl":
        return JsonLines(path, field=field, errors=errors, on_error=on_error)
    if kind in ("parquet", "arrow"):
        read = Parquet if kind == "parquet" else Arrow
        return read(path, column=field, errors=errors, on_error=on_error)
    return Csv(path, column=field, delimiter="\t" if kind == "tsv" else ",", errors=errors, on_error=on_error)
