"""Arranges texts and special tokens by a template, one for a text and one for a pair.

Each place of a template is a text (`A` or `B`) or a special token by its name, with the type of its tokens. A special
token may stand for several tokens. Without `add_special_tokens` only the texts are left, in the template's order.
Overflowing parts keep their types.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from lexmill.errors import OptionError
from lexmill.reference.encoding import Encoding, Row


class Piece(NamedTuple):
    """A place of a template: `text` is the number of the text, or None where `special` names a token."""

    text: int | None
    special: str
    type_id: int


@dataclass(frozen=True)
class TemplateProcessing:
    """The two templates, and the ids and tokens that each special token stands for.

    Raises:
        OptionError: a template names a token that is not among the special tokens, or the template of a pair lacks one
            of the texts.
    """

    single: Sequence[Piece]
    pair: Sequence[Piece]
    special_tokens: Mapping[str, Sequence[tuple[int, str]]]

    def __post_init__(self) -> None:
        """Checks the templates."""
        places = [*self.single, *self.pair]
        missing = [place.special for place in places if place.text is None and place.special not in self.special_tokens]
        if missing:
            raise OptionError(f"special_tokens lacks {', '.join(dict.fromkeys(missing))}, which a template names")
        if self.pair and not {0, 1} <= {place.text for place in self.pair}:
            raise OptionError(f"pair is a template of {len(self.pair)} places but must have both $A and $B")

    def added_tokens(self, *, is_pair: bool) -> int:
        """The special tokens of the template."""
        places = self.pair if is_pair else self.single
        return sum(len(self.special_tokens[place.special]) for place in places if place.text is None)

    def process(self, encodings: list[Encoding], *, add_special_tokens: bool) -> list[Encoding]:
        """Returns an encoding for each place of the template."""
        arranged: list[Encoding] = []
        for place in self.pair if len(encodings) == 2 else self.single:
            if place.text is not None:
                if place.text >= len(encodings):
                    raise OptionError(f"the template of {len(self.single)} places has $B but there is one text")
                arranged.append(encodings[place.text].with_type(place.type_id))
            elif add_special_tokens:
                tokens = self.special_tokens[place.special]
                rows = (Row(token_id, token, type_id=place.type_id, is_special=True) for token_id, token in tokens)
                arranged.append(Encoding(tuple(rows)))
        return arranged
