"""SentencePiece's pre-tokenizer: spaces become visible, and each begins a pre-token.

1. Every space (U+0020) becomes the replacement, which stands for it.
2. A text that does not begin with the replacement now gets one, which stands for its first character. With the scheme
   `always` each text gets one, with `first` only that whose first character stands for the beginning of the original,
   with `never` none.
3. With `split` the text is cut before each replacement. Another one begins a piece too, so two in a row are two pieces.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from lexmill.reference.normalized import Normalized, pieces_at

PrependScheme = Literal["always", "first", "never"]


@dataclass(frozen=True)
class Metaspace:
    """The visible space, the rule that puts one before text, and a switch for cuts before it."""

    replacement: str = "\u2581"
    prepend_scheme: PrependScheme = "always"
    split: bool = True

    def pre_tokenize(self, text: Normalized) -> list[Normalized]:
        """Returns the pieces."""
        chars = [(self.replacement if char == " " else char, source) for char, source in text.chars()]
        is_wanted = self.prepend_scheme == "always" or (self.prepend_scheme == "first" and text.sources[0][0] == 0)
        if is_wanted and chars[0][0] != self.replacement:
            chars.insert(0, (self.replacement, text.sources[0]))
        text = text.rewrite(chars)
        if not self.split:
            return [text]
        starts = [place for place, char in enumerate(text.text) if place == 0 or char == self.replacement]
        return pieces_at(text, zip(starts, [*starts[1:], len(text.text)], strict=True))
