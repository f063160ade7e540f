from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

pytest.importorskip("typer", reason="the command line is an extra")

from lexmill import Tokenizer, __version__
from lexmill.cli import main
from lexmill.decoders import ByteLevel as ByteLevelDecoder
from lexmill.models import BPE, Unigram, WordPiece
from lexmill.normalizers import BertNormalizer
from lexmill.pre_tokenizers import BertPreTokenizer, ByteLevel, Metaspace
from lexmill.trainers import BpeTrainer, UnigramTrainer, WordPieceTrainer

TEXT = "the cat sat on the mat\n\nder Größe nach: 東京 🦀 e\u0301\r\nthe end, no newline"
COMMAND = [sys.executable, "-m", "lexmill"]


class Result(NamedTuple):
    code: int
    stdout: bytes
    stderr: str

    @property
    def outcome(self) -> dict[str, object]:
        found = json.loads(self.stdout)
        assert isinstance(found, dict)
        return found


Run = Callable[..., Result]


@pytest.fixture(autouse=True)
def in_tmp_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("text.txt").write_bytes(TEXT.encode())


@pytest.fixture
def lexmill(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs the command in this process."""

    def run(*arguments: str, stdin: bytes = b"") -> Result:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = main(arguments)
        sys.stdout.flush()
        stdout, stderr = capfdbinary.readouterr()
        return Result(code, stdout, stderr.decode())

    return run


@pytest.fixture(scope="session")
def saved(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A byte-level tokenizer with one special token."""
    tokenizer = Tokenizer(BPE())
    tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False)
    tokenizer.decoder = ByteLevelDecoder()
    alphabet = ByteLevel.alphabet()
    trainer = BpeTrainer(vocab_size=300, initial_alphabet=alphabet, special_tokens=["<end>"], show_progress=False)
    tokenizer.train_from_iterator([TEXT] * 2, trainer)
    path = str(tmp_path_factory.mktemp("saved") / "tokenizer.json")
    tokenizer.save(path)
    return path


