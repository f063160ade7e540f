"""The commands of a page, run one after the other, print the output on the page."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("typer")
GUIDES = Path(__file__).parents[3] / "docs" / "guides"
EXAMPLE = re.compile(r"^\$ (.*)\n((?:(?!\$ |```).*\n)*)", re.MULTILINE)


@pytest.mark.parametrize(("page", "least"), [("command-line", 20), ("recipes/training", 4)])
def test_examples_print_what_the_page_shows(tmp_path: Path, page: str, least: int) -> None:
    blocks = re.findall(r"```console\n(.*?)```", (GUIDES / f"{page}.md").read_text(encoding="utf-8"), re.DOTALL)
    examples = [example for block in blocks for example in EXAMPLE.findall(block)]
    assert len(examples) >= least
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
