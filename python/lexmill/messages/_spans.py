"""From the origins of characters to the turns of a conversation, and the text of each turn that a model writes."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from lexmill.errors import SpanError
from lexmill.messages._tracked import Generated, Lost, Origin, Run, Tracked, TurnEnd, TurnStart

__all__ = ["Layout", "Turn", "layout_of", "shared_length"]

_Range = tuple[int, int]
_MARKER_ENDS = ">]:\n"


class Turn(NamedTuple):
    """The text that a template writes for one message: an iteration of its loop over messages.

    Attributes:
        message: the number of the message.
        role: its role.
        start: the first character of the header.
        end: one past the last character, white space after the end marker included.
        text: the ranges after the header up to the end marker, which is included: the text to learn. It is one range,
            unless the template writes another message within this one.
    """

    message: int
    role: str
    start: int
    end: int
    text: tuple[_Range, ...]


@dataclass(frozen=True)
class Layout:
    """Where messages are in a text.

    Attributes:
        spans: ranges with their origins, in order.
        turns: in order.
        generation: ranges of `generation` blocks, in order.
        unclear: messages whose turns have no text that can be told from other text, each with the reason.
    """

    spans: list[tuple[int, int, Origin]]
    turns: tuple[Turn, ...]
    generation: tuple[_Range, ...]
    unclear: dict[int, str]


@dataclass
class _Open:
    """A turn that is read."""

    message: int
    loop: int
    start: int
    pieces: list[_Range] = field(default_factory=list)

    def close_piece(self, end: int) -> None:
        if end > self.start:
            self.pieces.append((self.start, end))
        self.start = end


def layout_of(text: str, messages: Sequence[Mapping[str, Any]], prompt: str, *, has_prompt: bool = False) -> Layout:
    """Where messages are in a tracked text.

    Args:
        text: the output of the tracking template.
        messages: the messages.
        prompt: the generation prompt, which is the header of an assistant's turn.
        has_prompt: the text ends with a generation prompt.

    Raises:
        SpanError: characters of unknown origin are in the text.
    """
    runs = text.runs if isinstance(text, Tracked) else ()
    spans: list[tuple[int, int, Origin]] = []
    generation: list[_Range] = []
    for start, end, key in runs:
        kind = type(key)
        if kind is Origin:
            spans.append((start, end, key))  # type: ignore[arg-type]
        elif kind is Generated:
            generation.append((start, end))
        elif isinstance(key, Lost):
            message = (
                f"the template applies {key.operation} to the text of a message, whose spans are lost by this; mark "
                "the generated text by {% generation %} blocks, or leave out this operation"
            )
            raise SpanError(message)
    spans.sort()
    generation.sort()
    found = _turns(runs, len(text))
    if found and not has_prompt:
        # Templates may write the end marker of the last turn after the loop.
        last = max(found, key=lambda turn: turn.pieces[-1][1])
        start, end = last.pieces[-1]
        if not any(span[1] > end for span in spans):
            last.pieces[-1] = (start, len(text))
    by_message: dict[int, list[tuple[int, int, Origin]]] = {}
    for span in spans:
        by_message.setdefault(span[2].message, []).append(span)
    plain = str.__str__(text)
    turns = [_turn(one, plain, messages, by_message.get(one.message, []), prompt) for one in found]
    return Layout(spans, tuple(turns), tuple(generation), _unclear(spans, turns))


def _unclear(spans: Sequence[tuple[int, int, Origin]], turns: Sequence[Turn]) -> dict[int, str]:
    """Messages without a turn, and turns whose text has text of other messages."""
    reasons: dict[int, str] = {}
    numbers = {turn.message for turn in turns}
    for start, end, origin in spans:
        if start < end and origin.message not in numbers:
            reasons[origin.message] = f"writes message {origin.message} outside of a loop over messages"
    starts = [span[0] for span in spans]
    for turn in turns:
        for low, high in turn.text:
            for start, end, origin in spans[bisect_left(starts, low) : bisect_left(starts, high)]:
                if start < end and origin.message != turn.message:
                    reasons[turn.message] = f"writes message {origin.message} within the turn of message {turn.message}"
    return reasons


def _turns(runs: Sequence[Run], size: int) -> list[_Open]:
    """The turns that have text, in the order of their starts."""
    reading: list[_Open] = []
    found: list[_Open] = []
    for at, _, key in runs:
        if not isinstance(key, TurnStart | TurnEnd):
            continue
        is_open = bool(reading) and (reading[-1].loop == key.loop or any(one.loop == key.loop for one in reading))
        if reading and (is_open or isinstance(key, TurnStart)):
            reading[-1].close_piece(at)
        if is_open:
            while (done := reading.pop()).loop != key.loop:
                found.append(done)
            found.append(done)
            if reading:
                reading[-1].start = at
        if isinstance(key, TurnStart):
            reading.append(_Open(key.message, key.loop, at))
    if reading:
        reading[-1].close_piece(size)
    return sorted((one for one in [*found, *reading] if one.pieces), key=lambda one: one.pieces[0])


def _turn(
    one: _Open,
    text: str,
    messages: Sequence[Mapping[str, Any]],
    spans: Sequence[tuple[int, int, Origin]],
    prompt: str,
) -> Turn:
    role = messages[one.message]["role"]
    own = [span for low, high in one.pieces for span in spans if low <= span[0] and span[1] <= high]
    end = one.pieces[-1][1]
    start = _text_start(one, text, own, prompt) if role == "assistant" else own[0][0] if own else one.pieces[0][0]
    # White space of the template after the end marker separates turns.
    last = max(own[-1][1], start) if own else start
    stop = last + len(text[last:end].rstrip())
    clipped = ((max(low, start), min(high, stop)) for low, high in one.pieces)
    return Turn(one.message, role, one.pieces[0][0], end, tuple((low, high) for low, high in clipped if low < high))


def _text_start(one: _Open, text: str, own: Sequence[tuple[int, int, Origin]], prompt: str) -> int:
    """The end of an assistant's header, which is the generation prompt."""
    start, end = one.pieces[0]
    limit = own[0][0] if own else end
    if prompt and (at := text.find(prompt, start, limit)) >= 0:
        return at + len(prompt)
    if own and own[0][2].field != "tool_calls":
        return limit
    if not own and not prompt:
        return one.pieces[-1][1]
    # The opening of a tool call is the model's. The turn may share a part of the prompt, up to a marker's end.
    shared = prompt[: shared_length(text[start:limit], prompt)]
    return start + max(shared.rfind(mark) for mark in _MARKER_ENDS) + 1


def shared_length(left: str, right: str) -> int:
    """The number of characters that two texts begin with alike."""
    pairs = enumerate(zip(left, right, strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(len(left), len(right)))
