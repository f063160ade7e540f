"""From pieces of words to words.

A token that begins with the prefix loses it; any other gets a space before it. The first token stays as it is. With
`cleanup` each token is then cleaned up by itself, so nothing is found across two of them.
"""

from __future__ import annotations

from dataclasses import dataclass

from lexmill.reference.decoders.cleanup import cleanup


@dataclass(frozen=True)
class WordPiece:
    """The prefix of tokens that continue a word, and a switch for the cleanup of spaces."""

    prefix: str = "##"
    cleanup: bool = True

    def decode(self, tokens: list[str]) -> list[str]:
        """Returns the texts of the tokens."""
        texts = [token if place == 0 else self._spaced(token) for place, token in enumerate(tokens)]
        return list(map(cleanup, texts)) if self.cleanup else texts

    def _spaced(self, token: str) -> str:
        return token.removeprefix(self.prefix) if token.startswith(self.prefix) else f" {token}"
