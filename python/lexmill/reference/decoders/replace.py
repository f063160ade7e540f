"""Puts one text in place of every match of a pattern, in each token by itself."""

from __future__ import annotations

from dataclasses import dataclass

from lexmill.reference.normalized import Normalized
from lexmill.reference.normalizers.replace import Replace as Normalizer
from lexmill.reference.patterns import Find


@dataclass(frozen=True)
class Replace:
    """A search, and the text that takes the place of each match."""

    find: Find
    content: str

    def decode(self, tokens: list[str]) -> list[str]:
        """Returns the changed tokens."""
        replace = Normalizer(self.find, self.content)
        return [replace.normalize(Normalized.whole(token)).text for token in tokens]
