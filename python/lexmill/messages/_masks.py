"""The text to learn of a conversation, and the tokens that have it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from lexmill.errors import InputTypeError, SpanError, TemplateError
from lexmill.messages._recordings import Recording, Recordings
from lexmill.messages._shapes import Shape
from lexmill.messages._spans import Turn
from lexmill.messages._steps import LostTrackError
from lexmill.messages._watched import Watched
from lexmill.messages.conversations import Conversation
from lexmill.messages.rendering import Renderer
from lexmill.messages.template import ChatTemplate

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["Mask", "Ranges", "TextToLearn", "covered"]

Mask: TypeAlias = str | Collection[str] | Callable[[int, Mapping[str, Any]], bool]
"""The turns to learn: `assistant`, a role or several, or a function of a message's number and the message."""

Ranges: TypeAlias = list[tuple[int, int]]
"""Half-open ranges of characters."""


class _Rendered(NamedTuple):
    """A rendered conversation.

    Attributes:
        text: the text.
        ranges: the ranges to learn.
        turns: the turns from which they follow; none if they are `generation` blocks alone.
        taken: the messages whose turns are learned.
    """

    text: str
    ranges: Ranges
    turns: Sequence[Turn]
    taken: set[int]


class TextToLearn:
    """A template with the choice of its turns: from a conversation to its text and the ranges to learn."""

    def __init__(
        self,
        template: ChatTemplate,
        mask: Mask,
        *,
        add_generation_prompt: bool,
        variables: Mapping[str, Any] | None,
    ) -> None:
        self.renderer = Renderer(template, add_generation_prompt=add_generation_prompt, variables=variables)
        self._takes: Callable[[int, Mapping[str, Any]], bool]
        roles = [mask] if isinstance(mask, str) else mask
        if callable(roles):
            self._takes = roles
        elif isinstance(roles, Collection) and all(isinstance(role, str) for role in roles):
            names = frozenset(roles)
            self._takes = lambda _, message: message["role"] in names
        else:
            message = f"mask is {mask!r} but must be a role, a list of roles or a function"
            raise InputTypeError(message)
        self._is_chosen = callable(roles)
        self._recordings = None if template.is_random else Recordings()
        self._knows_time = "strftime_now" in template.text
        self._has_generation = template.has_generation
        self._is_generation = self._has_generation and not callable(roles) and set(roles) == {"assistant"}

    def ranges(self, one: Conversation, now: datetime) -> tuple[str, Ranges]:
        """The text of a conversation, and the ranges to learn, in order, none of which touch."""
        # Roles are in the shape. A function may choose by the texts of messages.
        taken = self._taken(one) if self._is_chosen else None
        recordings = self._recordings
        if recordings is None:
            found = self._rendered(one, now, taken)
            return found.text, found.ranges
        shape, values = self._shape_of(recordings, one, now, taken)
        if (replayed := recordings.replay(shape, values)) is not None:
            text, ranges, is_compared = replayed
            if is_compared:
                self.renderer.compare(text, one, now)
            return text, ranges
        found = self._rendered(one, now, taken)
        if recordings.wants(shape):
            while self._is_opened(recordings, shape, one, now, found):
                shape, _ = self._shape_of(recordings, one, now, taken)
        return found.text, found.ranges

    def _shape_of(
        self, recordings: Recordings, one: Conversation, now: datetime, taken: set[int] | None
    ) -> tuple[Shape, list[Any]]:
        shape, values = recordings.openings.shape_of(one)
        if taken is not None:
            shape = (*sorted(taken), *shape)
        return ((now, *shape) if self._knows_time else shape), values

    def _is_opened(
        self, recordings: Recordings, shape: Shape, one: Conversation, now: datetime, rendered: _Rendered
    ) -> bool:
        """Records a rendering; True if the conversation must have another shape first."""
        watched, fields, steps = recordings.openings.watched(one)
        try:
            made = self.renderer.watched(watched, now)
            if steps.lost is not None:
                raise steps.lost
            if isinstance(made, Watched) and str.__str__(made) == rendered.text:
                recording = Recording(
                    fields, steps, made, rendered.ranges, rendered.turns, rendered.taken, _rewriting()
                )
                recordings.add(shape, recording)
                return False
        except LostTrackError as error:
            if error.field is not None and recordings.open(fields[error.field]):
                return True
        except TemplateError:
            pass
        recordings.lose(shape)
        return False

    def _taken(self, one: Conversation) -> set[int]:
        return {number for number, message in enumerate(one.messages) if self._takes(number, message)}

    def _rendered(self, one: Conversation, now: datetime, taken: set[int] | None = None) -> _Rendered:
        """The text, the ranges to learn, and the turns as far as the ranges follow from them."""
        if self._is_generation:
            text, blocks = self.renderer.generation(one, now)
            return _Rendered(text, merged(blocks), (), set())
        text, layout = self.renderer.layout(one, now)
        if taken is None:
            taken = self._taken(one)
        found: Ranges = []
        for turn in layout.turns:
            if turn.message not in taken:
                continue
            if self._has_generation and turn.role == "assistant":
                found += [block for block in layout.generation if turn.start <= block[0] and block[1] <= turn.end]
            elif turn.message in layout.unclear:
                self._refuse(layout.unclear[turn.message])
            else:
                found += turn.text
        for number in taken.difference(turn.message for turn in layout.turns):
            if one.messages[number]["role"] == "assistant" and number in layout.unclear:
                self._refuse(layout.unclear[number])
            found += [(low, high) for low, high, origin in layout.spans if origin.message == number and low < high]
        return _Rendered(text, merged(found), layout.turns, taken)

    def _refuse(self, reason: str) -> None:
        message = f"{self.renderer.template.name} {reason}; mark the text to learn by {{% generation %}} blocks"
        raise SpanError(message)


