"""The commands and their options; the module of each command's name does the work."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated, Any

import typer
import typer.core

from lexmill import __version__
from lexmill.cli import convert as conversion
from lexmill.cli import count as counting
from lexmill.cli import decode as decoding
from lexmill.cli import encode as encoding
from lexmill.cli import hook as hooking
from lexmill.cli import inspect as inspection
from lexmill.cli import run as running
from lexmill.cli import train as training
from lexmill.cli.options import (
    CORPUS_HELP,
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
    Resume,
    SpecialTokens,
    Threads,
    Tokenizer,
)
from lexmill.cli.outcome import ERROR, INTERRUPTED, USAGE, execute, fail, fail_with
from lexmill.cli.sources import ReadOptions
from lexmill.cli.stages import NormalizerName, PreTokenizerName

__all__ = ["app", "run"]


class _Commands(typer.core.TyperGroup):
    """The commands, where `encode --format` is `tokenize`."""

    def resolve_command(  # typer brings click or a copy of it, so its classes have no one name.
        self,
        ctx: Any,  # noqa: ANN401
        args: list[str],
    ) -> tuple[str | None, Any, list[str]]:
        """The command that arguments begin with."""
        name, *options = args
        before_files = options[: options.index("--")] if "--" in options else options
        if name == "encode" and any(option.partition("=")[0] == "--format" for option in before_files):
            args = ["tokenize", *options]
        return super().resolve_command(ctx, args)


app = typer.Typer(
    name="lexmill",
    cls=_Commands,
    help="Trains and runs subword tokenizers.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def finish(code: int) -> None:
    # Not typer's own exception: its 130 for an interrupt that it meets itself comes without a message.
    raise SystemExit(code)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"lexmill {__version__}")
        raise typer.Exit


@app.callback()
def lexmill(
    show_version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Trains and runs subword tokenizers."""


@app.command("run", context_settings={"ignore_unknown_options": True})
def run_script(
    script: Annotated[str, typer.Argument(help="A Python file, or -m and the name of a module.", metavar="SCRIPT")],
    arguments: Annotated[list[str] | None, typer.Argument(help="What the script gets.", metavar="ARGS")] = None,
    version: Annotated[str, typer.Option(help="The interface: 0.23, or 1 for lexmill.v1; stands first.")] = "0.23",
) -> None:
    """Run a Python script in which `import tokenizers` gives lexmill."""
    finish(running.run_script(["--version", version, script, *(arguments or [])]))


@app.command("install-hook", context_settings={"ignore_unknown_options": True, "help_option_names": []})
def install_hook(
    arguments: Annotated[
        list[str] | None, typer.Argument(help="See -h.", metavar="[--remove] [--folder FOLDER]")
    ] = None,
) -> None:
    """Make `import tokenizers` give lexmill wherever LEXMILL_INSTALL=1 is set."""
    finish(hooking.run_hook(arguments or []))


