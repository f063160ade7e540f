"""Renderings done again with other texts, without the template.

The argument for it: docs/algorithms/message-spans.md, "Recordings".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any, TypeAlias

from lexmill.messages._watched import CONDITION, Parts, Steps, Sum, Watched
from lexmill.messages.conversations import UNTRACKED

__all__ = ["Recording", "Recordings", "Shape", "messages_of_parts", "shape_of", "watched_messages"]

Shape: TypeAlias = tuple[Any, ...]
_Range: TypeAlias = tuple[int, int]

_MOST_SHAPES = 1024
_VARIANTS = 4
"""Recordings of one shape, whose texts meet different conditions."""
_COMPARED = 2
_BETWEEN = 64
"""The first texts of a recording are compared with the template's own, and each 64th text after."""

_PURE = frozenset(
    [
        *("strip", "lstrip", "rstrip", "removeprefix", "removesuffix", "split", "rsplit", "splitlines"),
        *("partition", "rpartition", "lower", "upper", "capitalize", "casefold", "swapcase", "title", "__getitem__"),
    ]
)
"""Methods whose results have characters of the text alone."""


def shape_of(messages: Sequence[Mapping[str, Any]]) -> Shape | None:
    """All of a conversation but its texts; None if a message has a list or a dictionary."""
    found: list[Any] = []
    for message in messages:
        for name, value in message.items():
            kind = type(value)
            if kind is not str:
                if kind is list or kind is dict:
                    return None
                found.append((name, kind, value))
            elif name in UNTRACKED:
                found.append((name, value))
            else:
                found.append(name)
        found.append(None)
    return tuple(found)


class Recordings:
    """The recordings of one template by the shapes of conversations."""

    def __init__(self) -> None:
        self._seen: set[Shape] = set()
        self._made: dict[Shape, list[Recording]] = {}
        self._refused: set[Shape] = set()

    def replay(self, shape: Shape, messages: Sequence[Mapping[str, Any]]) -> tuple[str, list[_Range], bool] | None:
        """The text and the ranges of a conversation, and if the text is to be compared; None without a recording."""
        for recording in self._made.get(shape, ()):
            found = recording.replay(messages)
            if found is not None:
                return *found, recording.uses <= _COMPARED or recording.uses % _BETWEEN == 0
        return None

    def wants(self, shape: Shape) -> bool:
        """True if a conversation of the shape is to be recorded: the second one, and up to three more."""
        if shape in self._refused:
            return False
        if shape in self._seen:
            return len(self._made.get(shape, ())) < _VARIANTS and len(self._made) < _MOST_SHAPES
        if len(self._seen) < _MOST_SHAPES:
            self._seen.add(shape)
        return False

    def add(self, shape: Shape, recording: Recording) -> None:
        self._made.setdefault(shape, []).append(recording)

    def give_up(self, shape: Shape) -> None:
        """No more conversations of the shape are recorded."""
        self._refused.add(shape)


class Recording:
    """The work of a template on conversations of one shape whose texts meet the same conditions.

    Attributes:
        uses: the number of replays.
    """

    def __init__(
        self, fields: Sequence[tuple[int, str]], steps: Steps, made: Watched, ranges: Sequence[_Range]
    ) -> None:
        """Keeps the ranges of the recorded text so that they can be found in any other.

        Raises:
            LostTrackError: a range ends within a text of a message.
        """
        self._fields, self._steps, self._parts = fields, tuple(steps.steps), made.parts
        self._numbers = [part for part in made.parts if type(part) is int]
        self._ranges = [(self._place(low, made), self._place(high, made)) for low, high in ranges]
        self.uses = 0

    @staticmethod
    def _place(at: int, made: Watched) -> tuple[int, int]:
        """A place as the number of texts of messages before it, and the number of other characters before it."""
        texts = characters = start = 0
        for part, size in zip(made.parts, made.sizes, strict=True):
            if at <= start:
                break
            if type(part) is str:
                characters += min(size, at - start)
            elif at < start + size:
                made.steps.lose("a range within a text")
            else:
                texts += 1
            start += size
        return texts, characters

    def replay(self, messages: Sequence[Mapping[str, Any]]) -> tuple[str, list[_Range]] | None:
        """The text of another conversation of the shape, and its ranges; None if a condition does not hold."""
        texts: list[str] = [messages[number][name] for number, name in self._fields]
        for step in self._steps:
            if isinstance(step, Sum):
                texts.append(_filled(step.parts, texts))
                continue
            source, method, args, item, expected = step
            try:
                found = getattr(texts[source], method)(*args)
            except (IndexError, ValueError):
                return None
            if item is None:
                texts.append(found)
            elif item != CONDITION:
                texts.append(found[item])
            elif (len(found) if isinstance(found, list | tuple) else found) != expected:
                return None
        parts = [texts[number] for number in self._numbers]
        if not all(parts):
            return None
        sums = list(accumulate(map(len, parts), initial=0))
        self.uses += 1
        return _filled(self._parts, texts), [
            (sums[low] + left, sums[high] + right) for (low, left), (high, right) in self._ranges
        ]


def _filled(parts: Parts, texts: Sequence[str]) -> str:
    return "".join([part if isinstance(part, str) else texts[part] for part in parts])


def watched_messages(
    messages: Sequence[Mapping[str, Any]],
) -> tuple[list[dict[str, Any]], list[tuple[int, str]], Steps]:
    """The messages with watched texts; the fields of these, in the order of their numbers; and no steps yet."""
    fields = [
        (number, name)
        for number, message in enumerate(messages)
        for name, value in message.items()
        if type(value) is str and name not in UNTRACKED
    ]
    steps = Steps(len(fields))
    made = [dict(message) for message in messages]
    for at, (number, name) in enumerate(fields):
        made[number][name] = Watched(made[number][name], steps, (at,))
    return made, fields, steps


def messages_of_parts(fields: Sequence[tuple[int, str]], made: Watched) -> list[tuple[int, int, int]]:
    """Start, end and message of each text of a message in a rendered text.

    Raises:
        LostTrackError: a text is empty, or may have characters of the template or of several messages.
    """
    owners: list[int | None] = [number for number, _ in fields]
    for step in made.steps.steps:
        if isinstance(step, Sum):
            owners.append(None)
        elif step.item != CONDITION:
            owners.append(owners[step.source] if step.method in _PURE else None)
    found = []
    start = 0
    for part, size in zip(made.parts, made.sizes, strict=True):
        if type(part) is int:
            owner = owners[part]
            if owner is None or size == 0:
                made.steps.lose("an empty or mixed text")
            found.append((start, start + size, owner))
        start += size
    return found
