"""The commands, in the order of the help; the module of each command has its options and does the work."""

from __future__ import annotations

import inspect
import io
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import partial
from itertools import pairwise
from typing import Annotated, Any, TypeVar, get_type_hints

import typer
import typer.core

from lexmill import __version__
from lexmill.cli import bench as benching
from lexmill.cli import continued as continuing
from lexmill.cli import convert as conversion
from lexmill.cli import count as counting
from lexmill.cli import decode as decoding
from lexmill.cli import encode as encoding
from lexmill.cli import hook as hooking
from lexmill.cli import inspect as inspection
from lexmill.cli import prune as pruning
from lexmill.cli import report as reporting
from lexmill.cli import run as running
from lexmill.cli import tokenize as tokenizing
from lexmill.cli import train as training
from lexmill.cli import word_counts
from lexmill.cli.outcome import ERROR, INTERRUPTED, USAGE, Outcome, execute, fail, fail_with

__all__ = ["app", "run"]

T = TypeVar("T")


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


def _finish(code: int) -> None:
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
    _finish(running.run_script(["--version", version, script, *(arguments or [])]))


@app.command("install-hook", context_settings={"ignore_unknown_options": True, "help_option_names": []})
def install_hook(
    arguments: Annotated[
        list[str] | None, typer.Argument(help="See -h.", metavar="[--remove] [--folder FOLDER]")
    ] = None,
) -> None:
    """Make `import tokenizers` give lexmill wherever LEXMILL_INSTALL=1 is set."""
    _finish(hooking.run_hook(arguments or []))


def _add(name: str, work: Callable[[T], Outcome], *, is_resumable: Callable[[T], bool] = lambda _: False) -> None:
    """Adds a command, whose help is the docstring of `work`.

    Each field of the dataclass that `work` takes is an argument or an option. A field that is a dataclass itself stands
    for the fields of that one.
    """
    kind: type[T] = get_type_hints(work)["options"]
    parameters = list(_parameters(kind))

    def command(**given: Any) -> None:  # noqa: ANN401 (of the types of the fields)
        options = _made(kind, given)
        _finish(execute(name, given["as_json"], partial(work, options), is_resumable=is_resumable(options)))

    command.__doc__ = work.__doc__
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    app.command(name)(command)


def _parameters(kind: type) -> Iterator[inspect.Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    for field in fields(kind):
        if is_dataclass(hints[field.name]):
            yield from _parameters(hints[field.name])
        else:
            default = inspect.Parameter.empty if field.default is MISSING else field.default
            yield inspect.Parameter(
                field.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hints[field.name]
            )


def _made(kind: type[T], given: dict[str, Any]) -> T:
    hints = get_type_hints(kind)
    inner = {name for name, hint in hints.items() if is_dataclass(hint)}
    return kind(**{name: _made(hints[name], given) if name in inner else given[name] for name in hints})


_add("train", training.train)
_add("continue", continuing.learn)
_add("encode", encoding.encode)
_add("decode", decoding.decode)
_add("count", counting.count)
_add("inspect", inspection.inspect)
_add("convert", conversion.convert)
_add("prune", pruning.make)
_add("shrink", pruning.make_smaller)
_add("count-words", word_counts.count, is_resumable=lambda options: options.checkpoint is not None)
_add("estimate", word_counts.tell)
_add("merge-counts", word_counts.merge)
_add("tokenize", tokenizing.tokenize, is_resumable=lambda _: True)
_add("pack-tokens", tokenizing.pack)
_add("merge-tokens", tokenizing.merge)
_add("bench", benching.bench)
_add("report", reporting.make)


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
