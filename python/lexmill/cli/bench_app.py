"""The options of `lexmill bench`."""

from __future__ import annotations

from typing import Annotated

import typer

from lexmill.cli import bench as benching
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
    Threads,
    Tokenizer,
)
from lexmill.cli.outcome import execute
from lexmill.comparison.adapters import NAMES
from lexmill.comparison.rounds import OURS, name_of
from lexmill.comparison.texts import DOCUMENT_BYTES

__all__ = ["bench"]

_PEERS = ", ".join(name_of(name) for name in NAMES if name != OURS)
_JOBS = ", ".join(job.value for job in benching.JobName)


@app.command()
def bench(
    tokenizer: Tokenizer,
    files: Corpus,
    against: Annotated[
        str | None,
        typer.Option(
            metavar="LIBRARIES",
            help=f"Libraries with commas between them, of {_PEERS}; all that are installed unless given.",
            show_default=False,
        ),
    ] = None,
    python: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=PATH",
            help="The interpreter of an environment of its own for a library; may be given several times.",
            show_default=False,
        ),
    ] = None,
    job: Annotated[
        str, typer.Option(metavar="JOBS", help=f"What to time, with commas between: {_JOBS}.")
    ] = f"{benching.JobName.LIST.value},{benching.JobName.ONE.value}",
    megabytes: Annotated[float, typer.Option(min=0.001, help="Take this much text (in 10^6 bytes) at most.")] = 20.0,
    document_bytes: Annotated[
        int,
        typer.Option(min=0, max=LARGEST, help="Join lines of text files to documents of this size; 0: each is one."),
    ] = DOCUMENT_BYTES,
    rounds: Annotated[int, typer.Option(min=1, max=1000, help="Processes of each library.")] = 5,
    timeout: Annotated[float, typer.Option(min=0.1, help="Seconds that one process may take.")] = 300.0,
    input_kind: Input = None,
    field: Field = "text",
    errors: Errors = OnInvalid.STRICT,
    on_error: OnError = OnBroken.RAISE,
    threads: Threads = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", help="A JSON file of everything, each sample included.", show_default=False),
    ] = None,
    chart: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="A drawing, .svg, .png or .html; needs lexmill[bench].", show_default=False),
    ] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the tables as Markdown.")] = False,
    as_json: Json = False,
) -> None:
    """Compare the tokenizer libraries that are installed on texts of yours.

    Each library runs in processes of its own, all in turn. A library has no figure if its ids differ from the ids of
    Hugging Face's tokenizers, or of lexmill if tokenizers is not compared.
    """
    options = benching.Options(
        tokenizer=tokenizer,
        files=files,
        against=against,
        pythons=python or [],
        jobs=job,
        megabytes=megabytes,
        document_bytes=document_bytes,
        rounds=rounds,
        timeout=timeout,
        input=input_kind,
        field=field,
        errors=errors.value,
        on_error=on_error.value,
        threads=threads,
        output=output,
        chart=chart,
        markdown=markdown,
        as_json=as_json,
    )
    finish(execute("bench", as_json, lambda: benching.bench(options)))
