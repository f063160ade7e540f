"""Visible spaces without cuts, as files of version 2.0 have them.

The text becomes the pre-tokens that the pre-tokenizer Metaspace makes of it, joined. With `drop_whitespace` the text is
first cut at white space, which is dropped; Metaspace then sees each word.
"""

from __future__ import annotations

from dataclasses import dataclass

from lexmill.reference.normalized import Normalized
from lexmill.reference.normalizers import Normalizer, Sequence
from lexmill.reference.pre_tokenizers.metaspace import Metaspace, PrependScheme
from lexmill.reference.pre_tokenizers.whitespace import WhitespaceSplit


@dataclass(frozen=True)
class MetaspaceNormalizer:
    """The visible space, the rule that puts one before text, and a switch that takes white space out."""

    replacement: str
    prepend_scheme: PrependScheme
    drop_whitespace: bool

    def normalize(self, text: Normalized) -> Normalized:
        """Returns the changed text."""
        words = WhitespaceSplit().pre_tokenize(text) if self.drop_whitespace else [text]
        metaspace = Metaspace(self.replacement, self.prepend_scheme, split=False)
        pieces = [piece for word in words if word.text for piece in metaspace.pre_tokenize(word)]
        return text.rewrite(char for piece in pieces for char in piece.chars())


def without_metaspace(normalizer: Normalizer) -> Normalizer:
    """The normalizer without a `MetaspaceNormalizer` at its end."""
    if isinstance(normalizer, MetaspaceNormalizer):
        return Sequence([])
    if isinstance(normalizer, Sequence) and normalizer.stages:
        *before, last = normalizer.stages
        return Sequence([*before, without_metaspace(last)])
    return normalizer
