"""Values as data: what a call is given, and how it is spelled and evaluated under a library."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, NamedTuple

from differential.scripts import SCRIPTS


@dataclass(frozen=True)
class Name:
    """A name of the library, such as `models.BPE`."""

    path: str


@dataclass(frozen=True)
class Script:
    """A Python object that both libraries get, by its name in `scripts.SCRIPTS`."""

    name: str


@dataclass(frozen=True)
class Subject:
    """The object that the program is about."""


@dataclass(frozen=True)
class Call:
    """A call of a value, with positional and keyword arguments."""

    function: Any
    arguments: tuple[Any, ...] = ()
    keywords: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Member:
    """An attribute of a value."""

    target: Any
    name: str


def make(path: str, *arguments: Any, **keywords: Any) -> Call:
    """A call of a name of the library."""
    return Call(Name(path), arguments, keywords)


def method(target: Any, name: str, *arguments: Any, **keywords: Any) -> Call:
    """A call of a method of a value."""
    return Call(Member(target, name), arguments, keywords)


class Sandbox(NamedTuple):
    """One library under test, with a folder of its own and the subject once it is made."""

    library: ModuleType
    folder: str
    subject: Any = None


FOLDER = "{folder}"


def resolve(library: ModuleType, path: str) -> Any:
    """The object at a path of names."""
    return operator.attrgetter(path)(library) if path else library


def evaluate(value: Any, sandbox: Sandbox) -> Any:
    """The Python object that a value stands for."""
    match value:
        case Name(path):
            return resolve(sandbox.library, path)
        case Script(name):
            return SCRIPTS[name](sandbox.library)
        case Subject():
            return sandbox.subject
        case Member(target, name):
            return getattr(evaluate(target, sandbox), name)
        case Call(function, arguments, keywords):
            called = evaluate(function, sandbox)
            return called(*evaluate(arguments, sandbox), **evaluate(keywords, sandbox))
        case str() if type(value) is str:
            return value.replace(FOLDER, sandbox.folder)
        case list():
            return [evaluate(item, sandbox) for item in value]
        case tuple():
            return tuple(evaluate(item, sandbox) for item in value)
        case dict():
            return {evaluate(key, sandbox): evaluate(item, sandbox) for key, item in value.items()}
    return value


def spell(value: Any) -> str:
    """A value as Python source, for reports."""
    match value:
        case Name(path):
            return f"lib.{path}".rstrip(".")
        case Script(name):
            return f"SCRIPTS[{name!r}](lib)"
        case Subject():
            return "subject"
        case Member(target, name):
            return f"{spell(target)}.{name}"
        case Call(function, arguments, keywords):
            return f"{spell(function)}({', '.join(_spelled_arguments(arguments, keywords))})"
        case list():
            return f"[{', '.join(map(spell, value))}]"
        case tuple():
            return f"({', '.join(map(spell, value))}{',' * (len(value) == 1)})"
        case dict():
            return "{" + ", ".join(f"{spell(key)}: {spell(item)}" for key, item in value.items()) + "}"
    return repr(value)


def _spelled_arguments(arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Iterator[str]:
    yield from map(spell, arguments)
    yield from (f"{name}={spell(value)}" for name, value in keywords.items())
