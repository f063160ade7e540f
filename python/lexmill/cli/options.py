"""Arguments and options that several commands share. The options of one command are the fields of a dataclass."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Annotated

import typer

from lexmill._data.file_names import Kind
from lexmill._data.source_names import Reading
from lexmill.cli.outcome import UsageError
from lexmill.cli.stages import NormalizerName, PreTokenizerName, SuperwordsName

__all__ = [
    "CORPUS_HELP",
    "LARGEST",
    "CharacterCoverage",
    "Corpus",
    "Errors",
    "Field",
    "Forbid",
    "Input",
    "InputName",
    "Json",
    "LimitAlphabet",
    "MinFrequency",
    "Normalizer",
    "OnBroken",
    "OnError",
    "OnInvalid",
    "PreTokenizer",
    "ReadOptions",
    "Resume",
    "SpecialToken",
    "SpecialTokens",
    "Superwords",
    "Threads",
    "TokenizerFile",
    "TrainingOptions",
    "unescaped",
]


# No number of tokens, characters or threads comes near it, and the core holds it.
LARGEST = 2**63 - 1


class InputName(str, Enum):
    """How texts are found in files."""

    JSONL = "jsonl"
    CSV = "csv"
    TSV = "tsv"
    LINES = "lines"
    PARQUET = "parquet"
    ARROW = "arrow"


class OnInvalid(str, Enum):
    """How to treat bytes that are not UTF-8."""

    STRICT = "strict"
    REPLACE = "replace"


class OnBroken(str, Enum):
    """How to treat records that hold no text."""

    RAISE = "raise"
    SKIP = "skip"


TokenizerFile = Annotated[str, typer.Argument(metavar="TOKENIZER", help="A tokenizer.json.", show_default=False)]
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
Superwords = Annotated[
    SuperwordsName | None,
    typer.Option(help="Learn superwords, which are tokens of several words, by this algorithm.", show_default=False),
]
Threads = Annotated[int | None, typer.Option(min=1, max=LARGEST, help="Threads at most; all processors unless given.")]
Json = Annotated[bool, typer.Option("--json", help="Print the outcome, or the error, as one JSON object on stdout.")]
SpecialTokens = Annotated[bool, typer.Option(help="Whether to add the post-processor's special tokens.")]
MinFrequency = Annotated[
    int, typer.Option(min=0, max=LARGEST, help="Least count of a pair that is merged, or of a word.")
]
SpecialToken = Annotated[list[str] | None, typer.Option(help="A special token; may be given again.")]
LimitAlphabet = Annotated[int | None, typer.Option(min=0, max=LARGEST, help="Characters at most in the alphabet.")]
Forbid = Annotated[
    list[str] | None,
    typer.Option(metavar="REGEX", help="A pattern that no learned token may match; may be given again."),
]
CharacterCoverage = Annotated[
    float | None, typer.Option(min=0, max=1, help="The share of all characters that unigram has pieces for.")
]


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """How FILES are read."""

    input: Input = None
    field: Field = "text"
    errors: Errors = OnInvalid.STRICT
    on_error: OnError = OnBroken.RAISE

    def reading(self, *, is_unnamed_text: bool) -> Reading:
        """The same for the core."""
        kind: Kind | None = None if self.input is None else self.input.value
        unnamed = frozenset() if is_unnamed_text else frozenset([None])
        return Reading(kind, self.field, self.errors.value, self.on_error.value, unnamed)


@dataclass(frozen=True, kw_only=True)
class TrainingOptions:
    """The texts that a tokenizer learns from, and its file."""

    files: Annotated[list[str] | None, typer.Argument(metavar="FILES...", help=CORPUS_HELP, show_default=False)] = None
    from_counts: Annotated[
        str | None,
        typer.Option(metavar="COUNTS", help="Train on word counts, with the stages of these, in place of files."),
    ] = None
    max_memory: Annotated[
        str | None,
        typer.Option(
            help="Memory to count and train in, such as 4GB; a step that needs more does not start.", show_default=False
        ),
    ] = None
    folder: Annotated[
        str | None,
        typer.Option(help="With --max-memory: the folder for data beyond it.", show_default="the system's"),
    ] = None
    output: Annotated[str, typer.Option("--output", "-o", help="Where to save; - is stdout.")] = "tokenizer.json"
    read: ReadOptions
    threads: Threads = None
    pretty: Annotated[bool, typer.Option(help="Indent the JSON.")] = True
    as_json: Json = False


def unescaped(separator: str) -> str:
    r"""A separator in which `\n` and `\t` are the characters that they stand for.

    Raises:
        UsageError: it is not UTF-8.
    """
    try:
        separator.encode()
    except UnicodeEncodeError:
        message = "--separator is not UTF-8"
        raise UsageError(message) from None
    return separator.replace("\\n", "\n").replace("\\t", "\t")
