"""BERT's splitter: drops white space, then each punctuation character is a piece of its own."""

from __future__ import annotations

from dataclasses import dataclass

from lexmill.reference.normalized import Normalized
from lexmill.reference.pre_tokenizers import Sequence
from lexmill.reference.pre_tokenizers.punctuation import Punctuation
from lexmill.reference.pre_tokenizers.whitespace import WhitespaceSplit


@dataclass(frozen=True)
class BertPreTokenizer:
    """White space, then punctuation."""

    def pre_tokenize(self, text: Normalized) -> list[Normalized]:
        """Returns the pieces."""
        return Sequence([WhitespaceSplit(), Punctuation("Isolated")]).pre_tokenize(text)
