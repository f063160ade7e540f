"""Jinja environments for chat templates: the plain one, set up as transformers sets it up, and one that tracks text.

The tracking environment gives the same text. Its strings are `Tracked`, its operations and filters keep their origins,
and its loops over messages put a border into the output for each message.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from datetime import date
from functools import cache, lru_cache, wraps
from typing import Any

from jinja2 import Environment, TemplateError, nodes
from jinja2.exceptions import SecurityError
from jinja2.ext import Extension, LoopControlExtension
from jinja2.filters import make_attrgetter
from jinja2.parser import Parser
from jinja2.runtime import Context, LoopContext, Macro
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Namespace
from markupsafe import Markup

from lexmill.errors import SpanError
from lexmill.messages._borders import BORDERS, Message, mark_loops
from lexmill.messages._safe import Safe
from lexmill.messages._tracked import (
    Generated,
    Lost,
    Tracked,
    concatenated,
    joined,
    origins_in,
    rewritten,
)

__all__ = [
    "STRING_METHODS",
    "ChatEnvironment",
    "FollowingEnvironment",
    "Generation",
    "Names",
    "TemplateDict",
    "arguments",
    "plain_environment",
    "set_up",
    "tracking_environment",
]

_REWRITING = ("center", "indent", "striptags", "title", "tojson", "truncate", "urlencode", "wordwrap")
"""Filters whose result has the origin of their value."""
_OF_TEXT = ("capitalize", "lower", "string", "trim", "upper")
"""Filters that make a text of their value first, and leave the rest to the methods of strings."""
_LOSING = ("escape", "e", "forceescape", "format", "pprint", "urlize", "xmlattr")
_WITHOUT_TEXT = frozenset(["strip", "lstrip", "rstrip", "removeprefix", "removesuffix"])
"""Methods of strings whose arguments do not get into the result."""


class _Marked(Markup):
    """Markup that is not joined to the text of messages: it would escape it, and have no place for its origins."""

    __slots__ = ()

    @classmethod
    def escape(cls, s: Any, /) -> _Marked:  # noqa: ANN401 (as Markup)
        if origins_in(s):
            message = "the template joins markup to the text of a message, whose spans are lost by this"
            raise SpanError(message)
        return super().escape(s)


class Names(Namespace):
    """A namespace without names that begin with an underscore, which lead into the interpreter."""

    def __init__(*args: Any, **kwargs: Any) -> None:  # noqa: ANN401 (any values)
        self, *given = args
        values = dict(*given, **kwargs)
        for name in values:
            _check_name(name)
        Namespace.__init__(self, values)

    def __setitem__(self, name: str, value: object) -> None:
        _check_name(name)
        super().__setitem__(name, value)


def _check_name(name: object) -> None:
    if isinstance(name, str) and name.startswith("_"):
        message = f"the template stores {name!r} in a namespace, where no name may begin with an underscore"
        raise SecurityError(message)


class TemplateDict:
    """`dict` in a template: without the attributes of the class."""

    def __call__(self, *args: Any, **kwargs: Any) -> dict[Any, Any]:  # noqa: ANN401 (as dict)
        return dict(*args, **kwargs)

    def fromkeys(self, keys: Iterable[Any], value: object = None) -> dict[Any, Any]:
        return dict.fromkeys(keys, value)


def _raise_exception(message: str) -> None:
    raise TemplateError(message)


def _tojson(
    value: object,
    ensure_ascii: bool = False,
    indent: int | str | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    """JSON as transformers' filter gives it: characters beyond ASCII stay, and `<`, `>`, `&` are not escaped."""
    # A template may pass a list, which is no key of a cache.
    return _encoder(ensure_ascii, indent, separators and (*separators,), sort_keys).encode(value)


