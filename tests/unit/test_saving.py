"""A saved file is the old one or the new one, whatever happens while it is written."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lexmill import Tokenizer
from small import letters

# Says when it begins, and saves a large file again and again.
SAVES = """
import sys
from lexmill import Tokenizer, models
tokenizer = Tokenizer(models.WordLevel({f"token{number}": number for number in range(200_000)}, "token0"))
print("ready", flush=True)
while True:
    tokenizer.save(sys.argv[1])
"""


def temporaries(folder: Path) -> list[Path]:
    return sorted(folder.glob(".lexmill-*.tmp"))


def stop_in_the_middle(child: subprocess.Popen[str], folder: Path) -> Path:
    """Stops the child while its temporary file is there; returns that."""
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    while True:
        assert child.poll() is None
        if temporaries(folder):
            os.kill(child.pid, signal.SIGSTOP)
            os.waitid(os.P_PID, child.pid, os.WSTOPPED | os.WNOWAIT)
            # Before its first bytes it may not be locked yet.
            if found := [file for file in temporaries(folder) if file.stat().st_size]:
                return found[0]
            os.kill(child.pid, signal.SIGCONT)


@pytest.mark.skipif(not hasattr(os, "waitid"), reason="processes cannot be stopped here")
def test_a_killed_writer_leaves_the_old_file_and_litter_that_the_next_one_removes(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    letters("ab").save(path)
    with subprocess.Popen([sys.executable, "-c", SAVES, str(path)], stdout=subprocess.PIPE, encoding="utf-8") as child:
        try:
            temporary = stop_in_the_middle(child, tmp_path)
            letters("abc").save(path)
            # The child is not dead, and may go on.
            assert temporaries(tmp_path) == [temporary]
        finally:
            child.kill()
    assert temporaries(tmp_path) == [temporary]
    assert Tokenizer.from_file(path).get_vocab_size() == 3
    letters("abcd").save(tmp_path / "other.json")
    assert {file.name for file in tmp_path.iterdir()} == {"tokenizer.json", "other.json"}


@pytest.mark.skipif(shutil.which("strace") is None, reason="no strace")
def test_the_folder_is_synced_after_the_file_has_its_name(tmp_path: Path) -> None:
    log = tmp_path / "log"
    folder = tmp_path / "folder"
    folder.mkdir()
    program = "import sys; from lexmill import Tokenizer, models; Tokenizer(models.BPE()).save(sys.argv[1])"
    traced = ["strace", "-f", "-y", "-e", "trace=/^(fsync|fdatasync|rename.*)$", "-o", str(log), sys.executable]
    done = subprocess.run([*traced, "-c", program, str(folder / "file")], capture_output=True, text=True, check=False)
    if "ptrace" in done.stderr:
        pytest.skip("processes may not be traced here")
    assert done.returncode == 0, done.stderr
    calls = [line for line in log.read_text().splitlines() if str(folder) in line]
    names = [re.sub(r"^\d+ +", "", line) for line in calls]
    temporary = re.escape(str(folder)) + r"/\.lexmill-\d+-[0-9a-f]{16}\.tmp"
    expected = [rf"f(data)?sync\(\d+<{temporary}>\)", r"rename", rf"fsync\(\d+<{re.escape(str(folder))}>\) += 0"]
    assert len(names) == len(expected), names
    assert all(re.match(pattern, name) for pattern, name in zip(expected, names, strict=True)), names
