"""The environment of Jinja whose texts are watched."""

from __future__ import annotations

import inspect
import re
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
    plain_environment,
    set_up,
)
from lexmill.messages._watched import Watched, WatchedValue, joined, lose_watched, unwatched, watched_in

__all__ = ["rewriting_filters", "watching_environment"]

_NEEDLE = "lexmill_needle"
_FILTERS = frozenset(
    [
        *("trim", "lower", "upper", "capitalize", "string", "replace", "default", "d"),
        *("first", "last", "list", "reverse", "map", "select", "selectattr", "reject", "rejectattr"),
    ]
)
"""Filters that call only methods of a text, or look into the items of a list only by tests."""
_OF_TEXT = ("trim", "lower", "upper", "capitalize", "string", "replace")
"""Filters of these whose result is markup if the value is."""
_REWRITING = ("center", "indent", "striptags", "title", "tojson", "urlencode")
"""Filters that make a text of a value, and read nothing else."""
_TESTS = frozenset(
    [
        *("eq", "equalto", "==", "ne", "!=", "gt", "greaterthan", ">", "ge", ">=", "lt", "lessthan", "<", "le", "<="),
        *("defined", "undefined"),
    ]
)
"""Comparisons, which are methods of a value, and tests that do not look at it."""
_OF_TYPE = (
    *("none", "boolean", "true", "false", "integer", "float", "number", "string"),
    *("mapping", "iterable", "sequence", "callable"),
)
"""Tests whose outcome follows from the shape."""


@cache
def watching_environment() -> Environment:
    """The environment whose texts are watched."""
    made = _WatchingEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[Generation, LoopControlExtension])
    set_up(made)
    plain = dict(made.filters)
    made.filters |= {name: _without_watched(name, call) for name, call in plain.items() if name not in _FILTERS}
    made.filters |= {name: _without_markup(made.filters[name]) for name in _OF_TEXT}
    made.tests |= {name: _without_watched(name, call) for name, call in made.tests.items() if name not in _TESTS}
    made.tests |= {name: _of_type(plain_environment().tests[name]) for name in _OF_TYPE}
    made.filters |= {name: _rewriting(plain_environment().filters[name]) for name in _REWRITING}
    made.filters |= {"join": _join, "length": _length, "count": _length, "safe": _safe, _NEEDLE: _needle}
    made.filters |= {"items": _items(plain["items"]), "dictsort": _items(plain["dictsort"])}
    return made


