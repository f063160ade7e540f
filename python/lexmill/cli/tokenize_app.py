"""The options of `lexmill tokenize`."""

from __future__ import annotations

from typing import Annotated

import typer

from lexmill.cli import tokenize as tokenizing
from lexmill.cli.app import app, finish
from lexmill.cli.options import (
    LARGEST,
    Corpus,
    Errors,
    Field,
    Input,
    Json,
    OnBroken,
    OnError,
    OnInvalid,
    Resume,
    SpecialTokens,
    Threads,
    Tokenizer,
)
from lexmill.cli.outcome import execute

__all__ = ["merge_tokens", "tokenize"]


@app.command()
def tokenize(
    tokenizer: Tokenizer,
    files: Corpus,
    output: Annotated[str, typer.Option("--output", "-o", help="The folder of the token files.", show_default=False)],
    layout: Annotated[
        tokenizing.FormatName, typer.Option("--format", help="The layout of the token files.")
    ] = tokenizing.FormatName.MEGATRON,
    preset: Annotated[
        tokenizing.PresetName | None,
        typer.Option(help="For raw, the program that reads the files.", show_default=False),
    ] = None,
    input_kind: Input = None,
    field: Field = "text",
    begin_token: Annotated[str | None, typer.Option(help="A token, or its id, before each document.")] = None,
    end_token: Annotated[str | None, typer.Option(help="A token, or its id, after each document.")] = None,
    special_tokens: SpecialTokens = True,
    pack: Annotated[
        int | None, typer.Option(min=1, max=LARGEST, help="Put documents end to end into rows of so many tokens.")
    ] = None,
    pad_token: Annotated[
        str | None, typer.Option(help="A token, or its id, that fills up a part's last row; else it is left out.")
    ] = None,
    validation: Annotated[float, typer.Option(help="The share of documents that is written apart.")] = 0.0,
    seed: Annotated[
        int, typer.Option(min=0, max=LARGEST, help="Chooses these documents, and the order of a shuffle.")
    ] = 0,
    shuffle: Annotated[
        bool, typer.Option("--shuffle", help="Put all documents into an order that the seed decides.")
    ] = False,
    part_bytes: Annotated[
        int, typer.Option(min=1, max=LARGEST, help="Bytes of ids in a part, each of which has files of its own.")
    ] = 1 << 27,
    signed: Annotated[
        bool, typer.Option("--signed", help="Write int32 ids to arrow or parquet, as Spark needs them.")
    ] = False,
    column: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[:TYPE]",
            help="A field or column to keep in arrow or parquet: string, int64, float64 or bool; may be given again.",
            show_default=False,
        ),
    ] = None,
    offsets: Annotated[
        bool, typer.Option("--offsets", help="Keep where tokens begin and end in their texts, in arrow or parquet.")
    ] = False,
    join: Annotated[
        bool, typer.Option("--join", help="Join the parts of megatron to one pair, tokens.bin and tokens.idx.")
    ] = False,
    resume: Resume = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Remove the files of an earlier run.")] = False,
    errors: Errors = OnInvalid.STRICT,
    on_error: OnError = OnBroken.RAISE,
    threads: Threads = None,
    as_json: Json = False,
) -> None:
    """Tokenize corpora of any size to files that training programs read."""
    options = tokenizing.Options(
        tokenizer=tokenizer,
        files=files,
        output=output,
        format=layout,
        preset=preset,
        input=input_kind,
        field=field,
        begin_token=begin_token,
        end_token=end_token,
        special_tokens=special_tokens,
        pack=pack,
        pad_token=pad_token,
        validation=validation,
        seed=seed,
        shuffle=shuffle,
        part_bytes=part_bytes,
        signed=signed,
        columns=column or [],
        offsets=offsets,
        join=join,
        resume=resume,
        overwrite=overwrite,
        errors=errors.value,
        on_error=on_error.value,
        threads=threads,
        as_json=as_json,
    )
    finish(execute("tokenize", as_json, lambda: tokenizing.tokenize(options), is_resumable=True))


@app.command("merge-tokens")
def merge_tokens(
    folders: Annotated[
        list[str], typer.Argument(metavar="FOLDERS...", help="Folders of tokenize, in the order of their documents.")
    ],
    output: Annotated[str, typer.Option("--output", "-o", help="The folder of the pair.", show_default=False)],
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Remove token files that are there.")] = False,
    as_json: Json = False,
) -> None:
    """Join the megatron files of several runs to one pair."""
    finish(execute("merge-tokens", as_json, lambda: tokenizing.merge(folders, output, overwrite, as_json)))
