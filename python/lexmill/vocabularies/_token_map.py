"""`lexmill.token_map`: the ids of one tokenizer for each token of another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lexmill._core import Tokenizer
from lexmill.vocabularies.surfaces import Placed, PlacedModel, Speller, surface_of
from lexmill.vocabularies.tables import table_of

__all__ = ["TokenMap", "token_map"]


@dataclass(frozen=True, eq=False)
class TokenMap:
    """For each id of a new tokenizer, ids of an old one; `tokens[id]` is one row.

    Attributes:
        ids: the rows, concatenated; `uint32`.
        row_splits: row `i` is `ids[row_splits[i]:row_splits[i + 1]]`; `int64`.
    """

    ids: npt.NDArray[np.uint32]
    row_splits: npt.NDArray[np.int64]

    def __len__(self) -> int:
        """The number of rows, one more than the largest id of the new tokenizer."""
        return len(self.row_splits) - 1

    def __getitem__(self, id_: int) -> npt.NDArray[np.uint32]:
        """The ids of the old tokenizer for one id of the new one, a view."""
        if not 0 <= id_ < len(self):
            message = f"id {id_} is out of range for {len(self)} ids"
            raise IndexError(message)
        return self.ids[self.row_splits[id_] : self.row_splits[id_ + 1]]


def token_map(new: Tokenizer, old: Tokenizer) -> TokenMap:
    """For each token of `new`, the ids by which `old` spells it, for example to initialise its embedding by their mean.

    A token is the text that it stands for, and its place: the beginning of a word or its inside. Both are told from the
    marks of `new` (`Ġ` and the byte-level alphabet, `▁`, `<0x20>`, prefixes and suffixes), and spelled by the marks of
    `old`. The model of `old` encodes the text in this place; first, the normalizer of `old` changes its case and
    accents, and for models without marks for blanks, its pre-tokenizer divides the text into words.

    An added token of both has its id in `old`, and the unknown token is the unknown token of `old`. A row has the
    unknown token where `old` cannot spell a text. It is empty for ids without a token, and where the model of `old`
    drops a text.

    Args:
        new: the tokenizer whose tokens are the rows.
        old: the tokenizer whose ids are in the rows.

    Raises:
        OptionError: an id is too large to count by, or a stage is written in Python.
    """
    own, other = table_of(new), table_of(old)
    speller, added = Speller(other), {token["content"]: token["id"] for token in other.spec["added_tokens"]}
    texts: list[Placed] = []
    # A row has ids, and numbers of texts.
    rows: list[list[tuple[bool, int]]] = []
    for id_, token in enumerate(own.vocabulary.tokens):
        row: list[tuple[bool, int]] = []
        if token is not None and id_ in own.vocabulary.added and token in added:
            row = [(False, added[token])]
        elif id_ == own.vocabulary.unknown and other.vocabulary.unknown is not None:
            row = [(False, other.vocabulary.unknown)]
        elif token is not None:
            for part in speller.spell(surface_of(own, id_)):
                if isinstance(part, Placed):
                    row.append((True, len(texts)))
                    texts.append(part)
                else:
                    row.append((False, part))
        rows.append(row)
    encoded = PlacedModel(other.model, other.bound).encode(texts)
    parts = [encoded[at] if is_text else np.array([at]) for row in rows for is_text, at in row]
    sizes = np.zeros(len(rows) + 1, np.int64)
    places = iter(parts)
    for number, row in enumerate(rows):
        sizes[number + 1] = sum(len(next(places)) for _ in row)
    ids = np.concatenate(parts).astype(np.uint32) if parts else np.zeros(0, np.uint32)
    return TokenMap(ids, np.cumsum(sizes))
