"""RoBERTa's `<s> A </s>` and `<s> A </s></s> B </s>`, all of type 0, and byte-level offsets trimmed.

Overflowing parts are wrapped too, and are of type 0 only if they are wrapped.
"""

from __future__ import annotations

from dataclasses import dataclass

from lexmill.reference.encoding import Encoding
from lexmill.reference.processors.bert import wrap
from lexmill.reference.processors.byte_level import trim


@dataclass(frozen=True)
class RobertaProcessing:
    """The separator and the token that opens the text, each with its id; the rest is as in `ByteLevel`."""

    sep: tuple[str, int]
    cls: tuple[str, int]
    trim_offsets: bool = True
    add_prefix_space: bool = True

    def added_tokens(self, *, is_pair: bool) -> int:
        """Two a text."""
        return 4 if is_pair else 2

    def process(self, encodings: list[Encoding], *, add_special_tokens: bool) -> list[Encoding]:
        """Trims and wraps each encoding."""
        if self.trim_offsets:
            encodings = [trim(encoding, add_prefix_space=self.add_prefix_space) for encoding in encodings]
        encodings = [encoding.with_type(0) for encoding in encodings]
        if not add_special_tokens:
            return encodings
        return [self._wrap(encoding, place) for place, encoding in enumerate(encodings)]

    def _wrap(self, encoding: Encoding, place: int) -> Encoding:
        typed = Encoding(encoding.with_type(0).rows, tuple(part.with_type(0) for part in encoding.overflowing))
        return wrap(typed, [self.cls if place == 0 else self.sep], self.sep, type_id=0)
