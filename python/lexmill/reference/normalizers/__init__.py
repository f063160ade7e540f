"""Normalizers: each changes text before it is cut into pre-tokens, a file a variant."""

from __future__ import annotations

from collections.abc import Sequence as List
from dataclasses import dataclass
from typing import Protocol

from lexmill.reference.normalized import Normalized


class Normalizer(Protocol):
    """A normalizer."""

    def normalize(self, text: Normalized) -> Normalized:
        """Returns the changed text."""


@dataclass(frozen=True)
class Sequence:
    """Normalizers one after the other; none leaves the text as it is."""

    stages: List[Normalizer]

    def normalize(self, text: Normalized) -> Normalized:
        """Applies the stages in their order."""
        for stage in self.stages:
            text = stage.normalize(text)
        return text
