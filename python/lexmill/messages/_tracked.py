"""Strings that know where their characters came from, through all that a template does with them.

A `Tracked` string equals, hashes and behaves as the plain string with the same characters; its methods give the values
of `str` with the origins of the characters beside them. A result whose characters cannot be told apart has the origin
`Lost`, which names the operation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple, SupportsIndex, TypeAlias

from lexmill.errors import SpanError

__all__ = [
    "Generated",
    "Lost",
    "Origin",
    "Tracked",
    "TurnEnd",
    "TurnStart",
    "concatenated",
    "origins_in",
    "rewritten",
]


class Origin(NamedTuple):
    """Characters of a field of a message."""

    message: int
    field: str


class Lost(NamedTuple):
    """Characters that hold text of messages, made by an operation that does not say which."""

    operation: str


class TurnStart(NamedTuple):
    """An iteration of a loop over messages begins here. `loop` is the number of the loop in the template."""

    message: int
    loop: int


class TurnEnd(NamedTuple):
    """A loop ends here."""

    loop: int


class Generated(NamedTuple):
    """Characters within a `generation` block."""


Key: TypeAlias = Origin | Lost | TurnStart | TurnEnd | Generated
Run: TypeAlias = tuple[int, int, Key]
"""Start and end in characters, and their key. An empty run is a border, or an empty content."""


class Tracked(str):
    """A string with runs of origins; characters outside of all runs are the template's own."""

    __slots__ = ("runs",)
    runs: tuple[Run, ...]

    def __new__(cls, text: str = "", runs: tuple[Run, ...] = ()) -> Tracked:
        made = str.__new__(cls, text)
        made.runs = runs
        return made

    def __str__(self) -> str:
        return self

    def __add__(self, other: str) -> str:
        if type(other) is str:
            # Most sums in templates: the text of a message with the template's own after it, or before it below.
            return Tracked(str.__add__(self, other), self.runs)
        return concatenated([self, other]) if _is_joinable(other) else str.__add__(self, other)

    def __radd__(self, other: str) -> str:
        if type(other) is str:
            return Tracked(other + str.__str__(self), _shifted(self.runs, len(other)))
        return concatenated([other, self]) if _is_joinable(other) else NotImplemented

    def __mul__(self, times: SupportsIndex) -> str:
        return concatenated([self] * times.__index__())

    __rmul__ = __mul__

    def __getitem__(self, at: SupportsIndex | slice) -> str:
        text = str.__getitem__(self, at)
        if isinstance(at, slice):
            start, end, step = at.indices(len(self))
            if step == 1:
                return Tracked(text, _cut(self.runs, start, max(start, end)))
            if step == -1 and len(text) == len(self):
                size = len(self)
                return Tracked(text, tuple((size - end, size - start, key) for start, end, key in reversed(self.runs)))
            return rewritten("a slice with a step", text, self)
        start = at.__index__() % len(self)
        return Tracked(text, _cut(self.runs, start, start + 1))

    def __iter__(self) -> Iterator[str]:
        return (self[at] for at in range(len(self)))

    def _between(self, start: int, end: int) -> Tracked:
        """The text that `strip` leaves. Borders that stand in the white space move to its end."""
        size = end - start
        if size == len(self):
            return self
        text = str.__getitem__(self, slice(start, end))
        places = [(min(max(at - start, 0), size),) * 2 + (key,) for at, to, key in self.runs if at == to]
        spans = [run for run in self.runs if run[0] < run[1]]
        return Tracked(text, tuple(sorted([*_cut(spans, start, end), *places], key=_by_place)))

    def strip(self, chars: str | None = None, /) -> str:
        return self._between(
            start := len(self) - len(str.lstrip(self, chars)), max(start, len(str.rstrip(self, chars)))
        )

    def lstrip(self, chars: str | None = None, /) -> str:
        return self._between(len(self) - len(str.lstrip(self, chars)), len(self))

    def rstrip(self, chars: str | None = None, /) -> str:
        return self._between(0, len(str.rstrip(self, chars)))

    def removeprefix(self, prefix: str, /) -> str:
        return self[len(prefix) :] if self.startswith(prefix) else self

    def removesuffix(self, suffix: str, /) -> str:
        return self[: len(self) - len(suffix)] if suffix and self.endswith(suffix) else self

    def _pieces(self, texts: list[str], gap: int | None) -> list[str]:
        """Pieces of the text in their order; the same characters between all, or white space if `gap` is None."""
        found, at = [], 0
        for text in texts:
            start = at if gap is not None else str.find(self, text, at)
            found.append(self[start : start + len(text)])
            at = start + len(text) + (gap or 0)
        return found

    def split(self, sep: str | None = None, maxsplit: SupportsIndex = -1) -> list[str]:
        return self._pieces(str.split(self, sep, maxsplit), None if sep is None else len(sep))

    def rsplit(self, sep: str | None = None, maxsplit: SupportsIndex = -1) -> list[str]:
        return self._pieces(str.rsplit(self, sep, maxsplit), None if sep is None else len(sep))

    def splitlines(self, keepends: bool = False) -> list[str]:
        whole = self._pieces(str.splitlines(self, keepends=True), 0)
        plain = str.splitlines(self, keepends)
        return [line[: len(text)] for line, text in zip(whole, plain, strict=True)]

    def partition(self, sep: str, /) -> tuple[str, str, str]:
        before, found, after = self._pieces(list(str.partition(self, sep)), 0)
        return before, found, after

    def rpartition(self, sep: str, /) -> tuple[str, str, str]:
        before, found, after = self._pieces(list(str.rpartition(self, sep)), 0)
        return before, found, after

    def join(self, texts: Iterable[str], /) -> str:
        return joined(self, texts)

    def replace(self, old: str, new: str, count: SupportsIndex = -1, /) -> str:
        """Each replacement has the origin of the text in whose place it stands, or its own."""
        left = count.__index__()
        if not old:
            return rewritten("replace of an empty text", str.replace(self, old, new, left), [self, new])
        pieces: list[str] = []
        at = 0
        while left and (found := str.find(self, old, at)) >= 0:
            pieces.append(self[at:found])
            pieces.append(new if isinstance(new, Tracked) else self._replacement(new, found, found + len(old)))
            at = found + len(old)
            left -= 1
        return concatenated([*pieces, self[at:]]) if pieces else self

    def _replacement(self, new: str, start: int, end: int) -> str:
        taken = _cut(self.runs, start, end)
        spans = tuple(run for run in taken if run[0] < run[1])
        if spans:
            return rewritten("replace", new, Tracked(str.__getitem__(self, slice(start, end)), spans))
        # Only borders and empty contents are at the ends of the template's own text.
        return Tracked(new, tuple((0, 0, key) for _, _, key in taken))

    def _mapped(self, name: str, rewrite: Callable[[str], str]) -> str:
        """A rewrite of characters: run by run, if the runs do not depend on each other."""
        text = rewrite(str.__str__(self))
        if uniform_origin(self) is None:
            borders = sorted({0, len(self), *(at for run in self.runs for at in run[:2])})
            parts = [self[start:end] for start, end in pairwise(borders)]
            # Borders within a part's text would come twice, at the end of one part and the start of the next.
            if all(run[0] < run[1] for run in self.runs):
                made = concatenated([rewritten(name, rewrite(str.__str__(part)), part) for part in parts])
                if made == text:
                    return made
        return rewritten(name, text, self)

    def upper(self) -> str:
        return self._mapped("upper", str.upper)

    def lower(self) -> str:
        return self._mapped("lower", str.lower)

    def casefold(self) -> str:
        return self._mapped("casefold", str.casefold)

    def swapcase(self) -> str:
        return self._mapped("swapcase", str.swapcase)

    def capitalize(self) -> str:
        return self._mapped("capitalize", str.capitalize)

    def title(self) -> str:
        return self._mapped("title", str.title)

    def translate(self, table: Any, /) -> str:  # noqa: ANN401 (as str)
        return self._mapped("translate", lambda text: text.translate(table))

    def expandtabs(self, tabsize: SupportsIndex = 8) -> str:
        return rewritten("expandtabs", str.expandtabs(self, tabsize), self)

    def center(self, width: SupportsIndex, fill: str = " ", /) -> str:
        return self._padded(str.center(self, width, fill))

    def ljust(self, width: SupportsIndex, fill: str = " ", /) -> str:
        return self._padded(str.ljust(self, width, fill), 0)

    def rjust(self, width: SupportsIndex, fill: str = " ", /) -> str:
        return self._padded(text := str.rjust(self, width, fill), len(text) - len(self))

    def zfill(self, width: SupportsIndex, /) -> str:
        return rewritten("zfill", str.zfill(self, width), self)

    def _padded(self, text: str, before: int | None = None) -> str:
        """The text with padding, which is the template's. `center` puts the odd character where str does."""
        if before is None:
            room = len(text) - len(self)
            before = room // 2 + (room & len(text) & 1)
        return Tracked(text, _shifted(self.runs, before))


