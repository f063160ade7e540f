"""Text for people: tokens in colours, sizes, columns. Needs nothing but the standard library."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TextIO

__all__ = ["columns", "cut", "join_cut", "megabytes", "printable", "wants_color"]

# Backgrounds that dark text reads well on, each unlike its neighbours.
_BACKGROUNDS = (153, 222, 157, 218, 189, 229)


def wants_color(stream: TextIO) -> bool:
    """True if `stream` is a terminal and its user has not opted out (https://no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def printable(text: str) -> str:
    """The text on one line, with escapes for characters that a terminal might obey."""
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)


def cut(text: str, offsets: Iterable[tuple[int, int]]) -> list[str]:
    """The pieces of `text` that tokens cover, and the pieces between them that no token covers.

    Tokens that share a character, such as the tokens of its single bytes, make one piece.
    """
    bounds: list[tuple[int, int]] = []
    for start, end in offsets:
        if start == end:
            continue
        if bounds and start < bounds[-1][1]:
            bounds[-1] = (bounds[-1][0], max(end, bounds[-1][1]))
        else:
            bounds.append((start, end))
    pieces = []
    at = 0
    for start, end in [*bounds, (len(text), len(text))]:
        pieces += [text[at:start], text[start:end]]
        at = end
    return [piece for piece in pieces if piece]


def join_cut(pieces: Sequence[str], color: bool) -> str:
    """Pieces in a row on one line: on changing backgrounds, or with bars between them."""
    shown = [printable(piece) for piece in pieces]
    if not color:
        return "|".join(shown)
    return "".join(
        f"\x1b[30;48;5;{_BACKGROUNDS[index % len(_BACKGROUNDS)]}m{piece}\x1b[0m" for index, piece in enumerate(shown)
    )


def columns(rows: Sequence[Sequence[str]], align: str) -> str:
    """Rows as lines of columns; `align` has `<` for each column that is flush left and `>` for the others."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(f"{cell:{side}{width}}" for cell, side, width in zip(row, align, widths, strict=True)) for row in rows
    )
    return "\n".join(line.rstrip() for line in lines)


def megabytes(size: float) -> str:
    """A size in bytes as MB (10**6 bytes), or smaller units."""
    for unit, scale in (("MB", 1e6), ("kB", 1e3)):
        if size >= scale:
            return f"{size / scale:,.1f} {unit}"
    return f"{size:.0f} bytes"
