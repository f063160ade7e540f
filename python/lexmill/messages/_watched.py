"""Values of conversations that note all that a template does with them, so that it can be done again with others.

A `Watched` string behaves as the plain string with the same characters. Its results that are texts are watched too.
A `WatchedValue` stands for a number, a list or a dictionary that the template has not looked into, and for a number
that the template makes of a text. Each truth that depends on a watched value becomes a condition. All else ends the
recording.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate, pairwise
from typing import Any, NoReturn, SupportsIndex

from lexmill.messages._steps import CONDITION, LostTrackError, Parts, Step, Steps, Sum

__all__ = ["Watched", "WatchedValue", "joined", "lose_watched", "unwatched", "watched_in"]


class Watched(str):
    """A text with its parts, which are texts of the template and numbers of texts of messages, and their sizes."""

    __slots__ = ("_number", "parts", "sizes", "steps")
    _number: int | None
    parts: Parts
    sizes: tuple[int, ...]
    steps: Steps

    def __new__(cls, text: str, steps: Steps, parts: Parts, sizes: tuple[int, ...] | None = None) -> Watched:
        made = str.__new__(cls, text)
        made.steps, made.parts = steps, parts
        made.sizes = (str.__len__(made),) if sizes is None else sizes
        made._number = None
        return made

    @property
    def number(self) -> int:
        """The number of this text."""
        if self._number is None:
            (part, *more) = self.parts or ("",)
            # The parts stay apart: a question of a text does not mix them.
            self._number = part if isinstance(part, int) and not more else self.steps.add(Sum(self.parts))
        return self._number

    def made(self, call: Callable[..., Any], args: tuple[Any, ...], text: str, item: int | None = None) -> Watched:
        """A text that is the result of a call with this one."""
        return Watched(text, self.steps, (self.steps.add(Step(self.number, call, args, item)),))

    def counted(self, call: Callable[..., int], args: tuple[Any, ...], count: int) -> WatchedValue:
        """A number that is the result of a call with this text."""
        return WatchedValue(count, self.steps, self.steps.add(Step(self.number, call, args)))

    def _asked(self, call: Callable[..., Any], args: tuple[Any, ...], outcome: object) -> None:
        self.steps.require(Step(self.number, call, args, CONDITION, outcome))

    def __str__(self) -> str:
        return self

    def __hash__(self) -> int:
        self.steps.lose("hash", self.number)

    def __iter__(self) -> Iterator[str]:
        self.steps.lose("iteration", self.number)
        yield self

    def __len__(self) -> int:
        self.steps.lose("length", self.number)

    def __bool__(self) -> bool:
        is_full = str.__len__(self) > 0
        self._asked(str.__ne__, ("",), is_full)
        return is_full

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, str):
            return False
        _check((other,), self.steps)
        is_same = str.__eq__(self, other)
        self._asked(str.__eq__, (other,), is_same)
        return is_same

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __add__(self, other: str) -> str:
        return joined([self, other])

    def __radd__(self, other: str) -> str:
        return joined([other, self])

    def strip(self, chars: str | None = None, /) -> str:
        return self._stripped(str.strip, chars)

    def lstrip(self, chars: str | None = None, /) -> str:
        return self._stripped(str.lstrip, chars)

    def rstrip(self, chars: str | None = None, /) -> str:
        return self._stripped(str.rstrip, chars)

    def _stripped(self, call: Callable[..., str], chars: str | None) -> str:
        """The text without `chars` at its ends: only the parts there are stripped."""
        args = () if chars is None else (chars,)
        plain = _outcome(self, call, args)
        if len(self.parts) < 2 or not plain:
            return self.made(call, args, plain)
        pieces = self._pieces()
        if call is not str.rstrip:
            _strip_first(pieces, str.lstrip, args)
        if call is not str.lstrip:
            pieces.reverse()
            _strip_first(pieces, str.rstrip, args)
            pieces.reverse()
        return joined(pieces)

    def _pieces(self) -> list[str]:
        """The parts as texts."""
        ends = list(accumulate(self.sizes, initial=0))
        plain = str.__str__(self)
        texts = [plain[start:end] for start, end in pairwise(ends)]
        return [
            part if isinstance(part, str) else Watched(text, self.steps, (part,))
            for part, text in zip(self.parts, texts, strict=True)
        ]

    def __getitem__(self, at: SupportsIndex | slice) -> str:
        return self.made(str.__getitem__, (at,), _outcome(self, str.__getitem__, (at,)))


class WatchedValue:
    """A number, a list or a dictionary with its number among the values."""

    __slots__ = ("number", "steps", "value")

    def __init__(self, value: Any, steps: Steps, number: int) -> None:  # noqa: ANN401 (a value of JSON)
        self.value, self.steps, self.number = value, steps, number

    def made(self, call: Callable[..., str], args: tuple[Any, ...], text: str) -> Watched:
        """A text that is the result of a call with this value."""
        return Watched(text, self.steps, (self.steps.add(Step(self.number, call, args)),))

    def _asked(self, call: Callable[..., Any], *args: object) -> Any:  # noqa: ANN401 (as the call)
        outcome = _outcome(self, call, args)
        self.steps.require(Step(self.number, call, args, CONDITION, outcome))
        return outcome

    def __str__(self) -> str:
        return self.made(str, (), str(self.value))

    def __bool__(self) -> bool:
        return bool(self._asked(bool))

    def __eq__(self, other: object) -> bool:
        return bool(self._asked(operator.eq, other))

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __lt__(self, other: object) -> bool:
        return bool(self._asked(operator.lt, other))

    def __le__(self, other: object) -> bool:
        return bool(self._asked(operator.le, other))

    def __gt__(self, other: object) -> bool:
        return bool(self._asked(operator.gt, other))

    def __ge__(self, other: object) -> bool:
        return bool(self._asked(operator.ge, other))

    def __hash__(self) -> int:
        self.steps.lose("hash", self.number)


def _strip_first(pieces: list[str], call: Callable[..., str], args: tuple[str, ...]) -> None:
    """Strips the first of several texts, and the next ones while nothing of the template's own is left."""
    while type(first := pieces[0]) is str:
        pieces[0] = stripped = call(first, *args)
        if stripped:
            return
        del pieces[0]
    assert isinstance(first, Watched)
    pieces[0] = stripped = first.made(call, args, call(str.__str__(first), *args))
    # Of a text that is stripped away, nothing is left in the place of its characters.
    if not stripped:
        first.steps.lose("a text that is stripped away", first.number)


