"""Joins all tokens into one text, so that the decoders after it see across tokens."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Fuse:
    """Joins all tokens."""

    def decode(self, tokens: list[str]) -> list[str]:
        """Returns one text."""
        return ["".join(tokens)]
