"""Counting and tokenizing by the executors of a Spark session; `pip install 'lexmill[spark]'`.

    counts = lexmill.spark.count_words(JsonLines("/shared/data/*.jsonl.zst"), folder="/shared/counts", ...)
    tokens = lexmill.spark.tokenize(tokenizer, JsonLines("/shared/data/*.jsonl.zst"), "/shared/tokens")

Files are divided into groups, and each task reads a group with lexmill's own readers. Sources and results lie in
folders that all machines see by the same paths. Results are the same as on one machine: tasks that are killed and tried
again, or run twice, write the same bytes under the same names.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal

from lexmill._core import AddedToken, Tokenizer, WordCounts
from lexmill._data.source_names import OneSource
from lexmill._engines.counting import CountOptions, count_groups
from lexmill._engines.frames import (
    CountedRange,
    RangeCounter,
    check_order_is_given,
    encoded,
    pieces,
    range_folder,
    sum_of_ranges,
)
from lexmill._engines.groups import Group
from lexmill._engines.jobs import Execute, Job, Outcome, TokenizerJson, run_group
from lexmill._engines.tokenizing import tokenize_groups
from lexmill.errors import LexmillError, OptionError
from lexmill.token_files import TokenFiles, TokenOptions

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession
    from typing_extensions import Unpack

    from lexmill.normalizers import Normalizer
    from lexmill.pre_tokenizers import PreTokenizer
    from lexmill.trainers import SuperwordOptions

__all__ = ["count_words", "tokenize", "tokenize_frame"]


def count_words(
    sources: OneSource | Iterable[OneSource] | DataFrame,
    *,
    folder: str | os.PathLike[str],
    spark: SparkSession | None = None,
    normalizer: Normalizer | None = None,
    pre_tokenizer: PreTokenizer | None = None,
    added_tokens: Iterable[str | AddedToken] = (),
    superwords: SuperwordOptions | None = None,
    column: str = "text",
    order: str | None = None,
    max_memory: int | str | None = None,
    scratch: str | os.PathLike[str] | None = None,
    first_source: int = 0,
    errors: Literal["strict", "replace"] = "strict",
    group_bytes: int | str = "256MB",
    num_threads: int = 1,
) -> WordCounts:
    """Counts the distinct words of files, or of a column of a data frame, by tasks of Spark.

    For files the result is, byte by byte, the result of `lexmill.count_words`. Each group of files leaves a run of
    counts in `folder`; a job that is started again keeps the runs that are there. Remove them once the result is saved.

    For a data frame, rows are sorted by `order`. Words, counts and models trained from them are the same as for the
    texts in that order. Each of Spark's partitions is a source, so the numbers of sources may differ between two
    results.

    Args:
        sources: paths of text files, whose lines are texts, and sources of `lexmill.sources` that read files; or a
            Spark data frame.
        folder: a folder that all machines see, for the counts of groups.
        spark: the session; by default the active one, or a new one.
        normalizer: the normalizer that texts go through.
        pre_tokenizer: the pre-tokenizer that cuts texts into words; without one each text is a word.
        added_tokens: the added tokens of the tokenizer that will be trained.
        superwords: the options of a trainer that is to learn superwords from the counts; then phrases are counted too.
        column: the column of texts in a data frame.
        order: the column of a data frame by which rows are sorted; no two rows have the same value.
        max_memory: bytes that a task may take for counting, such as `"1GB"`, and the merging at the end. Spark does not
            know of them; `spark.executor.memoryOverhead` must leave room.
        scratch: the folder of each machine for counts beyond that; by default the system's temporary folder.
        first_source: the number of the first file, or of the first range of sorted rows.
        errors: `strict`, or `replace` to read bytes that are not UTF-8 as U+FFFD; sources have an option of their own.
        group_bytes: bytes of the files that one task reads, as they lie on the disk; a larger file is a task.
        num_threads: threads of a task; `spark.task.cpus` reserves cores for them.

    Raises:
        FileError: a file is missing, or differs between a worker and the driver; or a folder cannot be written to.
        OptionError: a source is no file, there is less memory than counting needs, or `order` is missing or has equal
            values.
        OutputError: another job works in the folder.
        LexmillError: Spark is not installed.
    """
    sql = _pyspark()
    options = CountOptions.of(normalizer, pre_tokenizer, added_tokens, superwords, max_memory, scratch, errors)
    if isinstance(sources, sql.DataFrame):
        with range_folder(folder) as shared:
            counter = RangeCounter(shared, column, check_order_is_given(order), options, first_source, num_threads)
            return sum_of_ranges(_count_partitions(sources, counter), counter)
    if order is not None:
        message = "order is given but sources are files, whose texts have an order"
        raise OptionError(message)
    return count_groups(
        sources,
        _executor(spark),
        options=options,
        folder=folder,
        first_source=first_source,
        group_bytes=group_bytes,
        num_threads=num_threads,
        on_progress=None,
    )


def tokenize(
    tokenizer: Tokenizer | str | os.PathLike[str],
    sources: OneSource | Sequence[OneSource],
    out: str | os.PathLike[str],
    *,
    spark: SparkSession | None = None,
    resume: bool = False,
    overwrite: bool = False,
    group_bytes: int | str = "1GB",
    num_threads: int = 1,
    **options: Unpack[TokenOptions],
) -> TokenFiles:
    """Tokenizes files to a folder for each group of them, by tasks of Spark.

    `out/00000`, `out/00001` and so on are, byte by byte, the folders that `lexmill.tokenize_files` writes for the files
    of a group (with absolute paths), and `out/manifest.json` lists them. End to end they hold the documents of one
    local run. The documents that `validation` draws depend on the groups: with it, the seed of a group is `seed` plus
    the number of its first file.

    Args:
        tokenizer: the tokenizer, or the path of its file; it must neither truncate nor pad.
        sources: sources of `lexmill.sources` that read files, or paths and patterns whose names say how texts are
            found, as for `lexmill.tokenize_files`.
        out: a folder that all machines see, empty but for an earlier job.
        spark: the session; by default the active one, or a new one.
        resume: goes on with a job that was cut short; begins one if there is none.
        overwrite: removes the files of an earlier job.
        group_bytes: bytes of the files that one task reads, as they lie on the disk; a larger file is a task.
        num_threads: threads of a task; `spark.task.cpus` reserves cores for them.
        **options: options of `lexmill.tokenize_files`, such as `format` and `end_token`;
            `lexmill.token_files.TokenOptions` lists them.

    Returns:
        The documents of all groups, opened.

    Raises:
        OutputError: the folder holds something else or an earlier job, another job works in it, or the job to resume
            was begun with another tokenizer, other options or other files; the message names the difference.
        FileError: a file is missing, or differs between a worker and the driver; or a folder cannot be written to.
        FormatError: a record is broken, with `on_error="raise"`.
        OptionError: options that do not fit together, or a tokenizer that truncates, pads or samples.
        LexmillError: Spark is not installed.
    """
    _pyspark()
    return tokenize_groups(
        tokenizer,
        sources,
        out,
        _executor(spark),
        options=options,
        resume=resume,
        overwrite=overwrite,
        group_bytes=group_bytes,
        num_threads=num_threads,
        on_progress=None,
    )


def tokenize_frame(
    frame: DataFrame,
    tokenizer: Tokenizer | str | os.PathLike[str],
    *,
    column: str = "text",
    output_column: str = "input_ids",
    add_special_tokens: bool = True,
) -> DataFrame:
    """Adds a column of token ids, `array<int>`, to a Spark data frame.

    Truncation and padding are as the tokenizer is set to.

    Args:
        frame: the data frame.
        tokenizer: the tokenizer, or the path of its file.
        column: the column of texts.
        output_column: the name of the new column.
        add_special_tokens: adds the special tokens of the post-processor.

    Raises:
        OptionError: the frame has a column of the new name.
        LexmillError: Spark is not installed.
    """
    _pyspark()
    from pyspark.sql.types import ArrayType, IntegerType, StructField, StructType

    if output_column in frame.columns:
        message = f"output_column is {output_column}, which the frame has already"
        raise OptionError(message)
    ids = StructField(output_column, ArrayType(IntegerType(), False), False)
    schema = StructType([*frame.schema.fields, ids])
    work = partial(
        _with_ids,
        tokenizer=TokenizerJson.of(tokenizer),
        column=column,
        output_column=output_column,
        add_special_tokens=add_special_tokens,
    )
    return frame.mapInArrow(work, schema)


def _with_ids(
    batches: Iterable[pa.RecordBatch],
    *,
    tokenizer: TokenizerJson,
    column: str,
    output_column: str,
    add_special_tokens: bool,
) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        ids = encoded(batch, tokenizer, column, add_special_tokens, signed=True)
        yield from pieces(batch.append_column(output_column, ids))


def _pyspark() -> ModuleType:
    try:
        import pyarrow  # noqa: F401 (asked for where it is missed, not in a task)
        import pyspark.sql
    except ImportError as error:
        message = "lexmill.spark needs the packages pyspark and pyarrow: pip install 'lexmill[spark]'"
        raise LexmillError(message) from error
    sql: ModuleType = pyspark.sql
    return sql


def _executor(spark: SparkSession | None) -> Execute:
    def execute(job: Job, groups: Sequence[Group]) -> Iterator[Outcome]:
        session = spark or _pyspark().SparkSession.builder.getOrCreate()
        # A partition of one row for each group.
        numbers = session.range(0, len(groups), 1, len(groups))
        yield from _answers(numbers, partial(_run_groups, job=job, groups=groups))

    return execute


def _answers(frame: DataFrame, work: Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]) -> Iterator[Any]:
    """The answers of tasks to the batches of a frame; on the way they are pickled."""
    for row in frame.mapInArrow(work, "answer binary").collect():
        yield pickle.loads(bytes(row.answer))


def _batch(answers: list[Any]) -> pa.RecordBatch:
    import pyarrow as pa

    return pa.record_batch({"answer": pa.array([pickle.dumps(answer) for answer in answers], pa.binary())})


def _run_groups(batches: Iterable[pa.RecordBatch], *, job: Job, groups: Sequence[Group]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        yield _batch([run_group(job, groups[at]) for at in batch.column("id").to_pylist()])


def _count_partitions(frame: DataFrame, counter: RangeCounter) -> Iterator[CountedRange]:
    """Counts the partitions of the sorted frame, each of which is a task."""
    rows = frame.select(*dict.fromkeys((counter.order, counter.column))).orderBy(counter.order)
    for found in _answers(rows, partial(_count_partition, counter=counter)):
        if isinstance(found, LexmillError):
            raise found
        yield found


def _count_partition(batches: Iterable[pa.RecordBatch], *, counter: RangeCounter) -> Iterator[pa.RecordBatch]:
    from pyspark import TaskContext

    context = TaskContext.get()
    # A sorted frame is divided by its order, and the numbers of partitions follow it.
    number = context.partitionId() if context is not None else 0
    try:
        found = counter.count(batches, number)
    except LexmillError as error:
        yield _batch([error])
        return
    if found is not None:
        yield _batch([found])
