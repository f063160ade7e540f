"""The examples of docs/guides/command-line.md, run one after the other, print what the page shows."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("typer")
PAGE = Path(__file__).parents[3] / "docs" / "guides" / "command-line.md"
EXAMPLE = re.compile(r"^\$ (.*)\n((?:(?!\$ |```).*\n)*)", re.MULTILINE)


def test_examples_print_what_the_page_shows(tmp_path: Path) -> None:
    blocks = re.findall(r"```console\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    examples = [example for block in blocks for example in EXAMPLE.findall(block)]
    assert len(examples) > 5
    lexmill = f'lexmill() {{ {shlex.quote(sys.executable)} -m lexmill "$@"; }}\n'
    for command, expected in examples:
        done = subprocess.run(
            ["/bin/sh", "-c", lexmill + command],
            cwd=tmp_path,
            env={**os.environ, "COLUMNS": "120"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            check=False,
        )
        assert done.stdout == expected, command
