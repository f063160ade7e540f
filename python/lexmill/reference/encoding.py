"""The tokens of one text or of a pair, as a caller gets them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import reduce
from typing import NamedTuple

from lexmill.reference.normalized import Span


class Row(NamedTuple):
    """One token.

    Attributes:
        id: its id.
        token: its text: the model's spelling, or for an added token its match in the text.
        offsets: characters of the original text, half-open; (0, 0) for tokens that are not from the text.
        word_id: the number of its pre-token in the text; None for tokens that are not from the text.
        type_id: which part of the input it counts to, by the post-processor's rule.
        is_special: true if the post-processor put it there.
        is_padding: true if padding put it there.
    """

    id: int
    token: str
    offsets: Span = (0, 0)
    word_id: int | None = None
    type_id: int = 0
    is_special: bool = False
    is_padding: bool = False


@dataclass(frozen=True)
class Encoding:
    """Tokens in order, and the parts that truncation cut off."""

    rows: tuple[Row, ...] = ()
    overflowing: tuple[Encoding, ...] = ()

    @property
    def ids(self) -> list[int]:
        """The ids."""
        return [row.id for row in self.rows]

    @property
    def tokens(self) -> list[str]:
        """The texts of the tokens."""
        return [row.token for row in self.rows]

    @property
    def offsets(self) -> list[Span]:
        """The places in the original text."""
        return [row.offsets for row in self.rows]

    @property
    def word_ids(self) -> list[int | None]:
        """The numbers of the pre-tokens."""
        return [row.word_id for row in self.rows]

    @property
    def type_ids(self) -> list[int]:
        """The parts of the input."""
        return [row.type_id for row in self.rows]

    @property
    def special_tokens_mask(self) -> list[int]:
        """1 for tokens of the post-processor and of padding, 0 for text."""
        return [int(row.is_special or row.is_padding) for row in self.rows]

    @property
    def attention_mask(self) -> list[int]:
        """0 for padding, 1 for everything else."""
        return [int(not row.is_padding) for row in self.rows]

    def with_type(self, type_id: int) -> Encoding:
        """The same tokens with another type; the overflowing parts keep their own."""
        return replace(self, rows=tuple(row._replace(type_id=type_id) for row in self.rows))


def merge(encodings: Iterable[Encoding]) -> Encoding:
    """Joins encodings into one.

    Overflowing parts are joined in every way: each part of the left side with the right side, then with each part of
    the right side; last the whole left side with each part of the right side.
    """
    return reduce(_append, encodings, Encoding())


def _append(left: Encoding, right: Encoding) -> Encoding:
    overflowing: list[Encoding] = []
    for part in left.overflowing:
        overflowing.append(_append(part, right))
        overflowing += [_append(part, other) for other in right.overflowing]
    overflowing += [_append(left, other) for other in right.overflowing]
    return Encoding(left.rows + right.rows, tuple(overflowing))
