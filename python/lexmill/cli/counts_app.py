"""The commands for word counts and their options; `word_counts` does the work."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from lexmill.cli import word_counts
from lexmill.cli.app import app, finish
from lexmill.cli.options import (
    LARGEST,
    Corpus,
    Errors,
    Field,
    Input,
    Json,
    Normalizer,
    OnBroken,
    OnError,
    OnInvalid,
    PreTokenizer,
    Resume,
    Threads,
)
from lexmill.cli.outcome import execute
from lexmill.cli.stages import NormalizerName, PreTokenizerName

__all__ = ["count_words", "estimate", "merge_counts"]


@app.command("count-words")
def count_words(
    files: Corpus,
    output: Annotated[str, typer.Option("--output", "-o", help="The file of word counts.")],
    normalizer: Normalizer = NormalizerName.NONE,
    pre_tokenizer: PreTokenizer = PreTokenizerName.BYTE_LEVEL,
    kind: Input = None,
    field: Field = "text",
    max_memory: Annotated[
        str | None,
        typer.Option(help="Memory for counting, such as 1GB; without limit unless given.", show_default=False),
    ] = None,
    folder: Annotated[
        str | None, typer.Option(help="Where what memory does not hold goes.", show_default="the system's")
    ] = None,
    checkpoint: Annotated[
        str | None,
        typer.Option(help="A folder for finished parts, so that counting may be resumed.", show_default=False),
    ] = None,
    checkpoint_bytes: Annotated[
        str, typer.Option(help="Bytes of text in a part of the checkpoint, such as 500MB.")
    ] = "4GB",
    resume: Resume = False,
    first_source: Annotated[
        int, typer.Option(min=0, max=2**32 - 1, help="The number of the first file in the whole corpus.")
    ] = 0,
    errors: Errors = OnInvalid.STRICT,
    on_error: OnError = OnBroken.RAISE,
    threads: Threads = None,
    as_json: Json = False,
) -> None:
    """Count the distinct words of text files, plain or compressed, in bounded memory."""
    options = word_counts.CountOptions(
        files=files,
        output=output,
        normalizer=normalizer,
        pre_tokenizer=pre_tokenizer,
        input=kind,
        field=field,
        max_memory=max_memory,
        folder=folder,
        checkpoint=checkpoint,
        checkpoint_bytes=checkpoint_bytes,
        resume=resume,
        first_source=first_source,
        errors=errors.value,
        on_error=on_error.value,
        threads=threads,
        as_json=as_json,
    )
    is_resumable = checkpoint is not None
    finish(execute("count-words", as_json, lambda: word_counts.count(options), is_resumable=is_resumable))


@app.command("estimate")
def estimate(
    files: Corpus,
    normalizer: Normalizer = NormalizerName.NONE,
    pre_tokenizer: PreTokenizer = PreTokenizerName.BYTE_LEVEL,
    kind: Input = None,
    field: Field = "text",
    threads: Threads = None,
    as_json: Json = False,
) -> None:
    """Estimate from a sample the time to count the words of text files and the memory to train on them."""
    work = partial(word_counts.tell, files, kind, field, normalizer, pre_tokenizer, threads)
    finish(execute("estimate", as_json, work))


@app.command("merge-counts")
def merge_counts(
    files: Annotated[list[str], typer.Argument(metavar="COUNTS...", help="Files of word counts.", show_default=False)],
    output: Annotated[str, typer.Option("--output", "-o", help="The file of the sum.")],
    min_count: Annotated[int, typer.Option(min=1, max=LARGEST, help="The least count of a word that is kept.")] = 1,
    max_memory: Annotated[
        str | None, typer.Option(help="Memory for merging, such as 1GB; 64MiB unless given.", show_default=False)
    ] = None,
    folder: Annotated[
        str | None, typer.Option(help="Where the sum is put together.", show_default="the system's")
    ] = None,
    as_json: Json = False,
) -> None:
    """Add up word counts of parts of a corpus; their order does not matter."""
    work = partial(word_counts.merge, files, output, min_count, max_memory, folder, as_json)
    finish(execute("merge-counts", as_json, work))
