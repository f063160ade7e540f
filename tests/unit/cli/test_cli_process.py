from __future__ import annotations

import contextlib
import json
import os
import shlex
import shutil
import signal
import stat
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("typer", reason="the command line is an extra")

from command_line import COMMAND, TEXT, Run
from lexmill import Tokenizer


class TestOutputFiles:
    @pytest.mark.parametrize(("error", "code"), [(KeyboardInterrupt(), 130), (OSError(28, "No space left"), 1)])
    def test_a_failed_write_leaves_what_was_there(
        self, lexmill: Run, saved: str, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int
    ) -> None:
        Path("ids.npy").write_text("before")

        def fail(descriptor: int) -> None:
            raise error

        monkeypatch.setattr(os, "fsync", fail)
        before = sorted(Path.cwd().iterdir())
        result = lexmill("encode", saved, "text.txt", "-o", "ids.npy", "--row-splits", "splits.npy")
        assert result.code == code
        assert result.stderr.count("\n") == 1
        assert sorted(Path.cwd().iterdir()) == before
        assert Path("ids.npy").read_text() == "before"

    def test_a_replaced_file_keeps_its_mode_and_its_link(self, lexmill: Run, saved: str) -> None:
        Path("kept.npy").touch(mode=0o640)
        Path("link.npy").symlink_to("kept.npy")
        assert lexmill("encode", saved, "text.txt", "-o", "link.npy").code == 0
        assert Path("link.npy").is_symlink()
        assert len(np.load("kept.npy")) > 0
        assert stat.S_IMODE(Path("kept.npy").stat().st_mode) == 0o640

    @pytest.mark.parametrize(
        ("arguments", "code"),
        [
            ("count SAVED text.txt >&-", 1),
            ("encode SAVED text.txt >&-", 1),
            ("count SAVED text.txt --json >&-", 1),
            ("encode SAVED text.txt -o ids.npy >&-", 0),
            ("count SAVED - <&-", 1),
            ("decode SAVED - <&-", 1),
        ],
    )
    def test_a_closed_stream_is_an_error_of_a_line_where_it_is_needed(
        self, saved: str, arguments: str, code: int
    ) -> None:
        bash = shutil.which("bash")
        if bash is None:
            pytest.skip("needs a shell with >&-")
        script = f"exec {shlex.join(COMMAND)} {arguments.replace('SAVED', shlex.quote(saved))}"
        done = subprocess.run([bash, "-c", script], stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, check=False)
        expected = b"error: stdin or stdout is closed, or not open for this\n" if code else b""
        assert (done.returncode, done.stderr) == (code, expected)

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no device that is always full")
    @pytest.mark.parametrize("arguments", [("--help",), ("inspect", "SAVED"), ("encode", "SAVED", "text.txt")])
    def test_a_full_disk_is_an_error_of_a_line(self, saved: str, arguments: tuple[str, ...]) -> None:
        command = [*COMMAND, *(saved if argument == "SAVED" else argument for argument in arguments)]
        with Path("/dev/full").open("w") as full:
            done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False)
        assert (done.returncode, done.stderr) == (1, b"error: no space left on device\n")

    def test_a_pipe_by_name_is_read_and_written(self, saved: str) -> None:
        bash = shutil.which("bash")
        if bash is None:
            pytest.skip("needs a shell with <( )")
        script = '"$0" -m lexmill count "$1" <(cat text.txt) --json; "$0" -m lexmill decode "$1" - -o >(cat >&2)'
        arguments = [bash, "-c", f"echo 2 3 | {{ {script} --special-tokens; }}", sys.executable, saved]
        done = subprocess.run(arguments, capture_output=True, check=True)
        outcome = json.loads(done.stdout)
        assert outcome["bytes"] == len(TEXT.encode())
        assert outcome["tokens"] == len(Tokenizer.from_file(saved).encode(TEXT).ids)
        assert done.stderr == Tokenizer.from_file(saved).decode([2, 3]).encode()

    def test_a_pipe_is_written_and_not_replaced(self, lexmill: Run, saved: str) -> None:
        os.mkfifo("pipe")
        reader = os.open("pipe", os.O_RDONLY | os.O_NONBLOCK)
        try:
            assert lexmill("decode", saved, "-", "-o", "pipe", "--special-tokens", stdin=b"0").code == 0
            assert os.read(reader, 100) == b"<end>"
        finally:
            os.close(reader)
        assert stat.S_ISFIFO(Path("pipe").stat().st_mode)


