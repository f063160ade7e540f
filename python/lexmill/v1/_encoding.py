"""`Encoding`: the tokens of one text or of a pair."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, final

import numpy as np
import numpy.typing as npt

from lexmill.errors import FormatError
from lexmill.v1._rows import COLUMNS, Rows, StoredRow


@final
class Encoding:
    """The tokens of one text or of a pair; each attribute is made when it is read. Immutable and not hashable.

    Two encodings are equal if ids, type ids and attention mask are. Encodings of one batch share its columns. The first
    read of `offsets` or `word_ids` encodes the batch a second time with these columns, so a batch keeps its texts until
    then. A pickle holds all lists.
    """

    __slots__ = ("_row", "_rows")
    _row: int
    _rows: Rows

    __hash__ = None  # type: ignore[assignment]

    def __init__(self) -> None:
        """Refuses: tokenizers make encodings."""
        message = "cannot create Encoding: encode a text with a Tokenizer"
        raise TypeError(message)

    @property
    def ids(self) -> list[int]:
        """The id of each token."""
        return self._rows.column("ids", self._row)

    @property
    def type_ids(self) -> list[int]:
        """The type id of each token, by which the post-processor tells the texts of a pair apart."""
        return self._rows.column("type_ids", self._row)

    @property
    def attention_mask(self) -> list[int]:
        """0 for padding, 1 for all other tokens."""
        return self._rows.column("attention_mask", self._row)

    @property
    def tokens(self) -> list[str]:
        """The tokens as the vocabulary spells them. Hugging Face has no such attribute."""
        return self._rows.column("tokens", self._row)

    @property
    def offsets(self) -> list[tuple[int, int]]:
        """Start and end of each token in its text, half-open, in characters. Hugging Face has no such attribute."""
        return self._rows.column("offsets", self._row)

    @property
    def word_ids(self) -> list[int | None]:
        """The number of each token's pre-token, None for special tokens and padding.

        Hugging Face has no such attribute.
        """
        return self._rows.column("word_ids", self._row)

    @property
    def ids_array(self) -> npt.NDArray[np.uint32]:
        """A new array of ids, `uint32`."""
        return self._rows.array("ids", self._row, np.uint32)

    @property
    def type_ids_array(self) -> npt.NDArray[np.uint32]:
        """A new array of type ids, `uint32`."""
        return self._rows.array("type_ids", self._row, np.uint32)

    @property
    def attention_mask_array(self) -> npt.NDArray[np.uint32]:
        """A new array of the attention mask, `uint32`."""
        return self._rows.array("attention_mask", self._row, np.uint32)

    @property
    def ids_dlpack(self) -> npt.NDArray[np.int64]:
        """A new array of ids, `int64`, that every consumer of DLPack takes, such as `torch.from_dlpack`."""
        return self._rows.array("ids", self._row, np.int64)

    @property
    def type_ids_dlpack(self) -> npt.NDArray[np.int64]:
        """A new array of type ids, `int64`, that every consumer of DLPack takes."""
        return self._rows.array("type_ids", self._row, np.int64)

    @property
    def attention_mask_dlpack(self) -> npt.NDArray[np.int64]:
        """A new array of the attention mask, `int64`, that every consumer of DLPack takes."""
        return self._rows.array("attention_mask", self._row, np.int64)

    def __len__(self) -> int:
        """Number of tokens."""
        return self._rows.length(self._row)

    def __eq__(self, other: object) -> bool:
        """True if ids, type ids and attention mask are equal."""
        if not isinstance(other, Encoding):
            return NotImplemented
        return (self.ids, self.type_ids, self.attention_mask) == (other.ids, other.type_ids, other.attention_mask)

    def __repr__(self) -> str:
        """The three lists of Hugging Face's encodings."""
        return f"Encoding(ids={self.ids}, type_ids={self.type_ids}, attention_mask={self.attention_mask})"

    def __reduce__(self) -> tuple[Callable[..., Encoding], tuple[Any, ...]]:
        """Pickles all lists."""
        return Encoding._unpickle, tuple(self._rows.column(name, self._row) for name in COLUMNS)

    @staticmethod
    def _unpickle(
        ids: Sequence[int],
        type_ids: Sequence[int],
        attention_mask: Sequence[int],
        tokens: Sequence[str] | None = None,
        offsets: Sequence[tuple[int, int]] | None = None,
        word_ids: Sequence[int | None] | None = None,
    ) -> Encoding:
        """Makes an encoding of the lists of a pickle; a pickle of Hugging Face's has the first three.

        Raises:
            FormatError: lists of several lengths.
        """
        given = (ids, type_ids, attention_mask, tokens, offsets, word_ids)
        columns = {name: None if column is None else list(column) for name, column in zip(COLUMNS, given, strict=True)}
        lengths = {len(column) for column in columns.values() if column is not None}
        if len(lengths) > 1:
            raise FormatError(f"the pickled encoding has columns of {sorted(lengths)} tokens: encode its text again")
        return encoding_of(StoredRow(**columns), 0)


def encoding_of(rows: Rows, row: int) -> Encoding:
    """The encoding of a row."""
    made = object.__new__(Encoding)
    made._rows = rows
    made._row = row
    return made
