"""How a command ends: its outcome as text or JSON, its errors as one line, its exit code."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shlex
import sys
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace

from lexmill.cli.display import printable
from lexmill.errors import CorpusWarning, FileError, LexmillError, OptionError, SkippedRecordsWarning

__all__ = ["ERROR", "INTERRUPTED", "READER_LEFT", "USAGE", "Outcome", "UsageError", "execute", "fail", "fail_with"]

ERROR = 1
USAGE = 2
INTERRUPTED = 130
READER_LEFT = 141


_SHOWN = 10
"""How many warnings of one kind are shown."""


class UsageError(OptionError):
    """Raised when options contradict each other."""


@dataclass(frozen=True)
class Outcome:
    """The result of a command.

    Attributes:
        data: the outcome as JSON values.
        text: the same for a person, on stdout; empty if the command's product is a file.
        note: one line for a person at a terminal, on stderr.
    """

    data: dict[str, object]
    text: str = ""
    note: str = ""


def execute(command: str, as_json: bool, work: Callable[[], Outcome], *, is_resumable: bool = False) -> int:
    """Does the work, shows the outcome or the error, and answers the exit code."""
    try:
        outcome = _told(work)
        if as_json:
            print(json.dumps({"command": command, "ok": True, **outcome.data}))
        elif outcome.text:
            print(outcome.text)
        sys.stdout.flush()
    except BrokenPipeError:
        _abandon_stdout()
        return READER_LEFT
    except KeyboardInterrupt:
        message = f"interrupted; to go on: {_resuming_command()}" if is_resumable else "interrupted"
        return fail(command, as_json, "Interrupted", message, INTERRUPTED)
    except UsageError as error:
        return fail(command, as_json, "UsageError", str(error), USAGE)
    except Exception as error:  # A traceback tells a user nothing; the kind of error is in the line.
        return fail_with(command, as_json, error)
    if outcome.note and not as_json and sys.stderr.isatty():
        print(outcome.note, file=sys.stderr)
    return 0


def _told(work: Callable[[], Outcome]) -> Outcome:
    """The outcome of the work, with the number of skipped records; the warnings of the work go to stderr."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", CorpusWarning)
        try:
            outcome = work()
        finally:
            shown: Counter[type[Warning]] = Counter()
            for warning in caught:
                shown[warning.category] += 1
                if shown[warning.category] <= _SHOWN:
                    print(f"warning: {printable(_with_options(str(warning.message)))}", file=sys.stderr)
            for kind, count in shown.items():
                if count > _SHOWN:
                    print(f"warning: {count - _SHOWN:,} more of kind {kind.__name__}", file=sys.stderr)
    skipped = sum(one.message.records for one in caught if isinstance(one.message, SkippedRecordsWarning))
    return replace(outcome, data={**outcome.data, "skipped": skipped}) if skipped else outcome


def fail(command: str, as_json: bool, kind: str, message: str, code: int) -> int:
    """Reports an error as one line on stderr, and as an object on stdout if asked for JSON; answers `code`."""
    message = printable(message)
    try:
        if as_json:
            error = {"type": kind, "message": message}
            print(json.dumps({"command": command, "ok": False, "error": error, "exit_code": code}))
        sys.stdout.flush()
    except OSError:
        _abandon_stdout()
    with contextlib.suppress(OSError):
        print(f"error: {message}", file=sys.stderr, flush=True)
    return code


def fail_with(command: str, as_json: bool, error: Exception) -> int:
    """Reports an exception as :func:`fail` does."""
    return fail(command, as_json, _kind(error), _describe(error), ERROR)


def _resuming_command() -> str:
    """The command that goes on with the run of this process."""
    return shlex.join(["lexmill", *(one for one in sys.argv[1:] if one not in ("--resume", "--overwrite")), "--resume"])


def _kind(error: Exception) -> str:
    if isinstance(error, OSError):
        return FileError.__name__
    return type(error).__name__


def _describe(error: Exception) -> str:
    if isinstance(error, OSError) and error.errno == errno.EBADF and error.filename is None:
        return "stdin or stdout is closed, or not open for this"
    if isinstance(error, OSError) and error.strerror:
        reason = error.strerror[0].lower() + error.strerror[1:]
        return f"{os.fspath(error.filename)!s}: {reason}" if error.filename is not None else reason
    if isinstance(error, MemoryError):
        return "out of memory"
    if isinstance(error, LexmillError):
        return _with_options(str(error))
    return f"unexpected {type(error).__name__}: {error}"


def _with_options(message: str) -> str:
    """The core names Python's keywords; here they are options."""
    for keyword, option in (
        ('errors="replace"', "--errors replace"),
        ("resume=True", "--resume"),
        ("overwrite=True", "--overwrite"),
        ("add_special_tokens=False", "--no-special-tokens"),
        ("call no_truncation() for", 'set "truncation" in the tokenizer\'s file to null for'),
        ("call no_padding() for", 'set "padding" in the tokenizer\'s file to null for'),
    ):
        message = message.replace(keyword, option)
    return message


def _abandon_stdout() -> None:
    """Points stdout at the null device, or Python would complain on exit about the bytes in its buffer."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
