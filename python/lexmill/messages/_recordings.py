"""Renderings done again with other values, without the template.

The argument for it: docs/algorithms/message-spans.md, "Recordings".
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import accumulate
from typing import Any, TypeAlias

from lexmill.messages._shapes import NEUTRAL, Field, Openings, Owner, Shape
from lexmill.messages._spans import Turn
from lexmill.messages._steps import CONDITION, Parts, Step, Steps, Sum
from lexmill.messages._watched import Watched

__all__ = ["Recording", "Recordings"]

_Range: TypeAlias = tuple[int, int]

_MOST_SHAPES = 4096
_VARIANTS = 4
"""Recordings of one shape, whose values meet different conditions."""
_MOST_LOST = 3
_COMPARED = 2
_BETWEEN = 64
"""The first texts of a recording are compared with the template's own, and each 64th text after."""

_PURE = frozenset([str]) | frozenset(
    getattr(str, name)
    for name in [
        *("strip", "lstrip", "rstrip", "removeprefix", "removesuffix", "split", "rsplit", "splitlines"),
        *(
            "partition",
            "rpartition",
            "lower",
            "upper",
            "capitalize",
            "casefold",
            "swapcase",
            "title",
            "replace",
            "__getitem__",
        ),
    ]
)
"""Methods whose results have characters of the text alone."""
_COUNTS = frozenset(getattr(str, name) for name in ["__len__", "count", "find", "rfind", "index", "rindex"])
"""Methods whose results are numbers, which are the template's own."""


class Recordings:
    """The recordings of one template by the shapes of conversations."""

    def __init__(self) -> None:
        self.openings = Openings()
        self._seen: set[Shape] = set()
        self._made: dict[Shape, list[Recording]] = {}
        self._lost: dict[Shape, int] = {}

    def replay(self, shape: Shape, values: list[Any]) -> tuple[str, list[_Range], bool] | None:
        """The text and the ranges of a conversation, and if the text is to be compared; None without a recording."""
        for recording in self._made.get(shape, ()):
            found = recording.replay(values)
            if found is not None:
                return *found, recording.uses <= _COMPARED or recording.uses % _BETWEEN == 0
        return None

    def wants(self, shape: Shape) -> bool:
        """True if a conversation of the shape is to be recorded: the second one, and up to three more."""
        if self._lost.get(shape, 0) == _MOST_LOST:
            return False
        if shape in self._seen:
            return len(self._made.get(shape, ())) < _VARIANTS and len(self._made) < _MOST_SHAPES
        if len(self._seen) < _MOST_SHAPES:
            self._seen.add(shape)
        return False

    def add(self, shape: Shape, recording: Recording) -> None:
        self._made.setdefault(shape, []).append(recording)

    def open(self, field: Field) -> bool:
        """Opens the path of a field. This changes all shapes, so no recording is kept."""
        if not self.openings.open(field):
            return False
        for kept in (self._seen, self._made, self._lost):
            kept.clear()
        return True

    def lose(self, shape: Shape) -> None:
        """Notes that a conversation of the shape cannot be recorded. After three, no other is tried."""
        if shape in self._lost or len(self._lost) < _MOST_SHAPES:
            self._lost[shape] = self._lost.get(shape, 0) + 1


