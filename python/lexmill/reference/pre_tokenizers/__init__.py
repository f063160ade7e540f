"""Pre-tokenizers: each cuts text into the pre-tokens that a model sees, a file a variant.

Pre-tokens are in the order of the text and never empty: an empty piece is dropped as soon as it is made.
"""

from __future__ import annotations

from collections.abc import Sequence as List
from dataclasses import dataclass
from typing import Protocol

from lexmill.reference.normalized import Normalized


class PreTokenizer(Protocol):
    """A pre-tokenizer."""

    def pre_tokenize(self, text: Normalized) -> list[Normalized]:
        """Returns the pieces of a text that is not empty."""


@dataclass(frozen=True)
class Sequence:
    """Pre-tokenizers one after the other: each cuts the pieces of the one before, each piece by itself."""

    stages: List[PreTokenizer]

    def pre_tokenize(self, text: Normalized) -> list[Normalized]:
        """Applies the stages in their order."""
        pieces = [text]
        for stage in self.stages:
            pieces = [cut for piece in pieces for cut in stage.pre_tokenize(piece)]
        return pieces
