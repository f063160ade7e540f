"""Shows what the stubs of the compiled core declare: an extension of griffe, which reads them for the API reference.

griffe takes a class's signature from `__init__`, but compiled classes have `__new__`; of an overloaded function it
expects the one that is defined after the overloads, but stubs have none; and private aliases of types mean nothing to
readers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from griffe import Attribute, Class, Extension, Function, Module

PRIVATE = re.compile(r"\b_([A-Z]\w*)")
LONGEST = 100
"""Characters of a type that is written out in place of its alias."""


class Stubs(Extension):
    """Gives classes of stubs an `__init__`, overloaded methods one signature, and parameters types without aliases."""

    def on_class(self, *, cls: Class, **_: Any) -> None:  # noqa: ANN401
        """Completes a class when griffe has read all of it."""
        for name, overloads in cls.overloads.items():
            # The last overload is the most general, but a constructor's first has all defaults.
            if overloads and name not in cls.members:
                chosen = overloads[0 if name == "__new__" else -1]
                chosen.docstring = overloads[0].docstring
                cls.set_member(name, chosen)
        constructor = cls.members.get("__new__")
        if isinstance(constructor, Function) and "__init__" not in cls.members:
            parameters = constructor.parameters
            cls.set_member(
                "__init__", Function("__init__", parameters=parameters, parent=cls, lineno=constructor.lineno)
            )
        cls.overloads.clear()

    def on_package(self, *, pkg: Module, **_: Any) -> None:  # noqa: ANN401
        """Writes out private aliases when all modules are read."""
        for module in [pkg, *_modules(pkg)]:
            aliases = {
                name: str(member.value)
                for name, member in module.members.items()
                if PRIVATE.fullmatch(name) and isinstance(member, Attribute) and member.value is not None
            }
            for function in _functions(module):
                for parameter in function.parameters:
                    if PRIVATE.search(str(parameter.annotation)):
                        parameter.annotation = _written_out(str(parameter.annotation), aliases)
                if PRIVATE.search(str(function.returns)):
                    function.returns = _written_out(str(function.returns), aliases)


def _modules(package: Module) -> Iterator[Module]:
    for member in package.members.values():
        if isinstance(member, Module):
            yield member
            yield from _modules(member)


def _functions(owner: Module | Class) -> Iterator[Function]:
    for member in owner.members.values():
        if isinstance(member, Function):
            yield member
        elif isinstance(member, Class):
            yield from _functions(member)


def _written_out(annotation: str, aliases: dict[str, str]) -> str:
    """A type with its aliases written out where that is short, else by their names."""
    found = PRIVATE.sub(lambda alias: aliases.get(alias[0], alias[0]), annotation)
    if found != annotation and PRIVATE.search(found):
        found = _written_out(found, aliases)
    return found if len(found) <= LONGEST else PRIVATE.sub(r"\1", annotation)