class TestTrain:
    def test_saves_a_tokenizer_that_keeps_every_byte(self, lexmill: Run) -> None:
        assert lexmill("train", "text.txt", "--vocab-size", "280").code == 0
        tokenizer = Tokenizer.from_file("tokenizer.json")
        assert tokenizer.get_vocab_size() == 280
        assert tokenizer.decode(tokenizer.encode(TEXT).ids) == TEXT

    @pytest.mark.parametrize("name", ["byte-level", "cl100k", "o200k", "whitespace", "whitespace-split"])
    def test_every_pre_tokenizer_trains(self, lexmill: Run, name: str) -> None:
        assert lexmill("train", "text.txt", "--vocab-size", "290", "--pre-tokenizer", name).code == 0
        encoding = Tokenizer.from_file("tokenizer.json").encode("the mat")
        assert [token.strip("\u0120") for token in encoding.tokens] == ["the", "mat"]

    def test_counts_the_bytes_of_stdin(self, lexmill: Run) -> None:
        outcome = lexmill("train", "text.txt", "-", "--vocab-size", "290", "--json", stdin=TEXT.encode()).outcome
        assert outcome["bytes"] == 2 * len(TEXT.encode())

    def test_special_tokens_come_first(self, lexmill: Run) -> None:
        arguments = ("--vocab-size", "300", "--special-token", "<a>", "--special-token", "<b>", "--unk-token", "<u>")
        assert lexmill("train", "text.txt", *arguments).code == 0
        tokenizer = Tokenizer.from_file("tokenizer.json")
        assert [tokenizer.id_to_token(id_) for id_ in range(3)] == ["<u>", "<a>", "<b>"]

    def test_stdin_trains_as_a_file_does(self, lexmill: Run) -> None:
        assert lexmill("train", "text.txt", "--vocab-size", "290", "-o", "a.json").code == 0
        assert lexmill("train", "-", "--vocab-size", "290", "-o", "b.json", stdin=TEXT.encode()).code == 0
        assert Path("a.json").read_bytes() == Path("b.json").read_bytes()

    def test_prints_the_tokenizer_on_stdout(self, lexmill: Run) -> None:
        result = lexmill("train", "text.txt", "--vocab-size", "270", "-o", "-", "--no-pretty")
        assert result.code == 0
        assert Tokenizer.from_str(result.stdout.decode()).get_vocab_size() == 270

    @pytest.mark.parametrize("score", ["frequency", "likelihood", "likelihood-float64"])
    def test_trains_wordpiece(self, lexmill: Run, score: str) -> None:
        arguments = ("--model", "wordpiece", "--vocab-size", "99", "--score", score, "--normalizer", "bert")
        assert lexmill("train", "text.txt", *arguments).code == 0
        tokenizer = Tokenizer.from_file("tokenizer.json")
        trainer = WordPieceTrainer(vocab_size=99, special_tokens=["[UNK]"], score=score, show_progress=False)
        expected = Tokenizer(WordPiece())
        expected.normalizer, expected.pre_tokenizer = BertNormalizer(), BertPreTokenizer()
        expected.train(["text.txt"], trainer)
        assert tokenizer.get_vocab() == expected.get_vocab()
        assert tokenizer.decode(tokenizer.encode("the").ids) == "the"

    def test_trains_wordlevel(self, lexmill: Run) -> None:
        result = lexmill("train", "text.txt", "--model", "wordlevel", "--vocab-size", "3", "--json")
        tokenizer = Tokenizer.from_file("tokenizer.json")
        assert tokenizer.get_vocab_size() == result.outcome["vocab_size"] == 3
        assert tokenizer.token_to_id("<unk>") == 0
        assert "merges" not in result.outcome

    @pytest.mark.parametrize("algorithm", ["em", "exact-loss"])
    def test_trains_unigram(self, lexmill: Run, algorithm: str) -> None:
        arguments = ("--model", "unigram", "--vocab-size", "60", "--algorithm", algorithm, "--max-piece-length", "9")
        assert lexmill("train", "text.txt", *arguments).code == 0
        tokenizer = Tokenizer.from_file("tokenizer.json")
        options: dict[str, Any] = {"algorithm": algorithm, "max_piece_length": 9}
        trainer = UnigramTrainer(
            vocab_size=60, special_tokens=["<unk>"], unk_token="<unk>", show_progress=False, **options
        )
        expected = Tokenizer(Unigram())
        expected.pre_tokenizer = Metaspace()
        expected.train(["text.txt"], trainer)
        assert tokenizer.get_vocab() == expected.get_vocab()
        assert tokenizer.decode(tokenizer.encode("the").ids) == "the"

    def test_unigram_has_no_least_frequency(self, lexmill: Run) -> None:
        result = lexmill("train", "text.txt", "--vocab-size", "60", "--model", "unigram", "--min-frequency", "2")
        assert (result.code, "--min-frequency is not for --model unigram" in result.stderr) == (2, True)

    @pytest.mark.parametrize(
        ("model", "option", "value"),
        [
            ("bpe", "--seed-size", "9"),
            ("unigram", "--limit-alphabet", "9"),
            ("bpe", "--score", "likelihood"),
            ("wordlevel", "--tie-break", "first-seen"),
            ("wordlevel", "--limit-alphabet", "9"),
            ("wordpiece", "--max-token-length", "9"),
        ],
    )
    def test_an_option_of_another_model_is_refused(self, lexmill: Run, model: str, option: str, value: str) -> None:
        result = lexmill("train", "text.txt", "--vocab-size", "300", "--model", model, option, value)
        assert result.code == 2
        assert f"{option} is for --model" in result.stderr
        assert not Path("tokenizer.json").exists()

    def test_reports_the_outcome_as_json(self, lexmill: Run) -> None:
        result = lexmill("train", "text.txt", "--vocab-size", "270", "--json")
        outcome = result.outcome
        assert outcome.pop("seconds") != 0
        assert outcome == {
            "command": "train",
            "ok": True,
            "output": "tokenizer.json",
            "model": "bpe",
            "vocab_size": 270,
            "merges": 14,
            "files": 1,
            "bytes": len(TEXT.encode()),
        }

    def test_replaces_what_is_not_utf8_if_told(self, lexmill: Run) -> None:
        Path("bad.txt").write_bytes(b"good \xff bad " * 10)
        assert lexmill("train", "bad.txt", "--vocab-size", "260", "--errors", "replace").code == 0


