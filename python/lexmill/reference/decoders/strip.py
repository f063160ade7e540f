"""Takes a character off the ends of each token: at most `start` times from the beginning, then `stop` from the end."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Strip:
    """The character and how often it goes."""

    content: str
    start: int
    stop: int

    def decode(self, tokens: list[str]) -> list[str]:
        """Returns the stripped tokens."""
        return [self._strip(token) for token in tokens]

    def _strip(self, token: str) -> str:
        for _ in range(self.start):
            token = token.removeprefix(self.content)
        for _ in range(self.stop):
            token = token.removesuffix(self.content)
        return token
