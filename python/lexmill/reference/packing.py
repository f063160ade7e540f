"""Documents in rows of one length, one slice at a time.

A slice is a range of one document's tokens that lies in one row: document, first token, and the token after the last.
`docs/algorithms/packing.md` has the sources.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

__all__ = ["best_fit", "concat", "document_order", "slices_of"]

Slice: TypeAlias = tuple[int, int, int]

_MASK = (1 << 64) - 1


def concat(documents: Iterable[tuple[int, int]], length: int) -> list[list[Slice]]:
    """Rows of documents end to end; the last row may be shorter.

    Args:
        documents: number and tokens of each document.
        length: tokens of a row.
    """
    rows: list[list[Slice]] = []
    room = 0
    for document, tokens in documents:
        start = 0
        while start < tokens:
            if room == 0:
                rows.append([])
                room = length
            end = min(tokens, start + room)
            rows[-1].append((document, start, end))
            room -= end - start
            start = end
    return rows


def slices_of(documents: Iterable[tuple[int, int]], length: int) -> list[Slice]:
    """The slices of documents that are cut only if they are longer than a row: whole rows, then the rest."""
    return [
        (document, start, min(tokens, start + length))
        for document, tokens in documents
        for start in range(0, tokens, length)
    ]


def best_fit(slices: Sequence[Slice], length: int, *, decreasing: bool) -> list[list[Slice]]:
    """Rows of the slices of one packing window.

    Each slice goes into the fullest row that has room for it; among equally full rows, into the row that was opened
    first. If no row has room, the slice opens a row. With `decreasing`, longer slices are placed first, equally long
    ones in their order. Rows come in the order of the slices that opened them, and the slices of a row in their order.
    """
    order = list(range(len(slices)))
    if decreasing:
        order.sort(key=lambda at: (slices[at][1] - slices[at][2], at))
    rows: list[list[int]] = []
    rooms: list[int] = []
    for at in order:
        tokens = slices[at][2] - slices[at][1]
        fitting = [(room, row) for row, room in enumerate(rooms) if room >= tokens]
        if fitting:
            _, row = min(fitting)
        else:
            row = len(rows)
            rows.append([])
            rooms.append(length)
        rows[row].append(at)
        rooms[row] -= tokens
    # The first slice of a row opened it.
    return [[slices[at] for at in sorted(row)] for row in sorted(rows, key=lambda row: row[0])]


def document_order(count: int, seed: int) -> list[int]:
    """The numbers below `count` in the order of a seed: a Feistel network of eight rounds, with cycle walking."""
    half = max(1, (max(0, count - 1).bit_length() + 1) // 2)
    mask = (1 << half) - 1
    key = _mix(seed)

    def permuted(number: int) -> int:
        left, right = number >> half, number & mask
        for round_ in range(8):
            left, right = right, left ^ (_mix(_mix(key ^ round_) ^ right) & mask)
        return left << half | right

    order = []
    for place in range(count):
        number = permuted(place)
        while number >= count:
            number = permuted(number)
        order.append(number)
    return order


def _mix(state: int) -> int:
    """One step of the generator SplitMix64 from a state."""
    state = (state + 0x9E3779B97F4A7C15) & _MASK
    state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & _MASK
    return state ^ (state >> 31)