@app.command()
def train(
    vocab_size: Annotated[
        int, typer.Option(min=1, max=LARGEST, help="Tokens at most, special tokens included.", show_default=False)
    ],
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="FILES...", help=CORPUS_HELP, show_default=False),
    ] = None,
    from_counts: Annotated[
        str | None,
        typer.Option(metavar="COUNTS", help="Train on word counts, with the stages of these, in place of files."),
    ] = None,
    max_memory: Annotated[
        str | None,
        typer.Option(
            help="Memory to count and train in, such as 4GB; what would take more does not start.", show_default=False
        ),
    ] = None,
    folder: Annotated[
        str | None,
        typer.Option(help="With --max-memory: where what it does not hold goes.", show_default="the system's"),
    ] = None,
    checkpoint: Annotated[
        str | None,
        typer.Option(
            help="With --from-counts: a file for finished merges, so that training may be resumed.", show_default=False
        ),
    ] = None,
    resume: Resume = False,
    model: Annotated[training.ModelName, typer.Option(help="The kind of model.")] = training.ModelName.BPE,
    output: Annotated[str, typer.Option("--output", "-o", help="Where to save; - is stdout.")] = "tokenizer.json",
    min_frequency: Annotated[
        int, typer.Option(min=0, max=LARGEST, help="Least count of a pair that is merged, or of a word.")
    ] = 0,
    special_token: Annotated[list[str] | None, typer.Option(help="A special token; may be given again.")] = None,
    unk_token: Annotated[str | None, typer.Option(help="Stands for what is unknown; bpe drops it else.")] = None,
    tie_break: Annotated[
        training.TieBreakName | None,
        typer.Option(
            help="Which of several equal pairs is merged first; smallest-ids unless given, first-seen for likelihoods.",
            show_default=False,
        ),
    ] = None,
    score: Annotated[
        training.ScoreName | None,
        typer.Option(help="What wordpiece merges first; frequency unless given.", show_default=False),
    ] = None,
    normalizer: Normalizer = NormalizerName.NONE,
    pre_tokenizer: Annotated[
        PreTokenizerName | None,
        typer.Option(
            help="How text is cut into words: at the byte level by GPT-2's, cl100k's or o200k's pattern, or plainly; "
            "byte-level for bpe, bert for wordpiece, whitespace for wordlevel, metaspace for unigram unless given.",
            show_default=False,
        ),
    ] = None,
    limit_alphabet: Annotated[
        int | None, typer.Option(min=0, max=LARGEST, help="Characters at most in the alphabet.")
    ] = None,
    max_token_length: Annotated[
        int | None, typer.Option(min=1, max=LARGEST, help="Characters at most in a token.")
    ] = None,
    algorithm: Annotated[
        training.AlgorithmName | None,
        typer.Option(help="How unigram chooses its pieces; em unless given.", show_default=False),
    ] = None,
    max_piece_length: Annotated[
        int | None, typer.Option(min=1, max=LARGEST, help="Characters at most in a piece of unigram.")
    ] = None,
    character_coverage: Annotated[
        float | None, typer.Option(min=0, max=1, help="The share of all characters that unigram has pieces for.")
    ] = None,
    seed_size: Annotated[int | None, typer.Option(min=1, max=LARGEST, help="Pieces that unigram starts from.")] = None,
    input_kind: Input = None,
    field: Field = "text",
    errors: Errors = OnInvalid.STRICT,
    on_error: OnError = OnBroken.RAISE,
    threads: Threads = None,
    pretty: Annotated[bool, typer.Option(help="Indent the JSON.")] = True,
    as_json: Json = False,
) -> None:
    """Train a tokenizer on the texts of files and save it as a tokenizer.json."""
    options = training.Options(
        files=files or [],
        from_counts=from_counts,
        max_memory=max_memory,
        folder=folder,
        checkpoint=checkpoint,
        resume=resume,
        model=model,
        vocab_size=vocab_size,
        output=output,
        min_frequency=min_frequency,
        special_tokens=special_token or [],
        unk_token=unk_token,
        tie_break=tie_break,
        score=score,
        normalizer=normalizer,
        pre_tokenizer=pre_tokenizer,
        limit_alphabet=limit_alphabet,
        max_token_length=max_token_length,
        algorithm=algorithm,
        max_piece_length=max_piece_length,
        character_coverage=character_coverage,
        seed_size=seed_size,
        read=ReadOptions(input_kind, field, errors.value, on_error.value),
        threads=threads,
        pretty=pretty,
        as_json=as_json,
    )
    is_resumable = checkpoint is not None
    finish(execute("train", as_json, lambda: training.train(options), is_resumable=is_resumable))


