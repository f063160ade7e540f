"""A text on its way through the stages, and the place in the original that each of its characters stands for.

Rules. Every character has a source: a half-open range of characters of the original text. Several characters may share
a source; characters that were taken out have none. A range of text stands for the original from the start of its first
character's source to the end of its last character's source, with the characters that were taken out between the two.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

Span = tuple[int, int]


class Edit(NamedTuple):
    """A character of a new text, and how far it moves on in the old one.

    With `change` 0 it takes the place of the next old character, with -n the place of the next one and n more; its
    source is the next one's alone. With 1 it comes between the old characters, and has the source of the one before.
    """

    char: str
    change: int


@dataclass(frozen=True)
class Normalized:
    """A text with the source of each character.

    Attributes:
        text: the text that the next stage gets.
        sources: one range of the original a character.
        origin: where the original of this text begins; the source of characters put before its first character.
    """

    text: str
    sources: tuple[Span, ...]
    origin: int = 0

    @classmethod
    def whole(cls, text: str) -> Normalized:
        """An original text: each character stands for itself."""
        return cls(text, tuple((at, at + 1) for at in range(len(text))))

    def source(self, start: int, end: int) -> Span:
        """The original of characters `start` to `end`; of none, an empty range."""
        if start < end:
            return self.sources[start][0], self.sources[end - 1][1]
        place = self.sources[start][0] if start < len(self.sources) else self.end()
        return place, place

    def source_of_bytes(self, start: int, end: int) -> Span:
        """The original of bytes `start` to `end` of the text's UTF-8; a character that is cut counts whole.

        Bytes after the end of the text count as its end.
        """
        data = self.text.encode("utf-8")
        first = len(data[:start].decode("utf-8", errors="ignore"))
        # A cut character is replaced by one other, so it counts.
        last = len(data[:end].decode("utf-8", errors="replace"))
        return self.source(first, last) if start < end else self.source(first, first)

    def end(self) -> int:
        """Where the original of this text ends."""
        return self.sources[-1][1] if self.sources else self.origin

    def slice(self, start: int, end: int) -> Normalized:
        """Characters `start` to `end`."""
        return Normalized(self.text[start:end], self.sources[start:end], self.source(start, end)[0])

    def rewrite(self, chars: Iterable[tuple[str, Span]]) -> Normalized:
        """A new text in place of this one; each of its characters comes with its source."""
        pairs = list(chars)
        return Normalized("".join(char for char, _ in pairs), tuple(source for _, source in pairs), self.origin)

    def chars(self, start: int = 0, end: int | None = None) -> list[tuple[str, Span]]:
        """Characters `start` to `end` with their sources, as `rewrite` takes them."""
        return list(zip(self.text[start:end], self.sources[start:end], strict=True))

    def source_before(self, place: int) -> Span:
        """The source of text put before character `place`: the source of the one before, or none at the origin."""
        return self.sources[place - 1] if place > 0 else (self.origin, self.origin)

    def edit(self, edits: Iterable[Edit]) -> Normalized:
        """A new text made by walking through this one from its beginning."""
        chars: list[tuple[str, Span]] = []
        place = 0
        for char, change in edits:
            chars.append((char, self.source_before(place) if change > 0 else self.sources[place]))
            place += 1 - change
        return self.rewrite(chars)


def pieces_at(text: Normalized, cuts: Iterable[Span]) -> list[Normalized]:
    """The pieces of `text` in the ranges `cuts`, empty ones left out."""
    return [text.slice(start, end) for start, end in cuts if start < end]
