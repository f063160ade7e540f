from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("typer", reason="the command line is an extra")

from command_line import Run


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
        "not a number": (2, "not 'many'", ("train", "text.txt", "--vocab-size", "many")),
        "vocabulary of none": (2, "not '0'", ("train", "text.txt", "--vocab-size", "0")),
        "more than the core can hold": (2, f"not '{10**20}'", ("train", "text.txt", "--vocab-size", f"{10**20}")),
        "unknown model": (2, "--model", (*train, "text.txt", "--model", "gpt")),
        "unknown command": (2, "no such command 'bogus'", ("bogus",)),
        "unknown option": (2, "no such option", ("count", saved, "text.txt", "--bogus")),
        "empty separator": (1, "separator is empty but", ("encode", saved, "text.txt", "--separator", "")),
        "empty separator on stdin": (1, "separator is empty but", ("encode", saved, "-", "--separator", "")),
        "no files": (2, "missing argument 'FILES...'", ("encode", saved)),
        "output is an input": (2, "text.txt is an input and the output", (*train, "text.txt", "-o", "text.txt")),
        "output is a directory": (1, "folder: is a directory", (*train, "text.txt", "-o", "folder")),
        "output's directory is missing": (1, "no such directory", (*train, "text.txt", "-o", "absent/t.json")),
        "input without a name": (2, "the name of a file is empty", (*train, "")),
        "output without a name": (2, "the name of a file is empty", (*train, "text.txt", "-o", "")),
        "stdin twice": (2, "stdin (-) is named 2 times", ("encode", saved, "-", "-")),
        "malformed tokenizer": (1, "broken.json: ", ("count", "broken.json", "text.txt")),
        "truncated tokenizer": (1, "cut.json: ", ("count", "cut.json", "text.txt")),
        "merge of no token": (
            1,
            "token `c` of merge 0 in merge.json is not in the vocabulary",
            ("count", "merge.json", "text.txt"),
        ),
        "tokenizer that is a list": (1, "list.json: expected an object", ("inspect", "list.json")),
        "binary tokenizer": (1, "bad.txt is not valid UTF-8 at byte 5", ("count", "bad.txt", "text.txt")),
        "missing tokenizer": (1, "absent.json: no such file", ("inspect", "absent.json")),
        "invalid utf-8 to encode": (1, "bad.txt is not valid UTF-8 at byte 5", ("encode", saved, "bad.txt")),
        "unknown id": (1, "unknown.npy: id 999 is not in the vocabulary of 300", ("decode", saved, "unknown.npy")),
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
        "unknown id in a row": (
            1,
            "unknown.npy, document 2: id 999 is not",
            ("decode", saved, "unknown.npy", "--row-splits", "second.npy"),
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
        Path("list.json").write_text("[]")
        Path("merge.json").write_text('{"model": {"type": "BPE", "vocab": {"a": 0}, "merges": [["a", "c"]]}}')
        np.save("unknown.npy", np.array([1, 999]))
        np.save("second.npy", np.array([0, 0, 2]))
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


@pytest.mark.parametrize(
    ("stdin", "message"),
    [
        (b"1 x", "`x`"),
        (b"1_0", "`1_0` is not an id"),
        (b"+5", "`+5` is not an id"),
        (b"1\n-2", "line 2: id -2"),
        (b"1\n300", "stdin, line 2: id 300 is not"),
        (b"9" * 5000, "line 1"),
    ],
)
def test_a_line_of_ids_that_is_none_is_an_error(lexmill: Run, saved: str, stdin: bytes, message: str) -> None:
    result = lexmill("decode", saved, "-", "-o", "text", stdin=stdin)
    assert result.code == 1
    assert message in result.stderr
    assert not Path("text").exists()


def test_an_interrupt_outside_the_work_is_one_line_too(lexmill: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object, **__: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("lexmill.cli.app.execute", interrupt)
    assert lexmill("train", "text.txt", "--vocab-size", "300") == (130, b"", "error: interrupted\n")
