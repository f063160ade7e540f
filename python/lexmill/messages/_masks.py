"""The text to learn of a conversation, and the tokens that have it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from lexmill.errors import InputTypeError, SpanError, TemplateError
from lexmill.messages._recordings import Recording, Recordings, messages_of_parts, shape_of, watched_messages
from lexmill.messages._spans import Turn
from lexmill.messages._watched import LostTrackError, Watched
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
        # A function may look at the texts of messages.
        self._recordings = None if callable(roles) or template.is_random else Recordings()
        self._knows_time = "strftime_now" in template.text
        self._has_generation = template.has_generation
        self._is_generation = self._has_generation and not callable(roles) and set(roles) == {"assistant"}

    def ranges(self, one: Conversation, now: datetime) -> tuple[str, Ranges]:
        """The text of a conversation, and the ranges to learn, in order, none of which touch."""
        recordings = self._recordings
        shape = None if recordings is None or one.tools or one.documents else shape_of(one.messages)
        if recordings is None or shape is None:
            return self._rendered(one, now)[:2]
        if self._knows_time:
            shape = (now, *shape)
        if (replayed := recordings.replay(shape, one.messages)) is not None:
            text, found, is_compared = replayed
            if is_compared:
                self.renderer.compare(text, one, now)
            return text, found
        text, found, turns = self._rendered(one, now)
        if recordings.wants(shape):
            recording = self._recorded(one, now, (text, found, turns))
            recordings.add(shape, recording) if recording else recordings.give_up(shape)
        return text, found

    def _recorded(
        self, one: Conversation, now: datetime, rendered: tuple[str, Ranges, Sequence[Turn]]
    ) -> Recording | None:
        """A recording of a rendering; None if the template does something that is not recorded."""
        text, found, turns = rendered
        messages, fields, steps = watched_messages(one.messages)
        try:
            made = self.renderer.watched(messages, one, now)
            if not isinstance(made, Watched) or str.__str__(made) != text:
                return None
            for start, end, message in messages_of_parts(fields, made):
                if any(turn.start < end and start < turn.end and turn.message != message for turn in turns):
                    return None
            return Recording(fields, steps, made, found)
        except (LostTrackError, TemplateError):
            return None

    def _rendered(self, one: Conversation, now: datetime) -> tuple[str, Ranges, Sequence[Turn]]:
        """The text, the ranges to learn, and the turns as far as the ranges follow from them."""
        if self._is_generation:
            text, blocks = self.renderer.generation(one, now)
            return text, merged(blocks), ()
        text, layout = self.renderer.layout(one, now)
        taken = {number for number, message in enumerate(one.messages) if self._takes(number, message)}
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
        return text, merged(found), layout.turns

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
    at its start.
    """
    starts, ends = offsets[:, 0], offsets[:, 1]
    begun = np.searchsorted(ranges[:, 0], ends, side="left")
    ended = np.searchsorted(ranges[:, 1], starts, side="right")
    mask = begun > ended
    # The first range that the token meets begins after it does, or the last ends before it, or there is a gap.
    met = np.flatnonzero(mask)
    is_straddling = np.zeros(len(offsets), dtype=np.bool_)
    is_straddling[met] = (
        (ranges[ended[met], 0] > starts[met]) | (ranges[begun[met] - 1, 1] < ends[met]) | (begun[met] - ended[met] > 1)
    )
    return mask, is_straddling
