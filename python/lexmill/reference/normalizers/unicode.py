"""Unicode's four normalization forms, with the places that characters came from.

Steps: each character is decomposed (canonically, or for the compatible forms as far as it goes); marks in a row are
sorted by combining class, equal classes stay in order; for NFC and NFKC a starter and the characters after it are
composed from left to right, unless a character between them blocks.

Sources, as Hugging Face has them: the parts of a decomposed character all stand for all of it. A composed character
stands for its starter alone. Marks that change places leave their sources where they were.
Source: Unicode Standard Annex 15; Unicode 9 is normative, and here are the tables of the running Python, which differ
for characters that came later.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import Literal

from lexmill.reference.normalized import Edit, Normalized

Form = Literal["NFC", "NFD", "NFKC", "NFKD"]


@dataclass(frozen=True)
class Unicode:
    """A normalization form."""

    form: Form

    def normalize(self, text: Normalized) -> Normalized:
        """Returns the text in the form."""
        parts = _sort_marks(_decompose(text.text, is_compatible=self.form in ("NFKC", "NFKD")))
        return text.edit(_compose(parts) if self.form in ("NFC", "NFKC") else parts)


def _decompose(text: str, *, is_compatible: bool) -> list[Edit]:
    parts: list[Edit] = []
    for char in text:
        decomposed = unicodedata.normalize("NFKD" if is_compatible else "NFD", char)
        parts += [Edit(part, 0 if place == 0 else 1) for place, part in enumerate(decomposed)]
    return parts


def _sort_marks(parts: list[Edit]) -> list[Edit]:
    ordered: list[Edit] = []
    marks: list[Edit] = []
    for part in parts:
        if unicodedata.combining(part.char) == 0:
            ordered += [*sorted(marks, key=_combining_class), part]
            marks = []
        else:
            marks.append(part)
    # `sorted` keeps equals in order.
    return ordered + sorted(marks, key=_combining_class)


def _combining_class(part: Edit) -> int:
    return unicodedata.combining(part.char)


def _compose(parts: list[Edit]) -> list[Edit]:
    """Composes each character with the last starter, unless one kept since then blocks it.

    A character blocks characters of its own class and of lower ones; another starter blocks all.
    """
    composed: list[Edit] = []
    starter: int | None = None
    for part in parts:
        combining = _combining_class(part)
        if starter is not None:
            is_next = starter == len(composed) - 1
            is_blocked = not is_next and _combining_class(composed[-1]) >= combining
            both = None if is_blocked else _composite(composed[starter].char, part.char)
            if both is not None:
                composed[starter] = Edit(both, composed[starter].change + part.change - 1)
                continue
        if combining == 0:
            starter = len(composed)
        composed.append(part)
    return composed


def _composite(first: str, second: str) -> str | None:
    """The one character that decomposes into the two, if Unicode composes them."""
    both = unicodedata.normalize("NFC", first + second)
    if len(both) != 1:
        return None
    # A mark that would first have to change places is not composed.
    parts = unicodedata.normalize("NFD", first) + unicodedata.normalize("NFD", second)
    return both if unicodedata.normalize("NFD", both) == parts else None
