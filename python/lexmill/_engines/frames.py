"""Columns of texts in data frames, instead of files: batches of Arrow data, sorted by a column that the caller names.

Ray and Spark keep no order of rows, and trainers break ties by first appearance. So rows are sorted by `order`, and
each range of rows that one task gets is counted as a source, whose number is the place of the range among all.
"""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lexmill._core import Tokenizer, WordCounts
from lexmill._engines.counting import CountOptions, merged
from lexmill._engines.jobs import TokenizerJson
from lexmill._engines.shared_folder import attempt, made_folder, publish
from lexmill.errors import IdRangeError, OptionError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "CountedRange",
    "RangeCounter",
    "check_order_is_given",
    "encoded",
    "null_error",
    "pieces",
    "range_folder",
    "sum_of_ranges",
]

PIECE = 32 << 20
"""Bytes of a batch that goes to Spark, which copies it whole: half of what Spark itself takes for one."""


def check_order_is_given(order: str | None) -> str:
    """Refuses frames whose rows have no order.

    Raises:
        OptionError: there is no column.
    """
    if order is None:
        message = (
            "order is missing: rows of a frame have no order, but trainers break ties by what appears first; name a "
            "column that has another value in each row, by which they are sorted"
        )
        raise OptionError(message)
    return order


@dataclass(frozen=True)
class CountedRange:
    """A task's answer about neighbouring rows.

    Attributes:
        name: the file with their counts.
        first: the least value of the column by which they are sorted.
        last: the greatest.
    """

    name: str
    first: Any
    last: Any


@dataclass(frozen=True)
class RangeCounter:
    """Counts the words of neighbouring rows, on a worker.

    Attributes:
        folder: the shared folder of the job.
        column: the texts.
        order: the column by which rows are sorted.
        options: the options of counting.
        first_source: the number of the first range.
        num_threads: threads of a task.
    """

    folder: Path
    column: str
    order: str
    options: CountOptions
    first_source: int
    num_threads: int

    def count(self, batches: Iterable[pa.RecordBatch | pa.Table], number: int) -> CountedRange | None:
        """Counts the rows of range `number`; none if there are no rows.

        Raises:
            OptionError: two rows have one value of the column by which they are sorted, or one has none.
        """
        ends: list[Any] = []
        counts = self.options.stages.tokenizer()._count_words(
            [],
            iterator=self._texts(batches, ends),
            superwords=self.options.superwords,
            max_memory=self.options.max_memory,
            folder=self.options.scratch,
            first_source=self.first_source + number,
            num_threads=self.num_threads,
        )
        if not ends:
            return None
        name = f"{number:08}.counts"
        with attempt(self.folder, name) as folder:
            counts.save(folder / "counts")
            publish(folder / "counts", self.folder / name)
        return CountedRange(name, ends[0], ends[-1])

    def _texts(self, batches: Iterable[pa.RecordBatch | pa.Table], ends: list[Any]) -> Iterator[Any]:
        import pyarrow.compute as pc

        for batch in batches:
            if not batch.num_rows:
                continue
            values = batch.column(self.order)
            if values.null_count:
                raise null_error(self.order)
            first, last = values[0].as_py(), values[-1].as_py()
            is_rising = pc.all(pc.less(values[:-1], values[1:])).as_py() is not False
            if not is_rising or (ends and not ends[-1] < first):
                raise _order_error(self.order)
            ends += [first, last]
            yield batch.column(self.column)


def null_error(order: str) -> OptionError:
    """The error for rows that have no place."""
    return OptionError(f"order is {order}, which is null in some rows")


def _order_error(order: str) -> OptionError:
    return OptionError(f"order is {order}, which has the same value in several rows")


@contextmanager
def range_folder(folder: str | os.PathLike[str]) -> Iterator[Path]:
    """A folder for the counts of ranges, within the shared one; it does not outlive the block."""
    path = made_folder(made_folder(folder) / f".lexmill-ranges-{uuid.uuid4().hex}")
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def sum_of_ranges(found: Iterable[CountedRange], counter: RangeCounter) -> WordCounts:
    """The sum of all ranges.

    Raises:
        OptionError: two rows of different ranges have one value of the column by which they are sorted.
    """
    ranges = sorted(found, key=lambda one: one.name)
    if any(not before.last < after.first for before, after in pairwise(ranges)):
        raise _order_error(counter.order)
    if not ranges:
        return counter.options.stages.tokenizer()._count_words([], superwords=counter.options.superwords)
    return merged([counter.folder / one.name for one in ranges], counter.options)


def encoded(
    batch: pa.RecordBatch | pa.Table, tokenizer: TokenizerJson, column: str, add_special_tokens: bool, *, signed: bool
) -> pa.Array:
    """The ids of a column of texts, as an Arrow column of lists of integers of 32 bits, or as narrow as ids allow."""
    import numpy as np
    import pyarrow as pa

    made: Tokenizer = tokenizer.tokenizer()
    rows = made.encode_batch_arrays(batch.column(column), add_special_tokens=add_special_tokens, num_threads=1)
    if not signed:
        return pa.array(rows)
    limit = np.iinfo(np.int32).max
    for name, value in (("largest id", int(rows.ids.max(initial=0))), ("number of tokens", rows.ids.size)):
        if value > limit:
            message = f"the {name} of a batch is {value}, but Spark's arrays hold at most {limit}"
            raise IdRangeError(message)
    offsets = pa.array(rows.row_splits.astype(np.int32))
    return pa.ListArray.from_arrays(offsets, pa.array(rows.ids.astype(np.int32)))


def pieces(batch: pa.RecordBatch, limit: int = PIECE) -> Iterator[pa.RecordBatch]:
    """A batch in parts of at most `limit` bytes, unless one row has more."""
    if batch.num_rows > 1 and batch.nbytes > limit:
        half = batch.num_rows // 2
        yield from pieces(batch.slice(0, half), limit)
        yield from pieces(batch.slice(half), limit)
    else:
        yield batch