class Recording:
    """The work of a template on conversations of one shape whose values meet the same conditions.

    Attributes:
        uses: the number of replays.
    """

    def __init__(
        self,
        fields: Sequence[Field],
        steps: Steps,
        made: Watched,
        ranges: Sequence[_Range],
        turns: Sequence[Turn],
        taken: Collection[int],
        pure: Collection[Any],
    ) -> None:
        """Keeps the ranges of the recorded text so that they can be found in any other.

        Args:
            fields: the fields of the conversation.
            steps: the steps, to which conditions are added.
            made: the rendered text.
            ranges: its ranges to learn.
            turns: the turns from which the ranges follow.
            taken: the messages whose turns are learned.
            pure: functions whose results have characters of the first argument alone.

        Raises:
            LostTrackError: the ranges of another text may be at other places.
        """
        parts = _parts(fields, steps, made, pure)
        for turn in turns:
            if turn.message in taken:
                _check_turn(turn, parts, str.__str__(made), steps)
        self._steps = tuple(steps.steps)
        self._numbers = [number for _, _, number, _ in parts]
        places = [(start, end) for start, end, _, _ in parts]
        ends = [0, *(end for _, end in places)]
        starts = [*(start for start, _ in places), str.__len__(made)]
        plain = str.__str__(made)
        # A text of the template before each text of a message, and one after the last.
        self._texts = [plain[end:start] for end, start in zip(ends, starts, strict=True)]
        self._ranges = [(_place(low, places, steps), _place(high, places, steps)) for low, high in ranges]
        self.uses = 0

    def replay(self, values: list[Any]) -> tuple[str, list[_Range]] | None:
        """The text of another conversation of the shape, and its ranges; None if a condition does not hold."""
        values = values.copy()
        for step in self._steps:
            if len(step) == 1:
                values.append(_filled(step[0], values))
                continue
            source, call, args, item, expected = step
            try:
                found = call(values[source], *args)
            except (IndexError, ValueError):
                return None
            if item is None:
                values.append(found)
            elif item != CONDITION:
                values.append(found[item])
            elif (len(found) if type(found) in (list, tuple) else found) != expected:
                return None
        texts = [values[number] for number in self._numbers]
        if not all(texts):
            return None
        made = [""] * (2 * len(texts) + 1)
        made[::2], made[1::2] = self._texts, texts
        self.uses += 1
        sums = list(accumulate(map(len, texts), initial=0))
        return "".join(made), [(sums[low] + left, sums[high] + right) for (low, left), (high, right) in self._ranges]


_Part: TypeAlias = tuple[int, int, int, Owner]
"""Start and end of a text of a conversation in the rendered text, its number, and its owner."""


def _parts(fields: Sequence[Field], steps: Steps, made: Watched, pure: Collection[Any]) -> list[_Part]:
    """The texts of a conversation in a rendered text, without empty ones, which must be empty in a replay too.

    Raises:
        LostTrackError: a text may have characters of the template, or of several fields.
    """
    owners: list[Owner | None] = [field.owner for field in fields]
    for step in steps.steps:
        if isinstance(step, Sum):
            owners.append(_owner_of_sum(step.parts, owners))
        elif step.item == CONDITION:
            pass
        elif step.call in _COUNTS:
            owners.append(NEUTRAL)
        else:
            owners.append(owners[step.source] if step.call in _PURE or step.call in pure else None)
    found: list[_Part] = []
    start = 0
    for part, size in zip(made.parts, made.sizes, strict=True):
        if isinstance(part, int):
            owner = owners[part]
            if owner is None:
                steps.lose("a mixed text")
            if size:
                found.append((start, start + size, part, owner))
            else:
                steps.require(Step(part, str.__eq__, ("",), CONDITION, True))
        start += size
    return found


def _owner_of_sum(parts: Parts, owners: Sequence[Owner | None]) -> Owner | None:
    """The owner of texts end to end, if all have the same owner and the template adds nothing."""
    found = {owners[part] for part in parts if isinstance(part, int)}
    if len(found) != 1:
        return None
    (owner,) = found
    return owner if owner == NEUTRAL or all(isinstance(part, int) for part in parts) else None


def _check_turn(turn: Turn, parts: Sequence[_Part], text: str, steps: Steps) -> None:
    """Refuses a turn to learn whose ranges depend on more than the places of texts.

    Raises:
        LostTrackError: it has text of another message, or neutral text where the rules look for its header or its end.
    """
    inner = [part for part in parts if turn.start < part[1] and part[0] < turn.end]
    own = [start for start, _, _, owner in inner if owner[0] == turn.message]
    for start, end, number, owner in inner:
        if owner != NEUTRAL and owner[0] != turn.message:
            steps.lose("a text of another message")
        if owner == NEUTRAL:
            if not own or start < own[0]:
                steps.lose("a neutral text in a header", number)
            # The text to learn ends before white space that is not the message's.
            if _ends_with_space(text[start:end]):
                steps.lose("a neutral text before white space", number)
            steps.require(Step(number, _ends_with_space, (), CONDITION, False))


def _ends_with_space(text: str) -> bool:
    return text[-1:].isspace()


def _place(at: int, parts: Sequence[tuple[int, int]], steps: Steps) -> tuple[int, int]:
    """A place as the number of texts of the conversation before it, and the number of other characters before it."""
    texts = size = 0
    for start, end in parts:
        if at <= start:
            break
        if at < end:
            steps.lose("a range within a text")
        texts += 1
        size += end - start
    return texts, at - size


def _filled(parts: Parts, values: Sequence[Any]) -> str:
    return "".join([part if isinstance(part, str) else values[part] for part in parts])
