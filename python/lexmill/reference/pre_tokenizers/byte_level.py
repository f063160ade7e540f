"""GPT-2's pre-tokenizer: its regular expression, then every byte as a printable character.

1. With `add_prefix_space` a space goes before a text that does not begin with one (U+0020; other white space does not
   count). It stands for the first character.
2. With `use_regex` the text is cut by GPT-2's pattern.
3. Each character is spelled by the characters of its UTF-8 bytes, all of which stand for it.
"""

from __future__ import annotations

from dataclasses import dataclass

from lexmill.reference.byte_level import to_chars
from lexmill.reference.normalized import Normalized, pieces_at
from lexmill.reference.patterns import regular
from lexmill.reference.words import GPT2_PATTERN


@dataclass(frozen=True)
class ByteLevel:
    """Options; `trim_offsets` is the post-processor's and does nothing here."""

    add_prefix_space: bool = True
    trim_offsets: bool = True
    use_regex: bool = True

    def pre_tokenize(self, text: Normalized) -> list[Normalized]:
        """Returns the pieces."""
        if self.add_prefix_space and not text.text.startswith(" "):
            text = text.rewrite([(" ", text.sources[0]), *text.chars()])
        pieces = pieces_at(text, regular(GPT2_PATTERN)(text.text)) if self.use_regex else [text]
        return [
            piece.rewrite((byte, source) for char, source in piece.chars() for byte in to_chars(char))
            for piece in pieces
        ]