@lru_cache(maxsize=64, typed=True)
def _encoder(
    ensure_ascii: bool, indent: int | str | None, separators: tuple[str, str] | None, sort_keys: bool
) -> json.JSONEncoder:
    """`json.dumps` makes an encoder for each call with options, which takes longer than a short value."""
    return json.JSONEncoder(ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


class Generation(Extension):
    """`{% generation %}`: the text that the model generates."""

    tags = {"generation"}  # noqa: RUF012 (as Jinja has it)

    def parse(self, parser: Parser) -> nodes.Node:
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return nodes.CallBlock(self.call_method("mark_generated"), [], [], body).set_lineno(line)

    def mark_generated(self, caller: Callable[[], str]) -> str:
        text = caller()
        if not isinstance(self.environment, _TrackingEnvironment):
            return text
        runs = text.runs if isinstance(text, Tracked) else ()
        return Tracked(text, ((0, len(text), Generated()), *runs))


class ChatEnvironment(ImmutableSandboxedEnvironment):
    """A sandbox that gives the usual attributes without the usual checks, where their outcome is known."""

    def getattr(self, obj: Any, attribute: str) -> Any:  # noqa: ANN401 (as Jinja)
        kind = type(obj)
        if kind is dict or kind is Message:
            # Jinja looks for a method first, and for an item then.
            if attribute not in _DICT and attribute in obj:
                return obj[attribute]
        elif kind is str or kind is Tracked:
            if attribute in STRING_METHODS:
                return getattr(obj, attribute)
            if not attribute.startswith("format"):
                # Such as `runs`, which no plain string has.
                return super().getattr(str.__str__(obj), attribute)
        elif kind is LoopContext:
            if attribute in _LOOP:
                return getattr(obj, attribute)
        elif kind is Names and not attribute.startswith("_"):
            try:
                value = getattr(obj, attribute)
            except AttributeError:
                return super().getattr(obj, attribute)
            if type(value) in _VALUES:
                return value
        return super().getattr(obj, attribute)


_DICT = frozenset(dir(dict))
STRING_METHODS = frozenset(name for name in dir(str) if not name.startswith(("_", "format")))
_LOOP = frozenset(["depth", "depth0", "first", "index", "index0", "last", "length", "revindex", "revindex0"])
_VALUES = frozenset([str, Tracked, int, bool, float, type(None), list, dict, Message])


def set_up(environment: Environment) -> None:
    environment.filters["tojson"] = _tojson
    environment.globals.update(raise_exception=_raise_exception, dict=TemplateDict(), namespace=Names)


@cache
def plain_environment() -> Environment:
    """The environment that transformers has for chat templates."""
    made = ChatEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[Generation, LoopControlExtension])
    set_up(made)
    return made


@cache
def tracking_environment() -> Environment:
    """The environment whose output is tracked."""
    made = _TrackingEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, LoopControlExtension], finalize=_finalized
    )
    set_up(made)
    for name in _REWRITING:
        made.filters[name] = _keeping(name, made.filters[name])
    for name in _OF_TEXT:
        made.filters[name] = _of_text(made.filters[name])
    for name in _LOSING:
        made.filters[name] = _losing(f"filter {name}", made.filters[name])
    made.filters |= {"safe": _safe, "join": _join, "replace": _replace} | BORDERS
    return made


