"""`lexmill prune` and `lexmill shrink`: a tokenizer with a part of its vocabulary."""

from __future__ import annotations

import contextlib
import io
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import typer

from lexmill._data.whole_file import to_disk
from lexmill.cli.files import STANDARD, check_inputs, check_output, read_stream, write_whole
from lexmill.cli.load import load_tokenizer
from lexmill.cli.options import CORPUS_HELP, LARGEST, Json, ReadOptions, Threads, TokenizerFile
from lexmill.cli.outcome import Outcome, UsageError
from lexmill.cli.progress import ProgressBar
from lexmill.cli.sources import named_sources
from lexmill.errors import FormatError
from lexmill.vocabularies import Pruned, prune, shrink

__all__ = ["Options", "ShrinkOptions", "make", "make_smaller"]

OutputFile = Annotated[str, typer.Argument(metavar="OUT", help="Where the tokenizer.json goes.", show_default=False)]
OldIds = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Where the old id of each new id goes, an array of numpy (.npy): the rows of embeddings to keep.",
        show_default=False,
    ),
]


@dataclass(frozen=True, kw_only=True)
class Options:
    """The arguments and options of `lexmill prune`."""

    tokenizer: TokenizerFile
    output: OutputFile
    files: Annotated[
        list[str] | None, typer.Argument(metavar="[FILES]...", help=f"To count tokens in: {CORPUS_HELP}")
    ] = None
    min_count: Annotated[
        int | None,
        typer.Option(min=0, max=LARGEST, help="How often a token must occur in FILES; 1 unless given."),
    ] = None
    script: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Keep tokens of this script, such as Latin; may be given again."),
    ] = None
    language: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TAG",
            help="Keep tokens of the scripts of this language, such as de or hi-Latn; may be given again.",
        ),
    ] = None
    keep_ids: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Keep the ids in this file, which white space divides; - is stdin."),
    ] = None
    old_ids: OldIds = None
    read: ReadOptions
    threads: Threads = None
    as_json: Json = False


@dataclass(frozen=True, kw_only=True)
class ShrinkOptions:
    """The arguments and options of `lexmill shrink`."""

    tokenizer: TokenizerFile
    output: OutputFile
    vocab_size: Annotated[
        int, typer.Argument(metavar="SIZE", min=0, max=LARGEST, help="Tokens at most.", show_default=False)
    ]
    old_ids: OldIds = None
    as_json: Json = False


def make(options: Options) -> Outcome:
    """Drop the tokens that nothing selects; texts of the other tokens are encoded as before.

    Tokens stay that FILES have, that belong to the scripts and languages, or both where both are given; and the ids of
    --keep-ids. So do the tokens that these are made of, special tokens and bytes.
    """
    if options.min_count is not None and not options.files:
        message = "--min-count is for tokens of FILES, and there are none"
        raise UsageError(message)
    if not (options.files or options.script or options.language) and options.keep_ids is None:
        message = "there is nothing to prune by; give FILES, --script, --language or --keep-ids"
        raise UsageError(message)
    _check(options, [] if options.keep_ids is None else [options.keep_ids])
    sources = named_sources(options.files, options.read) if options.files else None
    tokenizer = load_tokenizer(options.tokenizer)
    keep = None if options.keep_ids is None else _ids_in(options.keep_ids)
    with ProgressBar(not options.as_json, in_bytes=("read",)) as progress:
        made = prune(
            tokenizer,
            keep,
            corpus=sources,
            min_count=1 if options.min_count is None else options.min_count,
            scripts=options.script or None,
            languages=options.language or None,
            num_threads=options.threads,
            on_progress=progress.callback,
        )
    return _written(made, options)


def make_smaller(options: ShrinkOptions) -> Outcome:
    """Keep the first tokens of a vocabulary, as if it had been trained to this size."""
    _check(options, [])
    return _written(shrink(load_tokenizer(options.tokenizer), options.vocab_size), options)


def _check(options: Options | ShrinkOptions, inputs: list[str]) -> None:
    """Makes sure, before the work, that files can be read and written."""
    outputs = [options.output, *([] if options.old_ids is None else [options.old_ids])]
    if STANDARD in outputs:
        message = f"outputs must be files, not stdout ({STANDARD})"
        raise UsageError(message)
    if len(set(outputs)) < len(outputs):
        message = f"{options.output} is OUT and --old-ids"
        raise UsageError(message)
    check_inputs(inputs)
    for output in outputs:
        check_output(output, [options.tokenizer, *inputs])


def _ids_in(path: str) -> list[int]:
    """The ids in a file.

    Raises:
        FormatError: a word of the file is no number.
    """
    words = read_stream(path, "strict")[0].split()
    for word in words:
        if not (word.isascii() and word.isdigit()):
            message = f"{path} must have ids, but has {word[:40]!r}"
            raise FormatError(message)
    return [int(word) for word in words]


def _written(made: Pruned, options: Options | ShrinkOptions) -> Outcome:
    texts = {options.output: made.tokenizer.to_str(pretty=True).encode()}
    if options.old_ids is not None:
        array = io.BytesIO()
        np.save(array, made.old_ids)
        texts[options.old_ids] = array.getvalue()
    with contextlib.ExitStack() as stack:
        streams = [stack.enter_context(write_whole(path)) for path in texts]
        for stream, content in zip(streams, texts.values(), strict=True):
            stream.write(content)
        # Of two files neither takes its place unless both can.
        for stream in streams:
            to_disk(stream)
    size = len(made.old_ids)
    data: dict[str, object] = {
        "outputs": list(texts),
        "vocab_size": size,
        "ids_before": len(made.id_map),
        "required": len(made.required),
    }
    note = f"{options.output}: {size:,} of {len(made.id_map):,} ids"
    return Outcome(data, note=note)
