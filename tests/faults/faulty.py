"""Commands in processes of their own, which are killed or fail at a chosen call of the system."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

CHANGES = ("write", "fsync", "rename", "create", "unlink", "close", "mkdir")
"""Calls that change files or folders, or tell that a change failed."""

FULL = os.environ.get("LEXMILL_FAULTS") == "full"
"""Whether all moments are tried of each format, as `make test-faults FAULTS=full` does."""


class Call(NamedTuple):
    """A call of the system and the file that it is for."""

    name: str
    path: str


@dataclass(frozen=True)
class Fault:
    """What happens at the nth counted call; nothing at number 0.

    Attributes:
        calls: the names of the calls that are counted.
        at: the number of the call, from 1 on.
        action: the number of an error, or none to kill the process.
        is_sticky: whether all counted calls from that one on fail.
        at_paths: paths that only calls for files under them are counted; those of the command if there are none.
    """

    calls: tuple[str, ...] = CHANGES
    at: int = 0
    action: int | None = None
    is_sticky: bool = False
    at_paths: tuple[Path, ...] = ()


NO_FAULT = Fault()


@dataclass(frozen=True)
class Ended:
    """A process that has ended: its exit code, what it wrote to standard error, and the calls that were counted."""

    code: int
    errors: str
    calls: list[Call] = field(repr=False)

    @property
    def is_killed(self) -> bool:
        return self.code == -signal.SIGKILL


@dataclass(frozen=True)
class Faults:
    """Runs commands with the preloaded library.

    Attributes:
        library: the library.
        report: a file for the calls that it counts.
    """

    library: Path
    report: Path

    def lexmill(self, arguments: Sequence[str | Path], folder: Path, fault: Fault = NO_FAULT) -> Ended:
        """Runs `lexmill` with some arguments; calls that concern files under `folder` are counted."""
        return self.python(["-m", "lexmill", *arguments], folder, fault)

    def python(self, arguments: Sequence[str | Path], folder: Path, fault: Fault = NO_FAULT) -> Ended:
        self.report.unlink(missing_ok=True)
        environment = {
            **os.environ,
            "LD_PRELOAD": str(self.library),
            "FAULTS_FOLDERS": ":".join(map(str, fault.at_paths or (folder,))),
            "FAULTS_CALLS": ",".join(fault.calls),
            "FAULTS_AT": str(fault.at),
            "FAULTS_ACTION": "kill" if fault.action is None else str(fault.action),
            "FAULTS_REPORT": str(self.report),
            **({"FAULTS_STICKY": "1"} if fault.is_sticky else {}),
        }
        command = [sys.executable, *map(str, arguments)]
        ran = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        lines = self.report.read_text().splitlines() if self.report.exists() else []
        return Ended(ran.returncode, ran.stderr, [Call(*line.split(" ", 1)) for line in lines])


def tree(folder: Path) -> dict[str, bytes]:
    """All files below a folder by name, and folders as empty files with a slash at the end."""
    found = {}
    for path in folder.rglob("*"):
        name = str(path.relative_to(folder))
        found[f"{name}/" if path.is_dir() else name] = b"" if path.is_dir() else path.read_bytes()
    return found


def moments(calls: Sequence[Call], count: int, seed: int) -> list[int]:
    """Numbers of calls: half of them of any calls, half of the rarer ones that are no writes."""
    choose = random.Random(seed)
    rare = [number for number, call in enumerate(calls, 1) if call.name not in ("write", "read", "close")]
    anywhere = choose.sample(range(1, len(calls) + 1), min(count - count // 2, len(calls)))
    return sorted(anywhere + choose.sample(rare, min(count // 2, len(rare))))
