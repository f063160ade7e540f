"""`lexmill count-words` and `lexmill merge-counts`: the words of a corpus, counted once and for all."""

from __future__ import annotations

import dataclasses
import time
from dataclasses import dataclass
from typing import Annotated

import typer

from lexmill import WordCounts, count_words, merge_counts
from lexmill.cli.display import columns, megabytes, printable
from lexmill.cli.files import check_inputs, check_output
from lexmill.cli.options import (
    LARGEST,
    Corpus,
    Field,
    Input,
    Json,
    Normalizer,
    OnBroken,
    OnInvalid,
    PreTokenizer,
    ReadOptions,
    Resume,
    Superwords,
    Threads,
)
from lexmill.cli.outcome import Outcome, UsageError
from lexmill.cli.progress import ProgressBar
from lexmill.cli.sources import named_sources
from lexmill.cli.stages import NormalizerName, PreTokenizerName, normalizer_of, pre_tokenizer_of
from lexmill.estimation import estimate
from lexmill.trainers import SuperwordOptions

__all__ = ["CountOptions", "EstimateOptions", "MergeOptions", "count", "merge", "tell"]


@dataclass(frozen=True, kw_only=True)
class CountOptions:
    """The arguments and options of `lexmill count-words`."""

    files: Corpus
    output: Annotated[str, typer.Option("--output", "-o", help="The file of word counts.")]
    normalizer: Normalizer = NormalizerName.NONE
    pre_tokenizer: PreTokenizer = PreTokenizerName.BYTE_LEVEL
    superwords: Superwords = None
    max_memory: Annotated[
        str | None,
        typer.Option(help="Memory for counting, such as 1GB; without limit unless given.", show_default=False),
    ] = None
    folder: Annotated[
        str | None, typer.Option(help="The folder for data beyond the memory.", show_default="the system's")
    ] = None
    checkpoint: Annotated[
        str | None,
        typer.Option(help="A folder for finished parts, so that counting may be resumed.", show_default=False),
    ] = None
    checkpoint_bytes: Annotated[str, typer.Option(help="Bytes of text in a part of the checkpoint, such as 500MB.")] = (
        "4GB"
    )
    resume: Resume = False
    first_source: Annotated[
        int, typer.Option(min=0, max=2**32 - 1, help="The number of the first file in the whole corpus.")
    ] = 0
    read: ReadOptions
    threads: Threads = None
    as_json: Json = False


@dataclass(frozen=True, kw_only=True)
class EstimateOptions:
    """The arguments and options of `lexmill estimate`."""

    files: Corpus
    normalizer: Normalizer = NormalizerName.NONE
    pre_tokenizer: PreTokenizer = PreTokenizerName.BYTE_LEVEL
    input: Input = None
    field: Field = "text"
    threads: Threads = None
    as_json: Json = False


@dataclass(frozen=True, kw_only=True)
class MergeOptions:
    """The arguments and options of `lexmill merge-counts`."""

    files: Annotated[list[str], typer.Argument(metavar="COUNTS...", help="Files of word counts.", show_default=False)]
    output: Annotated[str, typer.Option("--output", "-o", help="The file of the sum.")]
    min_count: Annotated[int, typer.Option(min=1, max=LARGEST, help="The least count of a word that is kept.")] = 1
    max_memory: Annotated[
        str | None, typer.Option(help="Memory for merging, such as 1GB; 64MiB unless given.", show_default=False)
    ] = None
    folder: Annotated[str | None, typer.Option(help="Where the sum is put together.", show_default="the system's")] = (
        None
    )
    as_json: Json = False


def count(options: CountOptions) -> Outcome:
    """Count the distinct words of text files, plain or compressed, in bounded memory."""
    if options.resume and options.checkpoint is None:
        message = "--resume continues the counts in --checkpoint, which is not given"
        raise UsageError(message)
    check_output(options.output, options.files)
    sources = named_sources(options.files, options.read)
    started = time.perf_counter()
    with ProgressBar(not options.as_json, in_bytes=("count words",)) as progress:
        counts = count_words(
            sources,
            normalizer=normalizer_of(options.normalizer),
            pre_tokenizer=pre_tokenizer_of(options.pre_tokenizer),
            # The phrases do not depend on the size of the vocabulary.
            superwords=SuperwordOptions(0, algorithm=options.superwords.value) if options.superwords else None,
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


def tell(options: EstimateOptions) -> Outcome:
    """Estimate from a sample the time to count the words of text files and the memory to train on them."""
    read = ReadOptions(input=options.input, field=options.field, errors=OnInvalid.REPLACE, on_error=OnBroken.SKIP)
    told = estimate(
        named_sources(options.files, read),
        normalizer=normalizer_of(options.normalizer),
        pre_tokenizer=pre_tokenizer_of(options.pre_tokenizer),
        num_threads=options.threads,
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


def merge(options: MergeOptions) -> Outcome:
    """Add up word counts of parts of a corpus; their order does not matter."""
    check_inputs(options.files)
    check_output(options.output)
    started = time.perf_counter()
    with ProgressBar(not options.as_json, in_bytes=()) as progress:
        counts = merge_counts(
            options.files, max_memory=options.max_memory, folder=options.folder, on_progress=progress.callback
        )
    if options.min_count > 1:
        counts = counts.trim(options.min_count, folder=options.folder)
    counts.save(options.output)
    return _outcome(options.output, counts, time.perf_counter() - started)


def _outcome(output: str, counts: WordCounts, seconds: float) -> Outcome:
    data: dict[str, object] = {
        "output": output,
        "words": len(counts),
        "phrases": counts.phrases,
        "total": counts.total,
        "texts": counts.texts,
        "bytes": counts.bytes_read,
        "dropped_words": counts.dropped_words,
        "dropped_total": counts.dropped_total,
        "seconds": round(seconds, 6),
    }
    size = megabytes(counts.bytes_read)
    phrases = f" and {counts.phrases:,} phrases" if counts.phrases else ""
    counted = f"{len(counts):,} distinct words of {counts.total:,}{phrases}"
    return Outcome(data, note=f"{output}: {counted}, from {size} in {seconds:.1f} s")
