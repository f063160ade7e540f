"""Cuts numbers off: the categories Nd, Nl and No, so `½` and `Ⅷ` are digits too."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from lexmill.reference.normalized import Normalized
from lexmill.reference.pre_tokenizers.split import cut_at_chars


@dataclass(frozen=True)
class Digits:
    """Cuts off whole runs of digits, or each one by itself."""

    individual_digits: bool = False

    def pre_tokenize(self, text: Normalized) -> list[Normalized]:
        """Returns the pieces."""
        chosen = (unicodedata.category(char).startswith("N") for char in text.text)
        return cut_at_chars(text, chosen, "Isolated" if self.individual_digits else "Contiguous")
