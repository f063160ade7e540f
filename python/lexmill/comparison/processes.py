"""Fresh processes in interleaved rounds, each with a time limit, none of which outlives the command."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO

# Set, `import tokenizers` would give lexmill itself.
_TAKES_THE_PLACE = "LEXMILL_INSTALL"


@dataclass(frozen=True)
class Finished:
    """The outcome of a process.

    Attributes:
        output: its standard output.
        failure: why it has no result, or None.
        timed_out: true if it was ended at its time limit.
    """

    output: str
    failure: str | None = None
    timed_out: bool = False


def interleave(libraries: Sequence[str], rounds: int) -> Iterator[list[str]]:
    """The order of libraries in each round: each begins with another one, so that none profits from its place."""
    for start in range(rounds):
        place = start % max(len(libraries), 1)
        yield [*libraries[place:], *libraries[:place]]


def child_environment(extra: Mapping[str, str], *, shares_packages: bool = True) -> dict[str, str]:
    """The environment of a process that measures: it finds each package under its own name.

    It has the packages of this process; without `shares_packages`, only the packages of its own interpreter.
    """
    paths = [path or os.getcwd() for path in sys.path]  # noqa: PTH109 (a string)
    packages = {"PYTHONPATH": os.pathsep.join(paths)} if shares_packages else {}
    known = {name: value for name, value in os.environ.items() if name not in (_TAKES_THE_PLACE, "PYTHONPATH")}
    return known | packages | dict(extra)


def run(command: Sequence[str], timeout: float, environment: Mapping[str, str] | None = None) -> Finished:
    """Runs a program; it and its children have ended when this returns or raises, on an interrupt too."""
    with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            env=environment,
            start_new_session=True,
        )
        try:
            code: int | None = process.wait(timeout)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            _end(process)
        output, errors = (_text(stream) for stream in (stdout, stderr))
    if code is None:
        return Finished(output, f"took longer than {timeout:g} s", timed_out=True)
    if code < 0:
        return Finished(output, f"was ended by {_signal_name(-code)}")
    if code:
        return Finished(output, (errors.strip().splitlines() or [f"exit status {code}"])[-1])
    return Finished(output)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends a process and its children; either may have ended already."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    elif process.poll() is None:
        process.kill()
    process.wait()


def _text(stream: IO[bytes]) -> str:
    stream.seek(0)
    return stream.read().decode(errors="replace")


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
