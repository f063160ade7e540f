"""One program with `tokenizers` 1.0 and with `lexmill run --version 1`: equal results."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from peers import tokenizer_file

PROGRAM = Path(__file__).parent / "program.py"


def results(*command: str) -> Any:
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", ["bert-base-uncased", "gpt2", "qwen2", "t5-small"])
def test_a_program_gives_equal_results(name: str) -> None:
    program = [str(PROGRAM), str(tokenizer_file(name))]
    ours, theirs = results("-m", "lexmill", "run", "--version", "1", *program), results(*program)
    assert ours == theirs
    assert (ours["copy"], ours["pickled"]) == (True, True)