class FollowingEnvironment(ChatEnvironment):
    """A sandbox whose texts are followed: it joins them by functions of its own."""

    intercepted_binops = frozenset(["%"])

    @staticmethod
    def str_join(values: Iterable[object]) -> str:
        """The operator `~`."""
        raise NotImplementedError

    def from_string(self, source: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 (as Jinja)
        made = super().from_string(source, *args, **kwargs)
        # The operator `~` of compiled templates is a name in their module.
        made.root_render_func.__globals__["str_join"] = self.str_join
        return made


class _TrackingEnvironment(FollowingEnvironment):
    """Keeps the origins of text through everything that makes strings of strings."""

    @staticmethod
    def concat(texts: Iterable[str]) -> str:
        return concatenated(texts)

    @staticmethod
    def str_join(values: Iterable[object]) -> str:
        return concatenated([str(_finalized(value)) for value in values])

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        tree = super()._parse(source, name, filename)
        if tree.find(nodes.EvalContextModifier) is not None:
            message = "the template uses autoescape, through which the spans of messages cannot be followed"
            raise SpanError(message)
        mark_loops(tree)
        return tree

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:  # noqa: ANN401 (as Jinja)
        made = super().call_binop(context, operator, left, right)
        return _lost("operator %", made, (left, right)) if isinstance(made, str) else made

    def call(__self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 (as Jinja)
        owner = getattr(__obj, "__self__", None)
        name = getattr(__obj, "__name__", "")
        if type(owner) is str and (args or arguments(kwargs)):
            if name == "join":
                return joined(owner, *args, **arguments(kwargs))
            if name == "replace" and origins_in(args):
                __obj = Tracked(owner).replace
        made = ChatEnvironment.call(__self, __context, __obj, *args, **kwargs)
        if not isinstance(made, str) or isinstance(__obj, Macro):
            return made
        if name in ("format", "format_map"):
            return _lost(f"str.{name}", str.__str__(made), (__obj.__wrapped__.__self__, args, kwargs))
        kwargs = arguments(kwargs)
        if isinstance(owner, bytes):
            return Tracked(made, ((0, len(made), Lost(f"bytes.{name}")),))
        if type(made) is str and isinstance(owner, str | date) and name not in _WITHOUT_TEXT:
            return _lost(f"{type(owner).__name__}.{name}", made, (args, kwargs))
        return made


def _finalized(value: object) -> object:
    """A value that is written out: numbers and other values without text of messages stay as they are."""
    kind = type(value)
    if kind is Tracked or kind is str or kind is int:
        return value
    if isinstance(value, Markup):
        return value.tracked if isinstance(value, Safe) else value
    if isinstance(value, bytes):
        text = str(value)
        return Tracked(text, ((0, len(text), Lost("an output of bytes")),))
    return rewritten(f"an output of type {kind.__name__}", str(value), value) if origins_in(value) else value


def _join(value: Iterable[Any], d: str = "", attribute: str | int | None = None) -> str:
    """The filter `join` of an environment without escaping."""
    if attribute is not None:
        value = map(make_attrgetter(tracking_environment(), attribute), value)
    return joined(str(d), [str(_finalized(item)) for item in value])


def _replace(s: object, old: object, new: object, count: int | None = None) -> str:
    """The filter `replace` of an environment without escaping."""
    text = str(_finalized(s))
    # A plain text gets origins from a tracked replacement.
    tracked = text if isinstance(text, Tracked) else Tracked(text)
    return tracked.replace(str(old), str(_finalized(new)), -1 if count is None else count)


def arguments(kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call, without the variables of loops and blocks that Jinja passes along."""
    return {name: value for name, value in kwargs.items() if name not in ("_loop_vars", "_block_vars")}


def _given(args: tuple[object, ...]) -> list[object]:
    """The arguments of a filter, without the context that Jinja puts first for some."""
    return [arg for arg in args if not isinstance(arg, Context | Environment | nodes.EvalContext)]


def _of_text(call: Callable[..., str]) -> Callable[..., str]:
    @wraps(call)
    def give(value: object, *args: Any, **kwargs: Any) -> str:  # noqa: ANN401 (as the filter)
        return call(_finalized(value), *args, **kwargs)

    return give


def _keeping(name: str, call: Callable[..., str]) -> Callable[..., str]:
    @wraps(call)
    def keep(*args: Any, **kwargs: Any) -> str:  # noqa: ANN401 (as the filter)
        value, *others = _given(args)
        made = call(*args, **kwargs)
        if origins_in(others) or origins_in(kwargs) or isinstance(made, Markup):
            return _lost(f"filter {name}", made, (value, others, kwargs))
        return rewritten(f"filter {name}", made, value)

    return keep


def _losing(operation: str, call: Callable[..., str]) -> Callable[..., str]:
    @wraps(call)
    def lose(*args: Any, **kwargs: Any) -> str:  # noqa: ANN401 (as the filter)
        made = _lost(operation, call(*args, **kwargs), (_given(args), kwargs))
        return _Marked(made) if isinstance(made, Markup) else made

    return lose


def _safe(value: Any) -> str:  # noqa: ANN401 (as the filter)
    if isinstance(value, Tracked):
        return Safe.of(value)
    return _losing("filter safe", plain_environment().filters["safe"])(value)


def _lost(operation: str, made: str, source: object) -> str:
    """The result of an operation that does not say which of its characters come from messages.

    Raises:
        SpanError: it is markup, which has no place for a note of this.
    """
    if not origins_in(source):
        return made
    if isinstance(made, Markup):
        message = f"the template applies {operation} to the text of a message, whose spans are lost by this"
        raise SpanError(message)
    return Tracked(made, ((0, len(made), Lost(operation)),))
