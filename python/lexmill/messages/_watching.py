"""The environment of Jinja whose texts are watched."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache, wraps
from typing import Any

from jinja2 import Environment, nodes
from jinja2.ext import LoopControlExtension
from jinja2.filters import make_attrgetter
from jinja2.runtime import Context, LoopContext, Macro

from lexmill.messages._environment import (
    STRING_METHODS,
    ChatEnvironment,
    FollowingEnvironment,
    Generation,
    Names,
    TemplateDict,
    arguments,
    set_up,
)
from lexmill.messages._watched import LostTrackError, Watched, holds_watched, joined

__all__ = ["watching_environment"]

_NEEDLE = "lexmill_needle"
_FILTERS = frozenset(
    [
        *("trim", "lower", "upper", "capitalize", "string", "replace", "default", "d", "length", "count"),
        *("first", "last", "list", "reverse", "items", "map", "select", "selectattr", "reject", "rejectattr"),
    ]
)
"""Filters that call methods of a text alone, or do not look into the items of a list but by tests."""
_TESTS = frozenset(
    [
        *("defined", "undefined", "none", "boolean", "true", "false", "integer", "float", "number", "string"),
        *("mapping", "iterable", "callable", "eq", "equalto", "==", "ne", "!="),
    ]
)
"""Tests of types, and comparisons, which are methods of a text."""


@cache
def watching_environment() -> Environment:
    """The environment whose texts are watched."""
    made = _WatchingEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[Generation, LoopControlExtension])
    set_up(made)
    made.filters |= {name: _without_watched(name, call) for name, call in made.filters.items() if name not in _FILTERS}
    made.tests |= {name: _without_watched(name, call) for name, call in made.tests.items() if name not in _TESTS}
    made.filters |= {"join": _join, _NEEDLE: _needle}
    return made


class _WatchingEnvironment(FollowingEnvironment):
    """Loses track where a watched text would get into code that does not call its methods."""

    @staticmethod
    def concat(texts: Iterable[str]) -> str:
        return joined(texts)

    @staticmethod
    def str_join(values: Iterable[object]) -> str:
        return joined([str(value) for value in values])

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        tree = super()._parse(source, name, filename)
        for compare in tree.find_all(nodes.Compare):
            # `text in "..."` is a method of the other text.
            holder: Any = compare
            for operand in compare.ops:
                if operand.op in ("in", "notin"):
                    holder.expr = nodes.Filter(holder.expr, _NEEDLE, [], [], None, None, lineno=compare.lineno)
                holder = operand
        return tree

    def getattr(self, obj: Any, attribute: str) -> Any:  # noqa: ANN401 (as Jinja)
        if type(obj) is Watched:
            if attribute not in STRING_METHODS:
                obj.steps.lose(f"attribute {attribute}")
            return getattr(obj, attribute)
        return super().getattr(obj, attribute)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:  # noqa: ANN401 (as Jinja)
        _lose_watched(operator, (left, right))
        return super().call_binop(context, operator, left, right)

    def call(__self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 (as Jinja)
        is_own = isinstance(__obj, Macro | LoopContext | TemplateDict) or __obj is Names
        if not is_own and type(getattr(__obj, "__self__", None)) is not Watched:
            _lose_watched("a call", (*args, *arguments(kwargs).values()))
        return ChatEnvironment.call(__self, __context, __obj, *args, **kwargs)


def _lose_watched(operation: str, values: Iterable[object]) -> None:
    if any(map(holds_watched, values)):
        raise LostTrackError(operation)


def _without_watched(name: str, call: Any) -> Callable[..., Any]:  # noqa: ANN401 (as Jinja types its filters)
    @wraps(call)
    def give(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 (as the filter)
        _lose_watched(name, (*args, *kwargs.values()))
        return call(*args, **kwargs)

    return give


def _needle(value: object) -> object:
    _lose_watched("in", [value])
    return value


def _join(value: Iterable[Any], d: str = "", attribute: str | int | None = None) -> str:
    """The filter `join` of an environment without escaping."""
    if attribute is not None:
        value = map(make_attrgetter(watching_environment(), attribute), value)
    parts: list[str] = []
    for item in value:
        parts += [str(d), str(item)] if parts else [str(item)]
    return joined(parts)