@app.command()
def encode(
    tokenizer: Tokenizer,
    files: Corpus,
    output: Annotated[
        str, typer.Option("--output", "-o", help="A .npy file of all ids; - prints a line a document.")
    ] = "-",
    separator: Annotated[
        str | None, typer.Option(help="Text between documents (\\n, \\t understood); else each file is one.")
    ] = None,
    row_splits: Annotated[
        str | None, typer.Option(metavar="FILE", help="A .npy file of where each document begins, and the end.")
    ] = None,
    special_tokens: SpecialTokens = True,
    input_kind: Input = None,
    field: Field = "text",
    errors: Errors = OnInvalid.STRICT,
    on_error: OnError = OnBroken.RAISE,
    threads: Threads = None,
    as_json: Json = False,
    layout: Annotated[
        str | None,
        typer.Option(
            "--format", help="Write files of a training program to the folder OUTPUT; see tokenize.", show_default=False
        ),
    ] = None,
) -> None:
    """Encode the texts of files to ids. Each record is a document; a text file is one, or is cut at separators.

    With --format this is the command tokenize and has its options.
    """
    del layout  # `_Commands` leaves no call with it to this command.
    read = ReadOptions(input_kind, field, errors.value, on_error.value)
    source = encoding.Source(tokenizer, files, _unescaped(separator), special_tokens, read, threads, as_json)
    finish(execute("encode", as_json, lambda: encoding.encode(source, output, row_splits)))


@app.command()
def decode(
    tokenizer: Tokenizer,
    ids: Annotated[
        str, typer.Argument(metavar="IDS", help="A .npy file; - is lines of ids, one a document, on stdin.")
    ],
    output: Annotated[str, typer.Option("--output", "-o", help="Where the text goes; - is stdout.")] = "-",
    separator: Annotated[str, typer.Option(help="Text written after each document (\\n, \\t understood).")] = "",
    row_splits: Annotated[
        str | None, typer.Option(metavar="FILE", help="The .npy file that encode wrote beside IDS.")
    ] = None,
    special_tokens: Annotated[bool, typer.Option(help="Whether to write special tokens.")] = False,
    as_json: Json = False,
) -> None:
    """Decode ids to text."""
    options = decoding.Options(tokenizer, ids, output, row_splits, _unescaped(separator) or "", special_tokens, as_json)
    finish(execute("decode", as_json, lambda: decoding.decode(options)))


@app.command()
def count(
    tokenizer: Tokenizer,
    files: Corpus,
    special_tokens: SpecialTokens = True,
    input_kind: Input = None,
    field: Field = "text",
    errors: Errors = OnInvalid.STRICT,
    on_error: OnError = OnBroken.RAISE,
    threads: Threads = None,
    as_json: Json = False,
) -> None:
    """Count the tokens of the texts of files."""
    read = ReadOptions(input_kind, field, errors.value, on_error.value)
    source = encoding.Source(tokenizer, files, None, special_tokens, read, threads, as_json)
    finish(execute("count", as_json, lambda: counting.count(source)))


@app.command()
def inspect(
    tokenizer: Tokenizer,
    text: Annotated[str | None, typer.Argument(metavar="[TEXT]", help="A text to cut into tokens; - is stdin.")] = None,
    top: Annotated[int, typer.Option(min=0, max=LARGEST, help="How many of the longest tokens to list.")] = 10,
    as_json: Json = False,
) -> None:
    """Show the parts of a tokenizer and how it cuts a text."""
    options = inspection.Options(tokenizer, top, text, as_json)
    finish(execute("inspect", as_json, lambda: inspection.inspect(options)))


