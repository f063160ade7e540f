"""`lexmill count-words` and `lexmill merge-counts`: the words of a corpus, counted once and for all."""

from __future__ import annotations

import dataclasses
import time
from dataclasses import dataclass
from typing import Literal

from lexmill import WordCounts, count_words, merge_counts
from lexmill.cli.display import columns, megabytes, printable
from lexmill.cli.files import check_inputs, check_output
from lexmill.cli.outcome import Outcome, UsageError
from lexmill.cli.progress import ProgressBar
from lexmill.cli.sources import InputName, ReadOptions, named_sources
from lexmill.cli.stages import NormalizerName, PreTokenizerName, normalizer_of, pre_tokenizer_of
from lexmill.estimation import estimate

__all__ = ["CountOptions", "count", "merge", "tell"]


@dataclass(frozen=True)
class CountOptions:
    """The options of `lexmill count-words`, each as its `--help` says."""

    files: list[str]
    output: str
    normalizer: NormalizerName
    pre_tokenizer: PreTokenizerName
    input: InputName | None
    field: str
    max_memory: str | None
    folder: str | None
    checkpoint: str | None
    checkpoint_bytes: str
    resume: bool
    first_source: int
    errors: Literal["strict", "replace"]
    on_error: Literal["raise", "skip"]
    threads: int | None
    as_json: bool


def count(options: CountOptions) -> Outcome:
    """Counts and saves; nothing is saved unless all went well."""
    if options.resume and options.checkpoint is None:
        message = "--resume goes on with what is in --checkpoint, which is not given"
        raise UsageError(message)
    check_output(options.output, options.files)
    read = ReadOptions(options.input, options.field, options.errors, options.on_error)
    sources = named_sources(options.files, read)
    started = time.perf_counter()
    with ProgressBar(not options.as_json, in_bytes=("count words",)) as progress:
        counts = count_words(
            sources,
            normalizer=normalizer_of(options.normalizer),
            pre_tokenizer=pre_tokenizer_of(options.pre_tokenizer),
            max_memory=options.max_memory,
            folder=options.folder,
            checkpoint=options.checkpoint,
            checkpoint_bytes=options.checkpoint_bytes,
            resume=options.resume,
            first_source=options.first_source,
            on_progress=progress.callback,
            num_threads=options.threads,
        )
    counts.save(options.output)
    return _outcome(options.output, counts, time.perf_counter() - started)


def tell(
    files: list[str],
    kind: InputName | None,
    field: str,
    normalizer: NormalizerName,
    pre_tokenizer: PreTokenizerName,
    threads: int | None,
) -> Outcome:
    """Estimates from a sample the time to count words and the memory to train on them."""
    told = estimate(
        named_sources(files, ReadOptions(kind, field, "replace", "skip")),
        normalizer=normalizer_of(normalizer),
        pre_tokenizer=pre_tokenizer_of(pre_tokenizer),
        num_threads=threads,
    )
    data = {**dataclasses.asdict(told), "longest": [list(word) for word in told.longest]}
    table = [
        ("size", megabytes(told.bytes)),
        ("words", f"{told.words:,}"),
        ("distinct words", f"{told.distinct_words:,}"),
        ("memory to train", megabytes(told.training_memory)),
        ("time to count", f"{told.counting_seconds:,.0f} s"),
        *(("longest words" if not at else "", printable(word[:60])) for at, (word, _) in enumerate(told.longest[:3])),
    ]
    return Outcome(data, text=columns(table, "<<"))


def merge(
    files: list[str], output: str, min_count: int, max_memory: str | None, folder: str | None, as_json: bool
) -> Outcome:
    """Merges, trims and saves; nothing is saved unless all went well."""
    check_inputs(files)
    check_output(output)
    started = time.perf_counter()
    with ProgressBar(not as_json, in_bytes=()) as progress:
        counts = merge_counts(files, max_memory=max_memory, folder=folder, on_progress=progress.callback)
    if min_count > 1:
        counts = counts.trim(min_count, folder=folder)
    counts.save(output)
    return _outcome(output, counts, time.perf_counter() - started)


def _outcome(output: str, counts: WordCounts, seconds: float) -> Outcome:
    data: dict[str, object] = {
        "output": output,
        "words": len(counts),
        "total": counts.total,
        "texts": counts.texts,
        "bytes": counts.bytes_read,
        "dropped_words": counts.dropped_words,
        "dropped_total": counts.dropped_total,
        "seconds": round(seconds, 6),
    }
    size = megabytes(counts.bytes_read)
    return Outcome(
        data, note=f"{output}: {len(counts):,} distinct words of {counts.total:,}, from {size} in {seconds:.1f} s"
    )
