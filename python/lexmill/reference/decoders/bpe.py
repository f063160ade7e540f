"""A space in place of the mark at the end of a word, but nothing in the last token."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class BPEDecoder:
    """The mark; it is replaced wherever it stands in a token."""

    suffix: str = "</w>"

    def decode(self, tokens: list[str]) -> list[str]:
        """Returns the tokens without marks."""
        last = len(tokens) - 1
        return [token.replace(self.suffix, "" if place == last else " ") for place, token in enumerate(tokens)]
