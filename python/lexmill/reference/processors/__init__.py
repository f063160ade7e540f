"""Post-processors: add special tokens and settle offsets and types, a file a variant.

Each takes the encodings of the input, one or two, and returns any number, which the tokenizer joins in the end.
"""

from __future__ import annotations

from collections.abc import Sequence as List
from dataclasses import dataclass
from typing import Protocol

from lexmill.reference.encoding import Encoding


class PostProcessor(Protocol):
    """A post-processor."""

    def added_tokens(self, *, is_pair: bool) -> int:
        """How many special tokens a text or a pair gets; truncation leaves room for them."""

    def process(self, encodings: list[Encoding], *, add_special_tokens: bool) -> list[Encoding]:
        """Returns the processed encodings."""


@dataclass(frozen=True)
class Sequence:
    """Post-processors one after the other."""

    stages: List[PostProcessor]

    def added_tokens(self, *, is_pair: bool) -> int:
        """The sum of the stages' numbers."""
        return sum(stage.added_tokens(is_pair=is_pair) for stage in self.stages)

    def process(self, encodings: list[Encoding], *, add_special_tokens: bool) -> list[Encoding]:
        """Applies the stages in their order."""
        for stage in self.stages:
            encodings = stage.process(encodings, add_special_tokens=add_special_tokens)
        return encodings