@cache
def rewriting_filters() -> frozenset[Callable[..., str]]:
    """The filters whose steps make a text of a value, and of nothing else."""
    return frozenset(plain_environment().filters[name] for name in _REWRITING)


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
        if type(obj) is WatchedValue or (type(obj) is Watched and attribute not in STRING_METHODS):
            obj.steps.lose(f"attribute {attribute}", obj.number)
        if type(obj) is Watched:
            return getattr(obj, attribute)
        return super().getattr(obj, attribute)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:  # noqa: ANN401 (as Jinja)
        lose_watched(operator, (left, right))
        return super().call_binop(context, operator, left, right)

    def call(__self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 (as Jinja)
        is_own = isinstance(__obj, Macro | LoopContext | TemplateDict) or __obj is Names
        if not is_own and type(getattr(__obj, "__self__", None)) is not Watched:
            lose_watched("a call", (*args, *arguments(kwargs).values()))
        return ChatEnvironment.call(__self, __context, __obj, *args, **kwargs)


def _without_watched(name: str, call: Any) -> Callable[..., Any]:  # noqa: ANN401 (as Jinja types its filters)
    @wraps(call)
    def give(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 (as the filter)
        lose_watched(name, (*args, *kwargs.values()))
        return call(*args, **kwargs)

    return give


def _of_type(call: Any) -> Callable[..., Any]:  # noqa: ANN401 (as Jinja types its tests)
    @wraps(call)
    def give(value: object) -> Any:  # noqa: ANN401 (as the test)
        return call(unwatched(value))

    return give


def _rewriting(call: Any) -> Callable[..., Any]:  # noqa: ANN401 (as Jinja types its filters)
    """The filter: a step for a watched value, and several for a list or a dictionary that becomes JSON."""
    parameters = inspect.signature(call)

    @wraps(call)
    def give(value: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 (as the filter)
        lose_watched("an argument", (*args, *kwargs.values()))
        found = watched_in(value)
        if found is None:
            return call(value, *args, **kwargs)
        bound = parameters.bind(value, *args, **kwargs)
        bound.apply_defaults()
        options = bound.args[1:]
        if found is value:
            return found.made(call, options, str.__str__(call(unwatched(value), *options)))
        if call is not plain_environment().filters["tojson"]:
            found.steps.lose("a filter of several texts", found.number)
        return _json(value, call, options, is_indented=bound.arguments["indent"] is not None)

    return give


def _json(value: object, call: Callable[..., str], options: tuple[Any, ...], *, is_indented: bool) -> str:
    """The JSON of a list or a dictionary with watched values: stand-ins are written, and then replaced."""
    leaves: list[Watched | WatchedValue] = []

    def stand_in(one: Any) -> Any:  # noqa: ANN401 (a value of JSON)
        if isinstance(one, dict):
            return {name: stand_in(inner) for name, inner in one.items()}
        if isinstance(one, list | tuple):
            return [stand_in(inner) for inner in one]
        if not isinstance(one, Watched | WatchedValue):
            return one
        if is_indented and isinstance(unwatched(one), dict | list):
            # Its lines are indented by its depth.
            one.steps.lose("indented JSON", one.number)
        leaves.append(one)
        return f"lexmill-stand-in-{len(leaves) - 1}-"

    pieces = re.split('"lexmill-stand-in-([0-9]+)-"', call(stand_in(value), *options))
    order = [int(piece) for piece in pieces[1::2]]
    # Sorted keys change the order. A text that looks like a stand-in is not told from it.
    if sorted(order) != list(range(len(leaves))):
        leaves[0].steps.lose("a stand-in")
    made: list[str] = [pieces[0]]
    for number, piece in zip(order, pieces[2::2], strict=True):
        leaf = leaves[number]
        made += [leaf.made(call, options, str.__str__(call(unwatched(leaf), *options))), piece]
    return joined(made)


def _without_markup(call: Any) -> Callable[..., Any]:  # noqa: ANN401 (as Jinja types its filters)
    @wraps(call)
    def give(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 (as the filter)
        lose_watched("markup", [arg for arg in args if type(arg) is WatchedValue and type(arg.value) is str])
        return call(*args, **kwargs)

    return give


def _items(call: Any) -> Callable[..., Any]:  # noqa: ANN401 (as Jinja types its filters)
    """A filter that looks at the keys of a dictionary alone, with its usual arguments."""

    @wraps(call)
    def give(value: object, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 (as the filter)
        lose_watched("items", [value] if type(value) is WatchedValue or args or kwargs else [])
        return call(value, *args, **kwargs)

    return give


def _safe(value: Any) -> Any:  # noqa: ANN401 (as the filter)
    """Markup of a text can be written and compared; all else would escape other texts."""
    if type(value) is Watched:
        return WatchedValue(str.__str__(value), value.steps, value.number)
    lose_watched("safe", [value])
    return plain_environment().filters["safe"](value)


def _length(value: Any) -> Any:  # noqa: ANN401 (as the filter)
    if type(value) is Watched:
        return value.counted(str.__len__, (), str.__len__(value))
    return len(value)


def _needle(value: object) -> object:
    lose_watched("in", [value])
    return value


def _join(value: Iterable[Any], d: str = "", attribute: str | int | None = None) -> str:
    """The filter `join` of an environment without escaping."""
    if attribute is not None:
        value = map(make_attrgetter(watching_environment(), attribute), value)
    parts: list[str] = []
    for item in value:
        parts += [str(d), str(item)] if parts else [str(item)]
    return joined(parts)
