"""`lexmill encode`: from text files to ids."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import numpy as np
import numpy.typing as npt
import typer

from lexmill import TokenArrays, Tokenizer
from lexmill._data.corpus_warnings import warn_of_repeated
from lexmill.cli.arrays import write_npy
from lexmill.cli.display import megabytes
from lexmill.cli.files import STANDARD, check_output, read_stream, write_whole
from lexmill.cli.load import load_tokenizer
from lexmill.cli.options import Corpus, Json, ReadOptions, SpecialTokens, Threads, TokenizerFile, unescaped
from lexmill.cli.outcome import Outcome, UsageError
from lexmill.cli.progress import ProgressBar
from lexmill.cli.sources import Input, inputs_of
from lexmill.errors import OptionError

__all__ = ["Options", "encode", "groups"]

# Files go to the core in groups of about this many bytes: enough for all threads, and the progress moves.
_GROUP = 1 << 25


@dataclass(frozen=True, kw_only=True)
class Options:
    """The arguments and options of `lexmill encode`."""

    tokenizer: TokenizerFile
    files: Corpus
    output: Annotated[
        str, typer.Option("--output", "-o", help="A .npy file of all ids; - prints a line a document.")
    ] = "-"
    separator: Annotated[
        str | None, typer.Option(help="Text between documents (\\n, \\t understood); else each file is one.")
    ] = None
    row_splits: Annotated[
        str | None, typer.Option(metavar="FILE", help="A .npy file of where each document begins, and the end.")
    ] = None
    special_tokens: SpecialTokens = True
    read: ReadOptions
    threads: Threads = None
    as_json: Json = False
    # For the help alone: a call with it is one of `tokenize`.
    format: Annotated[
        str | None,
        typer.Option(help="Write files of a training program to the folder OUTPUT; see tokenize.", show_default=False),
    ] = None


@dataclass(frozen=True)
class Part:
    """Files encoded together: their documents in order, and their bytes."""

    size: int
    arrays: TokenArrays


def encode(options: Options) -> Outcome:
    """Encode the texts of files to ids. Each record is a document; a text file is one, or is cut at separators.

    With --format this is the command tokenize and has its options.
    """
    output, row_splits = options.output, options.row_splits
    if options.separator is not None:
        options = replace(options, separator=unescaped(options.separator))
    if output == STANDARD and row_splits is not None:
        message = f"--row-splits needs a file as --output; on stdout ({STANDARD}) each document is a line"
        raise UsageError(message)
    if output == STANDARD and options.as_json:
        message = f"--json needs a file as --output, since {STANDARD} is stdout"
        raise UsageError(message)
    if row_splits is not None and (row_splits == STANDARD or Path(row_splits).resolve() == Path(output).resolve()):
        message = f"--row-splits is {row_splits} but must be a file of its own"
        raise UsageError(message)
    inputs = _inputs(options)
    for path in (output, row_splits):
        if path is not None:
            check_output(path, [options.tokenizer, *(one.name for one in inputs)])
    started = time.perf_counter()
    if output == STANDARD:
        with write_whole(STANDARD) as stream:
            for part in _encode_groups(options, inputs):
                for row in part.arrays:
                    stream.write(" ".join(map(str, row.tolist())).encode() + b"\n")
        return Outcome({})
    parts = list(_encode_groups(options, inputs))
    seconds = time.perf_counter() - started
    splits = _joined_splits([part.arrays for part in parts])
    # Both are complete before either takes its place.
    if row_splits is None:
        with write_whole(output) as stream:
            write_npy(stream, [part.arrays.ids for part in parts])
    else:
        with write_whole(output) as stream, write_whole(row_splits) as splits_stream:
            write_npy(stream, [part.arrays.ids for part in parts])
            write_npy(splits_stream, [splits])
    return _outcome(output, row_splits, parts, splits, seconds)


def _inputs(options: Options) -> list[Input]:
    """The files. A text file is a document, or is cut at separators.

    Raises:
        OptionError: there is a separator, and a file of records.
    """
    inputs = inputs_of(options.files, options.read)
    records = next((one for one in inputs if one.source is not None), None)
    if options.separator is not None and records is not None:
        message = f"--separator is for text files, and {records.name} holds records, each of which is a document"
        raise OptionError(message)
    return inputs


def _encode_groups(options: Options, inputs: Sequence[Input]) -> Iterator[Part]:
    """Encodes the files in order, a group at a time, and shows how far it is."""
    total = sum(one.size for one in inputs)
    warn_of_repeated(one.name for one in inputs)
    tokenizer = load_tokenizer(options.tokenizer)
    done = 0
    with ProgressBar(not options.as_json, in_bytes=("encode",)) as progress:
        for group in groups(inputs):
            progress("encode", done, total)
            encode_group = _encode_stream if group[0].is_stream else _encode_files
            part = encode_group(tokenizer, options, group)
            done += part.size
            yield part


def groups(inputs: Sequence[Input]) -> Iterator[list[Input]]:
    """The files in order, in groups that are worth a call each; streams and files of records are alone."""
    group: list[Input] = []
    size = 0
    for one in inputs:
        if group and (_is_alone(one) or _is_alone(group[0]) or size >= _GROUP):
            yield group
            group, size = [], 0
        group.append(one)
        size += one.size
    if group:
        yield group


def _is_alone(one: Input) -> bool:
    return one.is_stream or one.source is not None


def _encode_files(tokenizer: Tokenizer, options: Options, group: list[Input]) -> Part:
    files = [one.source or one.name for one in group]
    arrays = tokenizer.encode_files_arrays(
        files,
        options.separator,
        errors=options.read.errors.value,
        add_special_tokens=options.special_tokens,
        num_threads=options.threads,
    )
    if _has_limits(tokenizer):
        # Counting tells which texts are not whole.
        tokenizer.count_tokens_files(
            files,
            options.separator,
            errors=options.read.errors.value,
            add_special_tokens=options.special_tokens,
            num_threads=options.threads,
        )
    return Part(sum(one.size for one in group), arrays)


def _has_limits(tokenizer: Tokenizer) -> bool:
    return tokenizer.truncation is not None or tokenizer.padding is not None


def _encode_stream(tokenizer: Tokenizer, options: Options, group: list[Input]) -> Part:
    (one,) = group
    text, size = read_stream(one.name, options.read.errors.value)
    texts = [text] if options.separator is None else _documents(text, options.separator)
    special, threads = options.special_tokens, options.threads
    arrays = tokenizer.encode_batch_arrays(texts, add_special_tokens=special, num_threads=threads)
    if _has_limits(tokenizer):
        tokenizer.count_tokens(texts, add_special_tokens=special, num_threads=threads)
    return Part(size, arrays)


def _documents(text: str, separator: str) -> list[str]:
    """The documents of a text, cut as the core cuts files: an empty text after the last separator is no document."""
    if not separator:
        message = "separator is empty but must be at least one character"
        raise OptionError(message)
    *documents, rest = text.split(separator)
    return [*documents, rest] if rest else documents


def _joined_splits(parts: Sequence[TokenArrays]) -> npt.NDArray[np.int64]:
    """The row splits of parts end to end."""
    splits = [np.zeros(1, np.int64)]
    for part in parts:
        splits.append(part.row_splits[1:] + splits[-1][-1])
    return np.concatenate(splits)


def _outcome(
    output: str, row_splits: str | None, parts: Sequence[Part], splits: npt.NDArray[np.int64], seconds: float
) -> Outcome:
    documents, tokens = len(splits) - 1, int(splits[-1])
    size = sum(part.size for part in parts)
    data: dict[str, object] = {
        "output": output,
        "row_splits": row_splits,
        "dtype": str(parts[0].arrays.ids.dtype),
        "documents": documents,
        "tokens": tokens,
        "bytes": size,
        "seconds": round(seconds, 6),
    }
    rows = "1 document" if documents == 1 else f"{documents:,} documents"
    note = f"{output}: {tokens:,} tokens in {rows}, from {megabytes(size)} in {seconds:.1f} s"
    return Outcome(data, note=note)