class TestProcess:
    def test_is_silent_in_a_pipe(self) -> None:
        command = [*COMMAND, "train", "text.txt", "--vocab-size", "290"]
        done = subprocess.run(command, capture_output=True, check=True)
        assert (done.stdout, done.stderr) == (b"", b"")

    def test_shows_progress_and_a_note_on_a_terminal(self) -> None:
        Path("text.txt").write_text(TEXT * 1000)
        shown = on_terminal([*COMMAND, "train", "text.txt", "--vocab-size", "290"], "stderr", {"COLUMNS": "120"})
        assert b"count words" in shown
        assert b"tokenizer.json: 290 tokens" in shown

    @pytest.mark.parametrize(("variable", "is_colored"), [("ANY", True), ("NO_COLOR", False)])
    def test_colors_only_on_a_terminal_that_wants_them(self, saved: str, variable: str, is_colored: bool) -> None:
        shown = on_terminal([*COMMAND, "inspect", saved, "--top", "0"], "stdout", {variable: "1"})
        assert (b"\x1b[" in shown) is is_colored

    def test_a_reader_that_leaves_is_no_error(self, saved: str) -> None:
        Path("text.txt").write_text("the cat\n" * 200_000)
        command = [*COMMAND, "encode", saved, "text.txt", "--separator", "\\n"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            process.stdout.read(10)
            process.stdout.close()
            assert process.stderr.read() == b""
            assert process.wait() == 141

    @pytest.mark.skipif(os.name != "posix", reason="descriptors are closed by a POSIX shell")
    def test_closed_stdin_is_no_empty_corpus(self) -> None:
        command = shlex.join([*COMMAND, "count-words", "-", "--input", "lines", "-o", "counts"])
        done = subprocess.run(["sh", "-c", f"{command} <&-"], stderr=subprocess.PIPE, check=False)
        assert (done.returncode, done.stderr) == (1, b"error: -: standard input is not open for reading\n")
        assert not Path("counts").exists()

    def test_an_interrupt_is_one_line_and_leaves_no_file(self) -> None:
        command = [*COMMAND, "train", "-", "--vocab-size", "300"]
        # What runs in the background of a script ignores interrupts, and so do its children unless told otherwise.
        heed = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
        with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=heed) as process:
            assert process.stdin is not None
            assert process.stderr is not None
            # More than a pipe holds: once it is written, the command is reading.
            process.stdin.write(b"the cat\n" * 100_000)
            process.send_signal(signal.SIGINT)
            process.stdin.close()
            assert process.stderr.read() == b"error: interrupted\n"
            assert process.wait() == 130
        assert not Path("tokenizer.json").exists()

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
    @pytest.mark.parametrize("command", ["encode", "count"])
    def test_a_full_disk_is_one_line(self, saved: str, command: str) -> None:
        with Path("/dev/full").open("wb") as full:
            done = subprocess.run([*COMMAND, command, saved, "text.txt"], stdout=full, stderr=subprocess.PIPE)
        assert done.returncode == 1
        assert done.stderr == b"error: no space left on device\n"

    def test_without_the_extra_it_says_what_to_install(self, lexmill: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
        result = lexmill("--version")
        assert result.code == 2
        assert result.stderr == "error: the command line needs typer and rich: pip install 'lexmill[cli]'\n"


def on_terminal(command: list[str], stream: str, variables: dict[str, str]) -> bytes:
    """What a command shows on a terminal as its `stream`; the other one must stay empty."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    environment = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
    environment |= {"TERM": "xterm", **variables}
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, stream: theirs}
    with subprocess.Popen(command, env=environment, **streams) as process:
        os.close(theirs)
        shown = b""
        # Linux answers the end of a terminal by an error.
        with contextlib.suppress(OSError):
            while chunk := os.read(ours, 1 << 16):
                shown += chunk
        os.close(ours)
        assert process.communicate() == tuple(None if name == stream else b"" for name in ("stdout", "stderr"))
        assert process.returncode == 0
    return shown
