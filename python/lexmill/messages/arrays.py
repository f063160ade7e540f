"""Tokens of conversations as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt
    import pyarrow as pa

__all__ = ["MessageTokens", "end_to_end"]


@dataclass(frozen=True, eq=False)
class MessageTokens:
    """Tokens of conversations end to end, with a loss mask.

    Row `i` has the tokens `row_splits[i]` to `row_splits[i + 1]`.

    Attributes:
        ids: all ids, `uint16` if every id of the tokenizer fits, else `uint32`.
        loss_mask: 1 for each token to learn, else 0: `uint8`.
        row_splits: where each conversation begins, and the end of the last one: `int64`.
        straddling: tokens to learn that begin before or end after the text to learn, one number a row: `int64`.
        texts: the rendered conversations, if they were asked for.
    """

    ids: npt.NDArray[np.uint16] | npt.NDArray[np.uint32]
    loss_mask: npt.NDArray[np.uint8]
    row_splits: npt.NDArray[np.int64]
    straddling: npt.NDArray[np.int64]
    texts: list[str] | None = None

    def __len__(self) -> int:
        """The number of conversations."""
        return len(self.row_splits) - 1

    def labels(self, ignore: int = -100) -> npt.NDArray[np.int64]:
        """The ids with `ignore` in the place of each token that is not to be learned: `int64`."""
        return np.where(self.loss_mask.astype(bool), self.ids.astype(np.int64), ignore)

    def ranges(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The tokens to learn as half-open ranges within rows.

        Returns:
            An array of shape (ranges, 2), the start and end of each range in tokens of its row; and the row splits: the
            ranges of row `i` are `ranges[row_splits[i]:row_splits[i + 1]]`.
        """
        changes = np.diff(self.loss_mask, prepend=np.uint8(0), append=np.uint8(0))
        # A range that reaches from one row into the next is two.
        inner = self.row_splits[1:-1]
        cut = np.unique(inner[(inner > 0) & (inner < len(self.ids))])
        cut = cut[(self.loss_mask[cut - 1] & self.loss_mask[cut]).astype(bool)]
        bounds = np.flatnonzero(changes)
        starts = np.sort(np.concatenate([bounds[::2], cut]))
        ends = np.sort(np.concatenate([bounds[1::2], cut]))
        rows = np.searchsorted(self.row_splits, starts, side="right") - 1
        splits = np.searchsorted(starts, self.row_splits).astype(np.int64)
        return np.stack([starts, ends], axis=1) - self.row_splits[rows][:, None], splits

    def to_arrow(self, *, labels: bool = False) -> pa.Table:
        """A table of pyarrow with the columns `input_ids` and `loss_mask`, or `input_ids` and `labels`.

        Raises:
            ImportError: pyarrow is not installed.
        """
        import pyarrow as pa

        splits = pa.array(self.row_splits)
        second = ("labels", self.labels()) if labels else ("loss_mask", self.loss_mask)
        return pa.table(
            {
                name: pa.LargeListArray.from_arrays(splits, pa.array(values))
                for name, values in [("input_ids", self.ids), second]
            }
        )


def end_to_end(batches: list[MessageTokens]) -> MessageTokens:
    """The tokens of all batches as one."""
    if len(batches) == 1:
        return batches[0]
    begins = np.cumsum([0, *(len(one.ids) for one in batches)])
    splits = [batches[0].row_splits[:1], *(one.row_splits[1:] + at for one, at in zip(batches, begins, strict=False))]
    return MessageTokens(
        np.concatenate([one.ids for one in batches]),
        np.concatenate([one.loss_mask for one in batches]),
        np.concatenate(splits),
        np.concatenate([one.straddling for one in batches]),
        None if batches[0].texts is None else [text for one in batches for text in one.texts or ()],
    )
