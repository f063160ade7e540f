"""The operations of a template on the values of a conversation, as steps that can be done with other values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn, TypeAlias

__all__ = ["CONDITION", "LostTrackError", "Parts", "Step", "Steps", "Sum"]

CONDITION = -1

Parts: TypeAlias = tuple[str | int, ...]
"""Texts of a template, and numbers of values."""

_MOST_STEPS = 10_000
"""A template that does more with one conversation is not recorded."""


class LostTrackError(Exception):
    """The template does something with a value that is not recorded.

    Attributes:
        field: the number of the field that the value comes from; None if it comes from several.
    """

    def __init__(self, operation: str, field: int | None = None) -> None:
        super().__init__(operation)
        self.field = field


class Step(NamedTuple):
    """A call with a value.

    Attributes:
        source: the number of the value, which is the first argument.
        call: a method of `str`, or another function.
        args: further arguments, without watched values.
        item: the item of the result that is the next value; None if the result itself is; `CONDITION` if the step is a
            condition.
        expected: for a condition, the result that it needs, or the number of its items.
    """

    source: int
    call: Callable[..., Any]
    args: tuple[Any, ...]
    item: int | None = None
    expected: object = None


class Sum(NamedTuple):
    """Texts end to end."""

    parts: Parts


class Steps:
    """The steps of one rendering. Values have numbers: first the fields, then the results of steps, in their order.

    Attributes:
        lost: the error that ended the recording, even if the template goes on; None if there is none.
    """

    def __init__(self, fields: int) -> None:
        self.steps: list[Step | Sum] = []
        self.lost: LostTrackError | None = None
        self._fields: list[int | None] = list(range(fields))

    def add(self, step: Step | Sum) -> int:
        """Adds a step, or a sum of texts; the number of the new value."""
        self.require(step)
        self._fields.append(None if isinstance(step, Sum) else self._fields[step.source])
        return len(self._fields) - 1

    def require(self, step: Step | Sum) -> None:
        """Adds a condition."""
        if len(self.steps) == _MOST_STEPS:
            self.lose("many steps")
        self.steps.append(step)

    def lose(self, operation: str, number: int | None = None) -> NoReturn:
        """Ends the recording. `number` is the number of the value that the operation gets."""
        self.lost = LostTrackError(operation, None if number is None else self._fields[number])
        raise self.lost
