"""Runs examples in processes of their own and reads what they print."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "examples"
# The column of names, see `row` in `examples/shared.py`.
NAME = 18


def run(name: str, *arguments: str) -> str:
    """What an example prints; it must end well."""
    command = [sys.executable, str(FOLDER / name), *arguments]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(command, capture_output=True, check=False, env=environment, encoding="utf-8")
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def section(printed: str, heading: str) -> str:
    """The part under the only heading that begins so."""
    (found,) = [part for part in printed.split("\n\n") if part.lstrip("\n").startswith(heading)]
    return found


def rows(printed: str, name: str) -> list[str]:
    """The values of all rows with a name."""
    return [line[NAME:] for line in printed.splitlines() if line[:NAME].rstrip() == name]


def joined(values: Iterable[object], separator: str = " | ") -> str:
    """Values as a row prints them."""
    return separator.join(map(str, values))