def _by_place(run: Run) -> tuple[int, int]:
    return run[0], run[1]


def _is_joinable(other: object) -> bool:
    """True for a string.

    Raises:
        SpanError: for markup, which would escape the text.
    """
    if isinstance(other, str) and type(other) not in (str, Tracked):
        message = "the template joins markup to the text of a message, whose spans are lost by this"
        raise SpanError(message)
    return isinstance(other, str)


def _shifted(runs: Iterable[Run], by: int) -> tuple[Run, ...]:
    return tuple([(start + by, end + by, key) for start, end, key in runs])


def _cut(runs: Iterable[Run], start: int, end: int) -> tuple[Run, ...]:
    """The runs within a range, from its start. An empty range keeps the keys of the runs that it lies in."""
    kept: list[Run] = []
    for first, last, key in runs:
        low, high = max(first, start), min(last, end)
        if low < high or (low == high and (first == last or start == end)):
            kept.append((low - start, high - start, key))
    return tuple(kept)


def concatenated(texts: Iterable[str]) -> str:
    """Strings end to end; a plain string if none of them is tracked."""
    parts = texts if isinstance(texts, list) else list(texts)
    runs: list[Run] = []
    at = 0
    for part in parts:
        if type(part) is Tracked and part.runs:
            start, end, key = part.runs[0]
            # Neighbours of one origin are one run.
            if runs and runs[-1][2] is key and runs[-1][1] == start + at and type(key) is Origin:
                runs[-1] = (runs[-1][0], end + at, key)
            else:
                runs.append((start + at, end + at, key))
            if len(part.runs) > 1:
                runs += [(start + at, end + at, key) for start, end, key in part.runs[1:]]
        at += len(part)
    text = "".join(parts)
    return Tracked(text, tuple(runs)) if runs else text