@app.command()
def convert(
    source: Annotated[str, typer.Argument(metavar="IN", help="The file to read.", show_default=False)],
    output: Annotated[
        str, typer.Argument(metavar="OUT", help="Where to write; - is stdout (with --to).", show_default=False)
    ],
    from_kind: Annotated[
        conversion.Kind | None, typer.Option("--from", help="The kind of IN, told by its name unless given.")
    ] = None,
    to_kind: Annotated[
        conversion.Kind | None, typer.Option("--to", help="The kind of OUT, told by its name unless given.")
    ] = None,
    normalizer: Annotated[
        NormalizerName | None,
        typer.Option(help="The normalizer of a file of a model alone; bert for vocab-txt unless given."),
    ] = None,
    pre_tokenizer: Annotated[
        PreTokenizerName | None,
        typer.Option(
            help="The pre-tokenizer of a file of a model alone; bert for vocab-txt, byte-level for vocab-json, told by "
            "the name for tiktoken unless given."
        ),
    ] = None,
    unk_token: Annotated[
        str | None, typer.Option(help="The unknown token of a file of a model alone; [UNK] for vocab-txt unless given.")
    ] = None,
    special_token: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TOKEN[=ID]",
            help="A special token of a file of a model alone (ID for tiktoken); may be given again.",
        ),
    ] = None,
    version: Annotated[
        conversion.Version | None,
        typer.Option(help="The version of a tokenizer-json: 1.0 unless given, or 2.0 for Hugging Face tokenizers 1.0."),
    ] = None,
    lossy: Annotated[bool, typer.Option(help="Write even if OUT cannot hold all of IN.")] = False,
    as_json: Json = False,
) -> None:
    """Convert a tokenizer from one kind of file to another.

    A vocab.txt, vocab.json with merges.txt, or .tiktoken holds a model alone. The options name the stages and tokens
    around the model, in IN or in OUT. OUT is read back with the same options. If it lacks a part of IN, that is an
    error, which names the part.
    """
    around = conversion.Surroundings(normalizer, pre_tokenizer, unk_token, special_token or [])
    options = conversion.Options(source, output, from_kind, to_kind, around, version, lossy, as_json)
    finish(execute("convert", as_json, lambda: conversion.convert(options)))


def _unescaped(text: str | None) -> str | None:
    if text is None:
        return None
    try:
        text.encode()
    except UnicodeEncodeError:
        message = "--separator is not UTF-8"
        raise typer.BadParameter(message) from None
    return text.replace("\\n", "\n").replace("\\t", "\t")


def _stand_in_for_closed_streams() -> None:
    """Puts a file that cannot be used in place of each standard stream that is closed: Python has None there.

    So reading or writing one is an error as any other, and no file that is opened later gets its number.
    """
    if sys.stdin is None:
        sys.stdin = os.fdopen(os.open(os.devnull, os.O_WRONLY))
    if sys.stdout is None:
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w")
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")


def _with_value(message: str, error: Exception, arguments: Sequence[str]) -> str:
    """The message of a bad option with the value that was given, unless it is there already."""
    for name in getattr(getattr(error, "param", None), "opts", ()):
        given = [argument.partition("=")[2] for argument in arguments if argument.startswith(f"{name}=")]
        given += [value for option, value in pairwise(arguments) if option == name]
        if given and repr(given[-1]) not in message:
            return f"{message}, not {given[-1]!r}"
    return message


def run(argv: Sequence[str] | None = None) -> int:
    """Runs the command and answers its exit code, wrong usage included."""
    arguments = list(sys.argv[1:] if argv is None else argv) or ["--help"]
    _stand_in_for_closed_streams()
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal that cannot show a character gets its escape, not a traceback.
        sys.stdout.reconfigure(errors="backslashreplace")
    name = next((word for word in arguments if not word.startswith("-")), "")
    as_json = "--json" in arguments
    command = typer.main.get_command(app)
    try:
        code = command.main(args=arguments, prog_name="lexmill", standalone_mode=False)
    except SystemExit as finished:
        return finished.code if isinstance(finished.code, int) else ERROR
    except typer.Abort:
        code = INTERRUPTED
    except Exception as error:
        # Versions of typer bring click or a copy of it, so its classes have no one name; this method marks them.
        format_message = getattr(error, "format_message", None)
        if format_message is None:
            return fail_with(name, as_json, error)
        message = str(format_message()).rstrip(".").replace("Value error, ", "")
        message = _with_value(message, error, arguments)
        return fail(name, as_json, "UsageError", message[:1].lower() + message[1:], USAGE)
    if code == INTERRUPTED:
        return fail(name, as_json, "Interrupted", "interrupted", INTERRUPTED)
    return code if isinstance(code, int) else 0
