"""BERT's `[CLS] A [SEP]` and `[CLS] A [SEP] B [SEP]`; the second text and its separator are of type 1.

After a template there may be more than two encodings; separators from the second on are of type 1.
Tokens that were special before count as text afterwards, as in Hugging Face. Overflowing parts are wrapped like the
text that they are cut from.
"""

from __future__ import annotations

from dataclasses import dataclass

from lexmill.reference.encoding import Encoding, Row, merge


@dataclass(frozen=True)
class BertProcessing:
    """The separator and the token that opens the text, each with its id."""

    sep: tuple[str, int]
    cls: tuple[str, int]

    def added_tokens(self, *, is_pair: bool) -> int:
        """Two, and one more for a pair."""
        return 3 if is_pair else 2

    def process(self, encodings: list[Encoding], *, add_special_tokens: bool) -> list[Encoding]:
        """Wraps each encoding."""
        if not add_special_tokens:
            return encodings
        return [
            wrap(encoding, [self.cls] if place == 0 else [], self.sep, type_id=min(place, 1))
            for place, encoding in enumerate(encodings)
        ]


def wrap(encoding: Encoding, before: list[tuple[str, int]], after: tuple[str, int], *, type_id: int) -> Encoding:
    """Puts special tokens of a type around an encoding, and around each of its overflowing parts."""

    def special(tokens: list[tuple[str, int]]) -> Encoding:
        return Encoding(tuple(Row(token_id, token, type_id=type_id, is_special=True) for token, token_id in tokens))

    text = Encoding(tuple(row._replace(is_special=False) for row in encoding.rows))
    wrapped = merge([special(before), text, special([after])])
    parts = (wrap(part, before, after, type_id=type_id) for part in encoding.overflowing)
    return Encoding(wrapped.rows, tuple(parts))