def joined(separator: str, texts: Iterable[str]) -> str:
    """`separator.join(texts)`."""
    parts: list[str] = []
    for at, text in enumerate(texts):
        parts += [separator, _with_origins(text)] if at else [_with_origins(text)]
    return concatenated(parts)


def origins_in(value: object) -> set[Key]:
    """The keys of all strings in a value of lists and dictionaries."""
    if isinstance(value, Tracked):
        return {run[2] for run in value.runs}
    if isinstance(value, dict):
        return origins_in([*value.keys(), *value.values()])
    if isinstance(value, list | tuple):
        return set().union(*map(origins_in, value))
    return origins_in(_with_origins(value)) if isinstance(value, str) and type(value) is not str else set()


def _with_origins(text: str) -> str:
    """The text of safe markup with its origins; any other text as it is."""
    found = text if type(text) in (str, Tracked) else getattr(text, "tracked", text)
    return found if type(found) is Tracked else str.__str__(text)


def uniform_origin(text: str) -> Key | None:
    """The origin of all characters of a string, if there is one."""
    if not isinstance(text, Tracked) or len(text.runs) != 1:
        return None
    start, end, key = text.runs[0]
    return key if start == 0 and end == len(text) and isinstance(key, Origin | Lost) else None


def rewritten(operation: str, text: str, source: object) -> str:
    """The result of an operation on a text, or on a value with texts in it, of one origin: all of it has that origin.

    A result of several origins, or of a text that is in part the template's, has none.
    """
    keys = origins_in(source)
    if not keys:
        return text
    key = uniform_origin(source) if isinstance(source, str) else next(iter(keys)) if len(keys) == 1 else None
    if not isinstance(key, Origin):
        key = next((key for key in keys if isinstance(key, Lost)), Lost(operation))
    return Tracked(text, ((0, len(text), key),))
