"""From the labels of connectionist temporal classification to text.

Labels in a row that are equal count once. Then the gaps are taken out of each. With `cleanup` each is cleaned up, and
its word delimiters become spaces. Labels that are empty now are left out.
Source: Graves et al. 2006.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from lexmill.reference.decoders.cleanup import cleanup


@dataclass(frozen=True)
class CTC:
    """The label of a gap, the label between words, and a switch for the cleanup of spaces."""

    pad_token: str = "<pad>"
    word_delimiter_token: str = "|"
    cleanup: bool = True

    def decode(self, tokens: list[str]) -> list[str]:
        """Returns the texts of the labels."""
        texts = [token.replace(self.pad_token, "") for token, _ in groupby(tokens)]
        if self.cleanup:
            texts = [cleanup(text).replace(self.word_delimiter_token, " ") for text in texts]
        return [text for text in texts if text]
