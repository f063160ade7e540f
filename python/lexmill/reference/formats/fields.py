"""Helpers that the readers of all families share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from lexmill.errors import FormatError
from lexmill.reference.patterns import Find, literal, regular

# An object of a file, as `json.loads` gives it.
Json = dict[str, Any]
T = TypeVar("T")


def read(family: str, spec: Json, readers: Mapping[str, Callable[[Json], T]]) -> T:
    """Reads an object by its `type`.

    Raises:
        FormatError: the type is not among the readers.
    """
    kind = spec["type"]
    if kind not in readers:
        raise FormatError(f"unknown {family} {kind!r}, known are {', '.join(readers)}")
    return readers[kind](spec)


def pattern(spec: Json) -> Find:
    """A search: `{"String": ..}` or `{"Regex": ..}`."""
    return literal(spec["String"]) if "String" in spec else regular(spec["Regex"])


def flags(spec: Json, *names: str) -> Json:
    """The members with these names that the object has; the others keep their defaults."""
    return {name: spec[name] for name in names if name in spec}
