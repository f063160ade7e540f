"""The options of `lexmill report`."""

from __future__ import annotations

from typing import Annotated

import typer

from lexmill.cli import report as reporting
from lexmill.cli.app import app, finish
from lexmill.cli.options import Corpus, Errors, Field, Input, Json, OnBroken, OnError, OnInvalid, Threads, Tokenizer
from lexmill.cli.outcome import execute

__all__ = ["report"]


@app.command()
def report(
    tokenizer: Tokenizer,
    files: Corpus,
    output: Annotated[
        str,
        typer.Option("--output", "-o", help="The page; its numbers go beside it, to a name that ends in .json."),
    ] = "report.html",
    against: Annotated[
        list[str] | None,
        typer.Option(metavar="TOKENIZER", help="Another tokenizer.json to compare with; may be given again."),
    ] = None,
    input_kind: Input = None,
    field: Field = "text",
    group_by: Annotated[
        str | None,
        typer.Option(help="The field (a.b for b in a) or column that holds the language.", show_default=False),
    ] = None,
    errors: Errors = OnInvalid.STRICT,
    on_error: OnError = OnBroken.RAISE,
    threads: Threads = None,
    as_json: Json = False,
) -> None:
    """Make a page on how tokenizers cut a corpus: ratios, lengths, coverage, compression, samples.

    With an OUTPUT that ends in .json only the numbers are written; the page needs the extra lexmill[report].
    """
    options = reporting.Options(
        tokenizer=tokenizer,
        files=files,
        output=output,
        against=against or [],
        input=input_kind,
        field=field,
        group_by=group_by,
        errors=errors.value,
        on_error=on_error.value,
        threads=threads,
        as_json=as_json,
    )
    finish(execute("report", as_json, lambda: reporting.make(options)))
