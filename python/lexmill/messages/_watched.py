"""Texts of messages that note all that a template does with them, so that it can be done again with other texts.

A `Watched` string behaves as the plain string with the same characters. Its results that are texts are watched too.
Each truth that depends on its characters becomes a condition. All else ends the recording.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, NoReturn, SupportsIndex, TypeAlias

__all__ = ["CONDITION", "LostTrackError", "Parts", "Step", "Steps", "Sum", "Watched", "holds_watched", "joined"]

CONDITION = -1

Parts: TypeAlias = tuple[str | int, ...]
"""Texts of a template, and numbers of texts of messages."""

_MOST_STEPS = 10_000
"""A template that does more with one conversation is not recorded."""


class LostTrackError(Exception):
    """The template does something with a text that is not recorded."""


class Step(NamedTuple):
    """A call of a method of a text.

    Attributes:
        source: the number of the text.
        method: the method.
        args: its arguments, without watched texts.
        item: the item of the result that is the next text; None if the result itself is; `CONDITION` if the step is a
            condition.
        expected: for a condition, the result that it needs, or the number of its items.
    """

    source: int
    method: str
    args: tuple[Any, ...]
    item: int | None = None
    expected: object = None


class Sum(NamedTuple):
    """Texts end to end."""

    parts: Parts


class Steps:
    """The steps of one rendering. Texts have numbers: first the fields, then the results of steps, in their order."""

    def __init__(self, fields: int) -> None:
        self.steps: list[Step | Sum] = []
        self._texts = fields

    def add(self, step: Step | Sum) -> int:
        """Adds a step, or a sum of texts; the number of the new text."""
        if len(self.steps) == _MOST_STEPS:
            self.lose("many steps")
        self.steps.append(step)
        self._texts += 1
        return self._texts - 1

    def require(self, step: Step) -> None:
        """Adds a condition."""
        if len(self.steps) == _MOST_STEPS:
            self.lose("many steps")
        self.steps.append(step)

    def lose(self, operation: str) -> NoReturn:
        """Ends the recording."""
        raise LostTrackError(operation)


class Watched(str):
    """A text with its parts, which are texts of the template and numbers of texts of messages, and their sizes."""

    __slots__ = ("parts", "sizes", "steps")
    parts: Parts
    sizes: tuple[int, ...]
    steps: Steps

    def __new__(cls, text: str, steps: Steps, parts: Parts, sizes: tuple[int, ...] | None = None) -> Watched:
        made = str.__new__(cls, text)
        made.steps, made.parts = steps, parts
        made.sizes = (str.__len__(made),) if sizes is None else sizes
        return made

    @property
    def number(self) -> int:
        """The number of this text."""
        if len(self.parts) != 1 or not isinstance(self.parts[0], int):
            self.parts, self.sizes = (self.steps.add(Sum(self.parts)),), (str.__len__(self),)
        number = self.parts[0]
        assert isinstance(number, int)
        return number

    def _made(self, method: str, args: tuple[Any, ...], text: str, item: int | None = None) -> Watched:
        return Watched(text, self.steps, (self.steps.add(Step(self.number, method, args, item)),))

    def _asked(self, method: str, args: tuple[Any, ...], outcome: object) -> None:
        self.steps.require(Step(self.number, method, args, CONDITION, outcome))

    def __str__(self) -> str:
        return self

    def __hash__(self) -> int:
        self.steps.lose("hash")

    def __iter__(self) -> Iterator[str]:
        self.steps.lose("iteration")
        yield self

    def __bool__(self) -> bool:
        is_full = str.__len__(self) > 0
        self._asked("__ne__", ("",), is_full)
        return is_full

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, str):
            return False
        _check((other,), self.steps)
        is_same = str.__eq__(self, other)
        self._asked("__eq__", (other,), is_same)
        return is_same

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __add__(self, other: str) -> str:
        return joined([self, other])

    def __radd__(self, other: str) -> str:
        return joined([other, self])

    def __getitem__(self, at: SupportsIndex | slice) -> str:
        return self._made("__getitem__", (at,), str.__getitem__(self, at))


def _check(args: Iterable[object], steps: Steps) -> None:
    """Refuses arguments that are watched, or strings of another kind."""
    for arg in args:
        if holds_watched(arg) or (isinstance(arg, str) and type(arg) is not str):
            steps.lose("an argument")


def holds_watched(value: object) -> bool:
    """True if a value of lists and dictionaries has a watched text, or is an iterator, which may have one."""
    if isinstance(value, dict):
        return any(map(holds_watched, value.keys())) or any(map(holds_watched, value.values()))
    if isinstance(value, list | tuple):
        return any(map(holds_watched, value))
    return type(value) is Watched or hasattr(value, "__next__")


def joined(texts: Iterable[Any]) -> str:
    """Texts end to end; a plain string if none is watched."""
    given = list(texts)
    made = "".join(given)
    steps = next((text.steps for text in given if type(text) is Watched), None)
    if steps is None:
        return made
    parts: list[str | int] = []
    sizes: list[int] = []
    for text in given:
        if type(text) is Watched:
            parts += text.parts
            sizes += text.sizes
        elif text:
            _check((text,), steps)
            parts.append(text)
            sizes.append(len(text))
    return Watched(made, steps, tuple(parts), tuple(sizes))


def _text_of(name: str) -> Callable[..., Any]:
    """A method of strings: a text is watched, a truth is a condition, and items of lists are watched."""
    plain = getattr(str, name)

    def call(self: Watched, *args: Any) -> Any:  # noqa: ANN401 (as str)
        _check(args, self.steps)
        made = plain(self, *args)
        if isinstance(made, bool):
            self._asked(name, args, made)
            return made
        if isinstance(made, str):
            return self._made(name, args, str.__str__(made))
        if isinstance(made, list | tuple):
            self._asked(name, args, len(made))
            return type(made)([self._made(name, args, str.__str__(text), at) for at, text in enumerate(made)])
        return self.steps.lose(name)

    return call


_OBJECT = frozenset(
    [
        *("__class__", "__new__", "__init__", "__init_subclass__", "__subclasshook__", "__getattribute__"),
        *("__setattr__", "__delattr__", "__dir__", "__reduce__", "__reduce_ex__", "__sizeof__", "__getnewargs__"),
    ]
)
_OTHER_CODE = frozenset(
    [
        *("join", "format", "format_map", "translate", "encode", "maketrans"),
        *("__mod__", "__rmod__", "__format__", "__repr__"),
    ]
)
"""Methods that put arguments into a text, or whose results other code reads."""


def _losing(name: str) -> Callable[..., Any]:
    def call(self: Watched, *_: object, **__: object) -> NoReturn:
        self.steps.lose(name)

    return call


for _name in dir(str):
    if _name not in vars(Watched) and _name not in _OBJECT and callable(getattr(str, _name)):
        setattr(Watched, _name, _losing(_name) if _name in _OTHER_CODE else _text_of(_name))
