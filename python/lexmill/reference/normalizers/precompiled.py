"""Applies SentencePiece's compiled rules as Hugging Face does, or, with `longest`, as SentencePiece itself does.

Hugging Face looks for a rule at each user-perceived character (extended grapheme cluster) of less than six bytes; where
none matches, and in longer ones, at each of its characters. The shortest rule that matches at the front replaces the
whole cluster or character, so marks after the match are lost. With `longest` clusters do not matter: at each place the
longest rule replaces its match.

Sources: new characters take the places of the old ones in order. Surplus new characters stand for the last of these.
Where there are too few, the last new character so far takes the place of the rest, whichever rule made it. If there is
no new character yet, the rest is not passed over, and every later character stands for a character further left.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from lexmill.reference.normalized import Edit, Normalized
from lexmill.reference.normalizers.charsmap import Charsmap

# Clusters of this many bytes are taken character by character.
LONG = 6


@dataclass(frozen=True)
class Precompiled:
    """The rules, and which of several that match is applied."""

    charsmap: Charsmap
    longest: bool = False

    def normalize(self, text: Normalized) -> Normalized:
        """Returns the text after the rules."""
        edits: list[Edit] = []
        for old, new in self._longest(text.text) if self.longest else self._by_clusters(text.text):
            # As many new characters as there are old ones replace them, the others are inserted.
            edits += [Edit(char, 0 if place < len(old) else 1) for place, char in enumerate(new)]
            if len(new) < len(old) and edits:
                edits[-1] = Edit(edits[-1].char, edits[-1].change - (len(old) - len(new)))
        return text.edit(edits)

    def _by_clusters(self, text: str) -> Iterator[tuple[str, str]]:
        for cluster in _clusters(text):
            new = self._shortest(cluster) if len(cluster.encode("utf-8")) < LONG else None
            if new is not None:
                yield cluster, new
                continue
            for char in cluster:
                new = self._shortest(char)
                yield char, char if new is None else new

    def _shortest(self, text: str) -> str | None:
        return next((new for _, new in self.charsmap.matches(text)), None)

    def _longest(self, text: str) -> Iterator[tuple[str, str]]:
        start = 0
        while start < len(text):
            old, new = longest_match(self.charsmap, text[start:])
            yield old, new
            start += len(old)


def longest_match(charsmap: Charsmap, text: str) -> tuple[str, str]:
    """The text that the longest rule matches at the front, and its replacement; else the first character twice.

    A rule that ends inside a character does not match.
    """
    data = text.encode("utf-8")
    for length, new in reversed(list(charsmap.matches(text))):
        try:
            return data[:length].decode("utf-8"), new
        except UnicodeDecodeError:
            break
    return text[0], text[0]


def _clusters(text: str) -> list[str]:
    import regex

    clusters: Any = regex.findall(r"\X", text)
    return list(clusters)
