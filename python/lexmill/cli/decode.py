"""`lexmill decode`: from ids back to text."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
import typer

from lexmill.cli.arrays import as_ids, parse_ids, read_npy, read_row_splits, rows
from lexmill.cli.display import megabytes
from lexmill.cli.files import STANDARD, check_output, write_whole
from lexmill.cli.load import load_tokenizer
from lexmill.cli.options import Json, TokenizerFile, unescaped
from lexmill.cli.outcome import Outcome, UsageError
from lexmill.errors import VocabError

__all__ = ["Options", "decode"]


@dataclass(frozen=True, kw_only=True)
class Options:
    """The arguments and options of `lexmill decode`."""

    tokenizer: TokenizerFile
    ids: Annotated[str, typer.Argument(metavar="IDS", help="A .npy file; - is lines of ids, one a document, on stdin.")]
    output: Annotated[str, typer.Option("--output", "-o", help="Where the text goes; - is stdout.")] = "-"
    separator: Annotated[str, typer.Option(help="Text written after each document (\\n, \\t understood).")] = ""
    row_splits: Annotated[
        str | None, typer.Option(metavar="FILE", help="The .npy file that encode wrote beside IDS.")
    ] = None
    special_tokens: Annotated[bool, typer.Option(help="Write special tokens.")] = False
    as_json: Json = False


def decode(options: Options) -> Outcome:
    """Decode ids to text."""
    separator = unescaped(options.separator)
    if options.output == STANDARD and options.as_json:
        message = f"--json needs a file as --output, since {STANDARD} is stdout"
        raise UsageError(message)
    if options.ids == STANDARD and options.row_splits is not None:
        message = f"--row-splits goes with a .npy file; on stdin ({STANDARD}) each line is a document"
        raise UsageError(message)
    check_output(options.output, [options.tokenizer, options.ids])
    tokenizer = load_tokenizer(options.tokenizer)
    documents = tokens = size = 0
    with write_whole(options.output) as stream:
        for document in _documents(options):
            try:
                text = tokenizer.decode(document, skip_special_tokens=not options.special_tokens, strict=True)
            except VocabError as error:
                message = f"{_name(options, documents)}: {error}"
                raise VocabError(message) from None
            written = stream.write((text + separator).encode())
            documents, tokens, size = documents + 1, tokens + len(document), size + written
    data: dict[str, object] = {"output": options.output, "documents": documents, "tokens": tokens, "bytes": size}
    note = "" if options.output == STANDARD else f"{options.output}: {megabytes(size)} of {tokens:,} tokens"
    return Outcome(data, note=note)


def _name(options: Options, document: int) -> str:
    """The place of the ids of a document, for messages; `document` is numbered from 0."""
    if options.ids == STANDARD:
        return f"stdin, line {document + 1}"
    return options.ids if options.row_splits is None else f"{options.ids}, document {document + 1}"


def _documents(options: Options) -> Iterator[npt.NDArray[np.uint32]]:
    if options.ids == STANDARD:
        for number, line in enumerate(sys.stdin.buffer):
            yield parse_ids(line, _name(options, number))
        return
    ids: npt.NDArray[Any] = as_ids(read_npy(options.ids), options.ids)
    if options.row_splits is None:
        yield ids
        return
    yield from rows(ids, read_row_splits(options.row_splits, len(ids)))
