"""Decoders: from tokens back to text, a file a variant.

Each makes texts of texts; in the end the tokenizer joins them with nothing between.
"""

from __future__ import annotations

from collections.abc import Sequence as List
from dataclasses import dataclass
from typing import Protocol


class Decoder(Protocol):
    """A decoder."""

    def decode(self, tokens: list[str]) -> list[str]:
        """Returns the texts that the tokens become."""


@dataclass(frozen=True)
class Sequence:
    """Decoders one after the other."""

    stages: List[Decoder]

    def decode(self, tokens: list[str]) -> list[str]:
        """Applies the stages in their order."""
        for stage in self.stages:
            tokens = stage.decode(tokens)
        return tokens
