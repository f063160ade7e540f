"""Arguments and options that several commands share."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import typer

from lexmill.cli.sources import InputName
from lexmill.cli.stages import NormalizerName, PreTokenizerName

__all__ = [
    "CORPUS_HELP",
    "LARGEST",
    "Corpus",
    "Errors",
    "Field",
    "Input",
    "Json",
    "Normalizer",
    "OnBroken",
    "OnError",
    "OnInvalid",
    "PreTokenizer",
    "Resume",
    "SpecialTokens",
    "Threads",
    "Tokenizer",
]


# No number of tokens, characters or threads comes near it, and the core holds it.
LARGEST = 2**63 - 1


class OnInvalid(str, Enum):
    """How to treat bytes that are not UTF-8."""

    STRICT = "strict"
    REPLACE = "replace"


class OnBroken(str, Enum):
    """How to treat records that hold no text."""

    RAISE = "raise"
    SKIP = "skip"


Tokenizer = Annotated[str, typer.Argument(metavar="TOKENIZER", help="A tokenizer.json.", show_default=False)]
CORPUS_HELP = "JSON lines, CSV, TSV, text, Parquet or Arrow files, folders of these, and patterns; - is stdin."
Corpus = Annotated[list[str], typer.Argument(metavar="FILES...", help=CORPUS_HELP)]
Input = Annotated[
    InputName | None,
    typer.Option("--input", help="How texts are found in FILES; told by their names unless given.", show_default=False),
]
Field = Annotated[str, typer.Option(help="The field (a.b for b in a) or column that holds the text.")]
Errors = Annotated[OnInvalid, typer.Option(help="Stop at bytes that are not UTF-8, or read U+FFFD in their place.")]
OnError = Annotated[OnBroken, typer.Option(help="Stop at a record that holds no text, or leave it out and say so.")]
Normalizer = Annotated[
    NormalizerName, typer.Option(help="What is done to text first: BERT's normalizer, with case or without.")
]
Resume = Annotated[bool, typer.Option("--resume", help="Go on with a run that was cut short.")]
PreTokenizer = Annotated[PreTokenizerName, typer.Option(help="How text is cut into words.")]
Threads = Annotated[int | None, typer.Option(min=1, max=LARGEST, help="Threads at most; all processors unless given.")]
Json = Annotated[bool, typer.Option("--json", help="Print the outcome, or the error, as one JSON object on stdout.")]
SpecialTokens = Annotated[bool, typer.Option(help="Whether to add the post-processor's special tokens.")]
