"""Cuts text at a pattern, with five ways to treat the matches.

With `invert` matches and the text between them change roles first. Then, of the matches:
- Removed: they are dropped.
- Isolated: each is a piece of its own.
- MergedWithPrevious: each belongs to the text before it; directly after another match it stands alone.
- MergedWithNext: each belongs to the text after it; directly before another match it stands alone.
- Contiguous: matches in a row are one piece, and so is text in a row.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from lexmill.reference.normalized import Normalized, Span, pieces_at
from lexmill.reference.patterns import Find

Behavior = Literal["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"]
# A piece, and true if it matched.
Piece = tuple[Span, bool]


@dataclass(frozen=True)
class Split:
    """A search, and the treatment of its matches."""

    find: Find
    behavior: Behavior
    invert: bool = False

    def pre_tokenize(self, text: Normalized) -> list[Normalized]:
        """Returns the pieces."""
        return pieces_at(text, cut(len(text.text), self.find(text.text), self.behavior, invert=self.invert))


def cut(length: int, matches: Iterable[Span], behavior: Behavior, *, invert: bool = False) -> list[Span]:
    """Cuts a text of `length` characters by ascending matches; pieces may be empty where a match is."""
    pieces: list[Piece] = []
    end = 0
    for start, stop in matches:
        if end < start:
            pieces.append(((end, start), invert))
        pieces.append(((start, stop), not invert))
        end = stop
    if end < length:
        pieces.append(((end, length), invert))
    if behavior == "Removed":
        return [span for span, is_match in pieces if not is_match]
    if behavior == "Isolated":
        return [span for span, _ in pieces]
    if behavior == "MergedWithNext":
        return _join(pieces[::-1], behavior)[::-1]
    return _join(pieces, behavior)


def _join(pieces: Iterable[Piece], behavior: Behavior) -> list[Span]:
    """Joins each piece to the one before where the behavior says so; before the first there is no match."""
    spans: list[Span] = []
    was_match = False
    for (start, end), is_match in pieces:
        joins = is_match == was_match if behavior == "Contiguous" else is_match and not was_match
        if spans and joins:
            spans[-1] = min(spans[-1][0], start), max(spans[-1][1], end)
        else:
            spans.append((start, end))
        was_match = is_match
    return spans


def cut_at_chars(text: Normalized, chosen: Iterable[bool], behavior: Behavior) -> list[Normalized]:
    """Cuts at each character for which `chosen` has a yes."""
    matches = [(place, place + 1) for place, is_chosen in enumerate(chosen) if is_chosen]
    return pieces_at(text, cut(len(text.text), matches, behavior))