class TestEncodeAndDecode:
    def test_decode_inverts_encode(self, lexmill: Run, saved: str) -> None:
        assert lexmill("encode", saved, "text.txt", "-o", "ids.npy").code == 0
        assert lexmill("decode", saved, "ids.npy", "-o", "back.txt").code == 0
        assert Path("back.txt").read_bytes() == TEXT.encode()

    def test_ids_are_those_of_the_library(self, lexmill: Run, saved: str) -> None:
        lexmill("encode", saved, "text.txt", "-o", "ids.npy")
        ids = np.load("ids.npy")
        assert ids.dtype == np.uint16
        assert ids.tolist() == Tokenizer.from_file(saved).encode(TEXT).ids

    def test_each_file_is_a_document(self, lexmill: Run, saved: str) -> None:
        Path("empty.txt").touch()
        lexmill("encode", saved, "text.txt", "empty.txt", "text.txt", "-o", "ids.npy", "--row-splits", "splits.npy")
        length = len(np.load("ids.npy")) // 2
        assert np.load("splits.npy").tolist() == [0, length, length, 2 * length]

    @pytest.mark.parametrize("end", ["", "\n"])
    def test_lines_are_documents_and_come_back_ended(self, lexmill: Run, saved: str, end: str) -> None:
        Path("text.txt").write_bytes((TEXT + end).encode())
        lines = lexmill("encode", saved, "text.txt", "--separator", "\\n").stdout
        assert len(lines.splitlines()) == len(TEXT.split("\n"))
        assert lexmill("decode", saved, "-", "--separator", "\\n", stdin=lines).stdout == f"{TEXT}\n".encode()

    def test_row_splits_part_documents_again(self, lexmill: Run, saved: str) -> None:
        lexmill("encode", saved, "text.txt", "--separator", "the", "-o", "ids.npy", "--row-splits", "splits.npy")
        back = lexmill("decode", saved, "ids.npy", "--row-splits", "splits.npy", "--separator", "|")
        assert back.stdout.decode() == TEXT.removesuffix("the").replace("the", "|") + "|"

    @pytest.mark.parametrize("separator", [(), ("--separator", "\\n"), ("--separator", "the")])
    def test_stdin_encodes_as_a_file_does(self, lexmill: Run, saved: str, separator: tuple[str, ...]) -> None:
        for text in (TEXT, "", "the", "x\n", "\n\n"):
            Path("text.txt").write_bytes(text.encode())
            from_file = lexmill("encode", saved, "text.txt", *separator)
            assert lexmill("encode", saved, "-", *separator, stdin=text.encode()) == from_file

    def test_files_around_stdin_keep_their_order(self, lexmill: Run, saved: str) -> None:
        Path("other.txt").write_text("the end")
        files = lexmill("encode", saved, "text.txt", "other.txt", "text.txt").stdout
        assert lexmill("encode", saved, "text.txt", "-", "text.txt", stdin=b"the end").stdout == files

    def test_special_tokens_are_written_if_told(self, lexmill: Run, saved: str) -> None:
        assert lexmill("decode", saved, "-", stdin=b"0\n").stdout == b""
        assert lexmill("decode", saved, "-", "--special-tokens", stdin=b"0\n").stdout == b"<end>"

    def test_reports_the_outcome_as_json(self, lexmill: Run, saved: str) -> None:
        encoded = lexmill("encode", saved, "text.txt", "-o", "ids.npy", "--json").outcome
        assert encoded.pop("seconds") != 0
        tokens, size = len(np.load("ids.npy")), len(TEXT.encode())
        sizes = {"documents": 1, "tokens": tokens, "bytes": size}
        files = {"output": "ids.npy", "row_splits": None, "dtype": "uint16"}
        assert encoded == {"command": "encode", "ok": True, **files, **sizes}
        decoded = lexmill("decode", saved, "ids.npy", "-o", "back.txt", "--json").outcome
        assert decoded == {"command": "decode", "ok": True, "output": "back.txt", **sizes}


