"""What there is to compare: every class, method and property of the peer, from its modules and its stubs."""

from __future__ import annotations

import inspect
import sys
from dataclasses import dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[2] / "docs"))

import drop_in_names as names
import drop_in_table

Parameters = tuple[names.Parameter, ...]
NOT_THERE = {*drop_in_table.MISSING, *drop_in_table.LEFT_OUT}
# What `object` does for every class is no method of the peer's.
OF_EVERY_CLASS = {"__init__", "__new__", "__annotations__", "__doc__", "__module__", "__getattribute__"}


@dataclass(frozen=True)
class Method:
    """A method or a property, named at the class that defines it."""

    path: str
    name: str
    kind: str
    parameters: Parameters = ()


@dataclass(frozen=True)
class Class:
    """A class with all that it has, inherited members too."""

    path: str
    parameters: Parameters
    methods: tuple[Method, ...]

    @property
    def attributes(self) -> list[Method]:
        return [method for method in self.methods if method.kind == "attribute"]

    @property
    def calls(self) -> list[Method]:
        return [method for method in self.methods if method.kind != "attribute"]


def joined(*parts: str) -> str:
    return ".".join(filter(None, parts))


@cache
def exported() -> dict[str, Any]:
    """The peer's objects by every name that its modules offer."""
    found = {}
    for module in names.peer_modules():
        theirs = names.load(names.PEER, module)
        found |= {joined(module, name): getattr(theirs, name) for name in names.names_of(theirs)}
    return {path: value for path, value in found.items() if path not in NOT_THERE}


@cache
def classes() -> dict[str, Class]:
    """The peer's classes at the module that defines them."""
    found = {}
    for path, value in exported().items():
        is_home = isinstance(value, type) and joined(names.home_of(value) or "", value.__name__) == path
        if is_home and not issubclass(value, Enum):
            found[path] = Class(path, parameters_of(path, value), tuple(methods_of(value)))
    return found


@cache
def functions() -> dict[str, Parameters]:
    """The peer's functions outside of classes."""
    return {
        path: parameters_of(path, value)
        for path, value in exported().items()
        if inspect.isroutine(value) and joined(names.home_of(value) or "?", value.__name__) == path
    }


def methods_of(cls: type) -> list[Method]:
    """All members, each once."""
    found: dict[str, Method] = {}
    for base in cls.__mro__:
        home = names.home_of(base)
        if home is None or issubclass(base, Enum):
            continue
        path = joined(home, base.__name__)
        for name in sorted({*names.members_of(base), *stub_members(path)} - OF_EVERY_CLASS):
            kind = names.kind_of(base, name)
            own = f"{path}.{name}"
            parameters = () if kind == "attribute" else parameters_of(own, getattr(base, name))
            found.setdefault(name, Method(own, name, kind, parameters))
    return list(found.values())


def stub_members(path: str) -> set[str]:
    """Members of a class that its stub has, those for operators and pickling too."""
    prefix = f"{path}."
    inside = (name.removeprefix(prefix) for name in names.stub_definitions(names.PEER) if name.startswith(prefix))
    return {name.removesuffix(".setter") for name in inside if "." not in name.removesuffix(".setter")}


def parameters_of(path: str, value: object) -> Parameters:
    """What a call takes; a method of a stub alone is asked with the stub's parameters."""
    signature = names.peer_signature(path, value)
    return signature.parameters if signature else ()


@cache
def all_paths() -> frozenset[str]:
    """Every name that has to be compared: those of the modules, and those that stubs alone have."""
    members = {method.path for cls in classes().values() for method in cls.methods}
    setters = {
        method.path + ".setter"
        for cls in classes().values()
        for method in cls.attributes
        if f"{method.path}.setter" in names.stub_definitions(names.PEER)
    }
    return frozenset({*exported(), *members, *setters})
