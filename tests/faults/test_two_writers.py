"""Two processes that write to one place, and what a process leaves that was killed while it wrote."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lexmill import Tokenizer, count_words, tokenize_files
from lexmill.errors import OutputError
from lexmill.pre_tokenizers import ByteLevel

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="processes are stopped by signals")

WRITER = """
import sys
from lexmill import Tokenizer, count_words, tokenize_files
from lexmill.pre_tokenizers import ByteLevel
kind, out, tokenizer, *corpus = sys.argv[1:]
def wait(*_):
    print("at work", flush=True)
    sys.stdin.read()
if kind == "count":
    cut = ByteLevel(add_prefix_space=False)
    count_words(corpus, pre_tokenizer=cut, checkpoint=out, checkpoint_bytes=300_000, on_progress=wait)
else:
    tokenize_files(Tokenizer.from_file(tokenizer), corpus, out, part_bytes=100_000, on_progress=wait)
"""


def write(kind: str, out: Path, tokenizer: Path, corpus: list[Path]) -> None:
    if kind == "count":
        cut = ByteLevel(add_prefix_space=False)
        count_words(corpus, pre_tokenizer=cut, checkpoint=out, checkpoint_bytes=300_000, resume=True)
    else:
        tokenize_files(Tokenizer.from_file(tokenizer), corpus, out, part_bytes=100_000, resume=True)


@contextmanager
def writer(kind: str, out: Path, tokenizer: Path, corpus: list[Path]) -> Iterator[subprocess.Popen[str]]:
    """A process that has begun to write and waits."""
    command = [sys.executable, "-c", WRITER, kind, str(out), str(tokenizer), *map(str, corpus)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "at work\n"
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize("kind", ["count", "tokenize"])
def test_the_second_writer_is_told_the_number_of_the_first(
    kind: str, corpus: list[Path], tokenizer: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    with writer(kind, out, tokenizer, corpus) as first:
        with pytest.raises(OutputError, match=rf"^{out}: process {first.pid} writes to it$"):
            write(kind, out, tokenizer, corpus)
        # A process that has stopped for good may go on, so it keeps the folder.
        first.send_signal(signal.SIGSTOP)
        with pytest.raises(OutputError, match=f"process {first.pid} writes to it"):
            write(kind, out, tokenizer, corpus)


@pytest.mark.parametrize("kind", ["count", "tokenize"])
@pytest.mark.parametrize("number", ["", "1", "4194304", "no number"])
def test_a_lock_that_a_killed_process_has_left_is_none(
    kind: str, number: str, corpus: list[Path], tokenizer: Path, tmp_path: Path
) -> None:
    """The system knows who holds the lock: the number in the file may be that of another process by now."""
    out = tmp_path / "out"
    with writer(kind, out, tokenizer, corpus) as first:
        first.kill()
        first.wait()
        lock = out / ".lexmill-lock"
        assert lock.read_text() == str(first.pid)
        lock.write_text(number or str(os.getpid()))
        write(kind, out, tokenizer, corpus)
        assert not lock.exists()


def test_savers_of_one_file_do_not_meet(tokenizer: Path, tmp_path: Path) -> None:
    """Each has a temporary file of its own, and the last rename decides: the file is whole at any time."""
    program = "import sys; from lexmill import Tokenizer; made = Tokenizer.from_file(sys.argv[1])\n"
    program += "for _ in range(100): made.save(sys.argv[2])"
    command = [sys.executable, "-c", program, str(tokenizer), str(tmp_path / "saved.json")]
    processes = [subprocess.Popen(command) for _ in range(3)]
    while any(process.poll() is None for process in processes):
        if (tmp_path / "saved.json").exists():
            Tokenizer.from_file(tmp_path / "saved.json")
    assert [process.returncode for process in processes] == [0, 0, 0]
    assert [path.name for path in tmp_path.iterdir()] == ["saved.json"]