class TestCountAndInspect:
    def test_counts_each_file_and_all(self, lexmill: Run, saved: str) -> None:
        tokens = len(Tokenizer.from_file(saved).encode(TEXT).ids)
        size = len(TEXT.encode())
        counted = {"path": "text.txt", "tokens": tokens, "bytes": size}
        outcome = lexmill("count", saved, "text.txt", "text.txt", "--json").outcome
        totals = {"tokens": 2 * tokens, "bytes": 2 * size}
        assert outcome == {"command": "count", "ok": True, "files": [counted, counted], **totals}
        table = lexmill("count", saved, "text.txt", "text.txt").stdout.decode().splitlines()
        assert [line.split()[-1] for line in table] == ["file", "text.txt", "text.txt", "total"]

    def test_an_empty_file_has_no_tokens(self, lexmill: Run, saved: str) -> None:
        Path("empty.txt").touch()
        assert lexmill("count", saved, "empty.txt", "--json").outcome["tokens"] == 0
        assert lexmill("count", saved, "empty.txt").stdout.split()[-4:] == [b"0", b"0", b"-", b"empty.txt"]

    def test_shows_pipeline_sizes_and_a_cut_text(self, lexmill: Run, saved: str) -> None:
        shown = lexmill("inspect", saved, "the [b]\x1b[1m 🦀").stdout.decode()
        assert "ByteLevel(add_prefix_space=false" in shown
        assert "0  '<end>'" in shown
        last = shown.splitlines()[-1]
        assert "\x1b" not in shown
        assert last.replace("|", "") == "the [b]\\x1b[1m 🦀"

    def test_json_has_the_ids_of_the_text(self, lexmill: Run, saved: str) -> None:
        outcome = lexmill("inspect", saved, "-", "--json", "--top", "2", stdin=TEXT.encode()).outcome
        encoding = Tokenizer.from_file(saved).encode(TEXT)
        assert outcome["sample"] == {"text": TEXT, "ids": encoding.ids, "tokens": encoding.tokens}
        assert outcome["special_tokens"] == [{"id": 0, "token": "<end>"}]
        longest = outcome["longest_tokens"]
        assert isinstance(longest, list)
        assert len(longest) == 2

    def test_version_is_the_packages(self, lexmill: Run) -> None:
        result = lexmill("--version")
        assert result == (0, f"lexmill {__version__}\n".encode(), "")


def wrong_calls(saved: str) -> dict[str, tuple[int, str, tuple[str, ...]]]:
    """Exit code, part of the message, arguments."""
    train = ("train", "--vocab-size", "300")
    return {
        "missing input": (1, "absent.txt: no such file", (*train, "absent.txt")),
        "directory as input": (1, "folder: is a directory", (*train, "folder")),
        "empty corpus": (1, "holds no words", (*train, "empty.txt")),
        "invalid utf-8": (1, "bad.txt is not valid UTF-8 at byte 5; pass --errors replace", (*train, "bad.txt")),
        "vocabulary below the alphabet": (1, "vocab_size is 200 but", ("train", "text.txt", "--vocab-size", "200")),
        "no vocabulary size": (2, "missing option '--vocab-size'", ("train", "text.txt")),
        "not a number": (2, "--vocab-size", ("train", "text.txt", "--vocab-size", "many")),
        "vocabulary of none": (2, "--vocab-size", ("train", "text.txt", "--vocab-size", "0")),
        "unknown model": (2, "--model", (*train, "text.txt", "--model", "gpt")),
        "unknown command": (2, "no such command 'bogus'", ("bogus",)),
        "unknown option": (2, "no such option", ("count", saved, "text.txt", "--bogus")),
        "empty separator": (1, "separator is empty but", ("encode", saved, "text.txt", "--separator", "")),
        "empty separator on stdin": (1, "separator is empty but", ("encode", saved, "-", "--separator", "")),
        "no files": (2, "missing argument 'FILES...'", ("encode", saved)),
        "output is an input": (2, "text.txt is an input and the output", (*train, "text.txt", "-o", "text.txt")),
        "output is a directory": (1, "folder: is a directory", (*train, "text.txt", "-o", "folder")),
        "output's directory is missing": (1, "no such directory", (*train, "text.txt", "-o", "absent/t.json")),
        "stdin twice": (2, "stdin (-) is named 2 times", ("encode", saved, "-", "-")),
        "malformed tokenizer": (1, "broken.json: ", ("count", "broken.json", "text.txt")),
        "truncated tokenizer": (1, "cut.json: ", ("count", "cut.json", "text.txt")),
        "binary tokenizer": (1, "bad.txt is not valid UTF-8 at byte 5", ("count", "bad.txt", "text.txt")),
        "missing tokenizer": (1, "absent.json: no such file", ("inspect", "absent.json")),
        "invalid utf-8 to encode": (1, "bad.txt is not valid UTF-8 at byte 5", ("encode", saved, "bad.txt")),
        "unknown id": (1, "id 999 is not in the vocabulary of 300 tokens", ("decode", saved, "unknown.npy")),
        "negative id": (1, "negative.npy: id -7 is not between 0", ("decode", saved, "negative.npy")),
        "ids that are floats": (1, "floats.npy holds float64", ("decode", saved, "floats.npy")),
        "ids in a matrix": (1, "matrix.npy has 2 dimensions", ("decode", saved, "matrix.npy")),
        "ids that are text": (1, "text.txt is not a complete .npy file", ("decode", saved, "text.txt")),
        "ids cut off": (1, "cut.npy is not a complete .npy file", ("decode", saved, "cut.npy")),
        "row splits of other ids": (
            1,
            "floats.npy holds float64",
            ("decode", saved, "unknown.npy", "--row-splits", "floats.npy"),
        ),
        "row splits that descend": (
            1,
            "must ascend from 0 to the 2 ids",
            ("decode", saved, "unknown.npy", "--row-splits", "unknown.npy"),
        ),
        "row splits on stdout": (
            2,
            "--row-splits needs a file",
            ("encode", saved, "text.txt", "--row-splits", "a.npy", "-o", "-"),
        ),
        "text with a lone surrogate": (1, "not valid UTF-8", ("inspect", saved, "\udcff")),
    }