def merged(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """Ranges in order; ranges that touch or overlap are one."""
    found: Ranges = []
    for start, end in sorted(ranges):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return found


def covered(
    offsets: npt.NDArray[np.int64], ranges: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Tokens with a character in a range, and the tokens among them with other characters too.

    A token has characters in common with a range exactly if the range begins before the token's end, and has not ended
    at its start. Offsets are in order, unless a normalizer changed the order of characters.
    """
    starts, ends = np.ascontiguousarray(offsets.T)
    if (starts[1:] < starts[:-1]).any() or (ends[1:] < ends[:-1]).any():
        return _covered_in_any_order(starts, ends, ranges)
    # There are far fewer ranges than tokens, so ranges are looked for among tokens.
    first = np.searchsorted(ends, ranges[:, 0], side="right")
    last = np.searchsorted(starts, ranges[:, 1], side="left")
    begun = np.searchsorted(starts, ranges[:, 0], side="left")
    ended = np.searchsorted(ends, ranges[:, 1], side="right")
    mask = _marked(first, last, len(starts))
    # A token of two ranges has the characters between them, and is the last of the first range.
    return mask, _marked(first, begun, len(starts)) | _marked(ended, last, len(starts))


def _marked(starts: npt.NDArray[np.int64], ends: npt.NDArray[np.int64], size: int) -> npt.NDArray[np.bool_]:
    """True at the positions of half-open ranges, of which some are empty."""
    is_full = starts < ends
    begins, stops = (np.bincount(at[is_full], minlength=size + 1) for at in (starts, ends))
    return np.cumsum(begins - stops)[:size] > 0


def _covered_in_any_order(
    starts: npt.NDArray[np.int64], ends: npt.NDArray[np.int64], ranges: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    begun = np.searchsorted(ranges[:, 0], ends, side="left")
    ended = np.searchsorted(ranges[:, 1], starts, side="right")
    mask = begun > ended
    # The first range that the token meets begins after the token, or the last range ends before the token's end, or
    # there is a gap.
    met = np.flatnonzero(mask)
    is_straddling = np.zeros(len(starts), dtype=np.bool_)
    is_straddling[met] = (
        (ranges[ended[met], 0] > starts[met]) | (ranges[begun[met] - 1, 1] < ends[met]) | (begun[met] - ended[met] > 1)
    )
    return mask, is_straddling


def _rewriting() -> Collection[Callable[..., str]]:
    from lexmill.messages._watching import rewriting_filters

    return rewriting_filters()
