"""Counting and tokenizing on the machines of a Ray cluster; `pip install 'lexmill[ray]'`.

    counts = lexmill.ray.count_words(JsonLines("/shared/data/*.jsonl.zst"), folder="/shared/counts", ...)
    tokens = lexmill.ray.tokenize(tokenizer, JsonLines("/shared/data/*.jsonl.zst"), "/shared/tokens")

Files are divided into groups, and each task reads a group with lexmill's own readers. Sources and results lie in
folders that all machines see by the same paths. Results are the same as on one machine: tasks that are killed and tried
again, or run twice, write the same bytes under the same names.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import lru_cache
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
    null_error,
    range_folder,
    sum_of_ranges,
)
from lexmill._engines.groups import Group
from lexmill._engines.jobs import Execute, Job, Outcome, TokenizerJson, run_group
from lexmill._engines.tokenizing import tokenize_groups
from lexmill._types import OnProgress
from lexmill.errors import LexmillError, OptionError
from lexmill.token_files import TokenFiles, TokenOptions

if TYPE_CHECKING:
    import pyarrow as pa
    from ray.data import Dataset
    from typing_extensions import Unpack

    from lexmill.normalizers import Normalizer
    from lexmill.pre_tokenizers import PreTokenizer
    from lexmill.trainers import SuperwordOptions

__all__ = ["count_words", "tokenize", "tokenize_dataset"]

_WAITING = 1024
"""Tasks that Ray knows at a time: enough for a cluster to grow by, few enough to ask about again and again."""


def count_words(
    sources: OneSource | Iterable[OneSource] | Dataset,
    *,
    folder: str | os.PathLike[str],
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
    task_options: Mapping[str, Any] | None = None,
    on_progress: OnProgress | None = None,
) -> WordCounts:
    """Counts the distinct words of files, or of a column of a Ray Dataset, by tasks of Ray.

    For files the result is, byte by byte, the result of `lexmill.count_words`. Each group of files leaves a run of
    counts in `folder`; a job that is started again keeps the runs that are there. Remove them once the result is saved.

    For a dataset, rows are sorted by `order`. Words, counts and models trained from them are the same as for the texts
    in that order. Each of Ray's blocks is a source, so the numbers of sources may differ between two results.

    Args:
        sources: paths of text files, whose lines are texts, and sources of `lexmill.sources` that read files; or a Ray
            Dataset.
        folder: a folder that all machines see, for the counts of groups.
        normalizer: the normalizer that texts go through.
        pre_tokenizer: the pre-tokenizer that cuts texts into words; without one each text is a word.
        added_tokens: the added tokens of the tokenizer that will be trained.
        superwords: the options of a trainer that is to learn superwords from the counts; then phrases are counted too.
        column: the column of texts in a dataset.
        order: the column of a dataset by which rows are sorted; no two rows have the same value.
        max_memory: bytes that a task may take for counting, such as `"1GB"`, and the merging at the end.
        scratch: the folder of each machine for counts beyond that; by default the system's temporary folder.
        first_source: the number of the first file, or of the first range of sorted rows.
        errors: `strict`, or `replace` to read bytes that are not UTF-8 as U+FFFD; sources have an option of their own.
        group_bytes: bytes of the files that one task reads, as they lie on the disk; a larger file is a task.
        num_threads: threads of a task, for which Ray reserves as many cores.
        task_options: further options of Ray's tasks, such as `{"memory": 2**31, "max_retries": 10}`.
        on_progress: called with the stage, the bytes of files that are done, their total, and the seconds left,
            see `lexmill.OnProgress`; an exception that it raises ends the job.

    Raises:
        FileError: a file is missing, or differs between a worker and the driver; or a folder cannot be written to.
        OptionError: a source is no file, there is less memory than counting needs, or `order` is missing or has equal
            values.
        OutputError: another job works in the folder.
        LexmillError: Ray is not installed.
    """
    ray = _ray()
    options = CountOptions.of(normalizer, pre_tokenizer, added_tokens, superwords, max_memory, scratch, errors)
    if isinstance(sources, ray.data.Dataset):
        with range_folder(folder) as shared:
            counter = RangeCounter(shared, column, check_order_is_given(order), options, first_source, num_threads)
            return sum_of_ranges(_count_blocks(sources, counter, task_options), counter)
    if order is not None:
        message = "order is given but sources are files, whose texts have an order"
        raise OptionError(message)
    return count_groups(
        sources,
        _executor(task_options),
        options=options,
        folder=folder,
        first_source=first_source,
        group_bytes=group_bytes,
        num_threads=num_threads,
        on_progress=on_progress,
    )


def tokenize(
    tokenizer: Tokenizer | str | os.PathLike[str],
    sources: OneSource | Sequence[OneSource],
    out: str | os.PathLike[str],
    *,
    resume: bool = False,
    overwrite: bool = False,
    group_bytes: int | str = "1GB",
    num_threads: int = 1,
    task_options: Mapping[str, Any] | None = None,
    on_progress: OnProgress | None = None,
    **options: Unpack[TokenOptions],
) -> TokenFiles:
    """Tokenizes files to a folder for each group of them, by tasks of Ray.

    `out/00000`, `out/00001` and so on are, byte by byte, the folders that `lexmill.tokenize_files` writes for the files
    of a group (with absolute paths), and `out/manifest.json` lists them. End to end they hold the documents of one
    local run. The documents that `validation` draws depend on the groups: with it, the seed of a group is `seed` plus
    the number of its first file.

    Args:
        tokenizer: the tokenizer, or the path of its file; it must neither truncate nor pad.
        sources: sources of `lexmill.sources` that read files, or paths and patterns whose names say how texts are
            found, as for `lexmill.tokenize_files`.
        out: a folder that all machines see, empty but for an earlier job.
        resume: goes on with a job that was cut short; begins one if there is none.
        overwrite: removes the files of an earlier job.
        group_bytes: bytes of the files that one task reads, as they lie on the disk; a larger file is a task.
        num_threads: threads of a task, for which Ray reserves as many cores.
        task_options: further options of Ray's tasks.
        on_progress: called with the stage, the bytes of files that are done, their total, and the seconds left,
            see `lexmill.OnProgress`; an exception that it raises ends the job, and `resume=True` continues it.
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
        LexmillError: Ray is not installed.
    """
    _ray()
    return tokenize_groups(
        tokenizer,
        sources,
        out,
        _executor(task_options),
        options=options,
        resume=resume,
        overwrite=overwrite,
        group_bytes=group_bytes,
        num_threads=num_threads,
        on_progress=on_progress,
    )


def tokenize_dataset(
    dataset: Dataset,
    tokenizer: Tokenizer | str | os.PathLike[str],
    *,
    column: str = "text",
    output_column: str = "input_ids",
    add_special_tokens: bool = True,
    **map_options: Any,  # noqa: ANN401 (Ray's own)
) -> Dataset:
    """Adds a column of token ids to a Ray Dataset: lists of `uint16`, or of `uint32` if an id needs them.

    Truncation and padding are as the tokenizer is set to.

    Args:
        dataset: the dataset.
        tokenizer: the tokenizer, or the path of its file.
        column: the column of texts.
        output_column: the name of the new column; one of this name is replaced.
        add_special_tokens: adds the special tokens of the post-processor.
        **map_options: further options of `Dataset.map_batches`, such as `batch_size`, `compute` and `memory`.

    Raises:
        LexmillError: Ray is not installed.
    """
    ray = _ray()
    copy = TokenizerJson.of(tokenizer)
    # By reference: the data that a function holds goes with each task, and Ray warns of large functions.
    shared = _SharedTokenizer(copy.fingerprint, ray.put(copy))
    return dataset.map_batches(
        _with_ids,
        batch_format="pyarrow",
        fn_args=(shared, column, output_column, add_special_tokens),
        **map_options,
    )


@dataclass(frozen=True)
class _SharedTokenizer:
    """A tokenizer in the object store, which a process asks for once."""

    fingerprint: str
    reference: Any = field(compare=False)


@lru_cache(maxsize=4)
def _fetched(tokenizer: _SharedTokenizer) -> TokenizerJson:
    found: TokenizerJson = _ray().get(tokenizer.reference)
    return found


def _with_ids(
    table: pa.Table, tokenizer: _SharedTokenizer, column: str, output_column: str, add_special_tokens: bool
) -> pa.Table:
    ids = encoded(table, _fetched(tokenizer), column, add_special_tokens, signed=False)
    if output_column in table.column_names:
        return table.set_column(table.column_names.index(output_column), output_column, ids)
    return table.append_column(output_column, ids)


def _ray() -> ModuleType:
    try:
        import ray.data
    except ImportError as error:
        message = "lexmill.ray needs the package ray with its data libraries: pip install 'lexmill[ray]'"
        raise LexmillError(message) from error
    found: ModuleType = ray
    return found


def _executor(task_options: Mapping[str, Any] | None) -> Execute:
    def execute(job: Job, groups: Sequence[Group]) -> Iterator[Outcome]:
        ray = _ray()
        shared = ray.put(job)
        remote = ray.remote(run_group).options(**{"num_cpus": job.num_threads, **(task_options or {})})
        yield from _answers(remote.remote(shared, group) for group in groups)

    return execute


def _answers(calls: Iterator[Any]) -> Generator[Any, None, None]:
    """The results of tasks as they come. If the caller gives up, tasks are cancelled, and ended when this returns."""
    ray = _ray()
    pending: list[Any] = []
    try:
        while True:
            while len(pending) < _WAITING and (call := next(calls, None)) is not None:
                pending.append(call)
            if not pending:
                return
            done, pending = ray.wait(pending, num_returns=1)
            yield ray.get(done[0])
    finally:
        for call in pending:
            ray.cancel(call)
        if pending:
            ray.wait(pending, num_returns=len(pending))


def _count_blocks(
    dataset: Dataset, counter: RangeCounter, task_options: Mapping[str, Any] | None
) -> Iterator[CountedRange]:
    """Counts the blocks of the sorted dataset, each of which is a task."""
    ray = _ray()
    options = {"num_cpus": counter.num_threads, **(task_options or {})}
    rows = (
        dataset.select_columns(list(dict.fromkeys((counter.order, counter.column)))).sort(counter.order).materialize()
    )
    blocks = rows.to_arrow_refs()
    # Ray does not promise that blocks come in the order of their rows.
    ends = ray.get([ray.remote(_first_value).remote(block, counter.order) for block in blocks])
    if [None] in ends:
        raise null_error(counter.order)
    ordered = sorted((first[0], at) for at, first in enumerate(ends) if first)
    shared, remote = ray.put(counter), ray.remote(_count_block).options(**options)
    calls = (remote.remote(shared, blocks[at], number) for number, (_, at) in enumerate(ordered))
    # Closed at once if something is raised, since tasks must have ended before their folder is removed.
    with closing(_answers(calls)) as answers:
        for found in answers:
            if isinstance(found, LexmillError):
                raise found
            if found is not None:
                yield found


def _first_value(block: pa.Table, order: str) -> list[Any]:
    return list(block.column(order)[:1].to_pylist())


def _count_block(counter: RangeCounter, block: pa.Table, number: int) -> CountedRange | LexmillError | None:
    try:
        return counter.count([block], number)
    except LexmillError as error:
        return error