@pytest.mark.parametrize("name", wrong_calls(""))
class TestErrors:
    @pytest.fixture(autouse=True)
    def files(self) -> None:
        Path("folder").mkdir()
        Path("empty.txt").touch()
        Path("bad.txt").write_bytes(b"good \xff bad")
        Path("broken.json").write_text('{"model": {"type": "BPE", "vocab": 7}}')
        np.save("unknown.npy", np.array([1, 999]))
        np.save("negative.npy", np.array([1, -7]))
        np.save("floats.npy", np.array([0.5]))
        np.save("matrix.npy", np.array([[1, 2]]))
        Path("cut.npy").write_bytes(Path("unknown.npy").read_bytes()[:-3])

    @pytest.fixture(autouse=True)
    def cut_tokenizer(self, saved: str) -> None:
        content = Path(saved).read_bytes()
        Path("cut.json").write_bytes(content[: len(content) // 2])

    def test_is_one_line_on_stderr(self, lexmill: Run, saved: str, name: str) -> None:
        code, message, arguments = wrong_calls(saved)[name]
        before = sorted(Path.cwd().iterdir())
        result = lexmill(*arguments)
        assert result.code == code
        assert result.stderr.startswith("error: ")
        assert result.stderr.count("\n") == 1
        assert message in result.stderr
        assert result.stdout == b""
        assert sorted(Path.cwd().iterdir()) == before

    def test_is_an_object_if_asked_for_json(self, lexmill: Run, saved: str, name: str) -> None:
        code, message, arguments = wrong_calls(saved)[name]
        has_output = arguments[0] in ("train", "encode", "decode") and "-o" not in arguments
        result = lexmill(*arguments, *(("-o", "out") if has_output else ()), "--json")
        outcome = result.outcome
        assert (result.code, outcome["command"]) == (code, arguments[0])
        assert (outcome["ok"], outcome["exit_code"]) == (False, code)
        error = outcome["error"]
        assert isinstance(error, dict)
        assert message in error["message"]


@pytest.mark.parametrize(("stdin", "message"), [(b"1 x", "`x`"), (b"1\n-2", "line 2: id -2"), (b"9" * 5000, "line 1")])
def test_a_line_of_ids_that_is_none_is_an_error(lexmill: Run, saved: str, stdin: bytes, message: str) -> None:
    result = lexmill("decode", saved, "-", "-o", "text", stdin=stdin)
    assert result.code == 1
    assert message in result.stderr
    assert not Path("text").exists()


def test_an_interrupt_outside_the_work_is_one_line_too(lexmill: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("lexmill.cli.app.execute", interrupt)
    assert lexmill("train", "text.txt", "--vocab-size", "300") == (130, b"", "error: interrupted\n")


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

    def test_an_interrupt_is_one_line_and_leaves_no_file(self) -> None:
        command = [*COMMAND, "train", "-", "--vocab-size", "300"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
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