def _check(args: Iterable[object], steps: Steps) -> None:
    """Refuses arguments that are watched, or strings of another kind."""
    for arg in args:
        lose_watched("an argument", (arg,))
        if isinstance(arg, str) and type(arg) is not str:
            steps.lose("an argument")


def _outcome(value: Watched | WatchedValue, call: Callable[..., Any], args: tuple[Any, ...]) -> Any:  # noqa: ANN401
    """The result of a call. A template may go on after an error, so an error ends the recording."""
    _check(args, value.steps)
    try:
        return call(unwatched(value), *args)
    except Exception as error:
        return value.steps.lose(type(error).__name__, value.number)


def watched_in(value: object) -> Watched | WatchedValue | None:
    """A watched value in a value of lists and dictionaries; None if there is none.

    Raises:
        LostTrackError: there is an iterator, which may have one.
    """
    if type(value) is Watched or type(value) is WatchedValue:
        return value
    inner: Iterable[object] = ()
    if isinstance(value, dict):
        inner = (*value.keys(), *value.values())
    elif isinstance(value, list | tuple):
        inner = value
    elif hasattr(value, "__next__"):
        operation = "an iterator"
        raise LostTrackError(operation)
    return next((found for one in inner if (found := watched_in(one)) is not None), None)


def lose_watched(operation: str, values: Iterable[object]) -> None:
    """Ends the recording if there is a watched value."""
    for value in values:
        if (found := watched_in(value)) is not None:
            found.steps.lose(operation, found.number)


def unwatched(value: Any) -> Any:  # noqa: ANN401 (any value)
    """The value without regard to the recording, for questions that its shape answers."""
    if type(value) is Watched:
        return str.__str__(value)
    return value.value if type(value) is WatchedValue else value


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
    """A method of strings: texts and numbers are watched, a truth is a condition, and items of lists are watched."""
    plain = getattr(str, name)

    def call(self: Watched, *args: Any) -> Any:  # noqa: ANN401 (as str)
        made = _outcome(self, plain, args)
        if isinstance(made, bool):
            self._asked(plain, args, made)
            return made
        if isinstance(made, str):
            return self.made(plain, args, str.__str__(made))
        if isinstance(made, list | tuple):
            self._asked(plain, args, len(made))
            return type(made)([self.made(plain, args, str.__str__(text), at) for at, text in enumerate(made)])
        if type(made) is int:
            return self.counted(plain, args, made)
        return self.steps.lose(name, self.number)

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
    def call(self: Watched | WatchedValue, *_: object, **__: object) -> NoReturn:
        self.steps.lose(name, self.number)

    return call


for _name in dir(str):
    if _name not in vars(Watched) and _name not in _OBJECT and callable(getattr(str, _name)):
        setattr(Watched, _name, _losing(_name) if _name in _OTHER_CODE else _text_of(_name))
for _name in {*dir(int), *dir(float), *dir(list), *dir(dict)}:
    if _name.startswith("__") and _name not in vars(WatchedValue) and _name not in _OBJECT and _name != "__doc__":
        setattr(WatchedValue, _name, _losing(_name))
