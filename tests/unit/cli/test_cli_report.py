"""`lexmill report`: the page and the numbers of the library, from names alone."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import lexmill as library
from command_line import COMMAND, Run
from lexmill.sources import JsonLines

RECORDS = [{"body": "the cat sat on the mat", "meta": {"lang": "en"}}, {"body": "der Hut", "meta": {"lang": "de"}}]


@pytest.fixture(autouse=True)
def corpus() -> None:
    Path("in.jsonl").write_text("".join(json.dumps(record) + "\n" for record in RECORDS))
    Path("in.txt.gz").write_bytes(gzip.compress(b"the cat\nsat\n"))


def test_page_and_numbers_are_written(lexmill: Run, saved: str) -> None:
    pytest.importorskip("plotly")
    result = lexmill("report", saved, "in.txt.gz")
    assert (result.code, result.stderr) == (0, "")
    assert result.stdout.decode().splitlines()[0].split() == [
        "tokens",
        "bytes/token",
        "tokens/word",
        "never",
        "used",
        "tokenizer",
    ]
    name = Path(saved).parent.name
    expected = library.report({name: saved}, "in.txt.gz")
    assert Path("report.json").read_text(encoding="utf-8") == expected.to_json()
    assert Path("report.html").read_text(encoding="utf-8") == expected.to_html()


def test_outcome_and_options(lexmill: Run, saved: str) -> None:
    Path("one").mkdir()
    Path("two").mkdir()
    for folder in ("one", "two"):
        shutil.copy(saved, f"{folder}/tokenizer.json")
    command = ("report", "one/tokenizer.json", "in.jsonl", "--against", "two/tokenizer.json", "--field", "body")
    outcome = lexmill(*command, "--group-by", "meta.lang", "-o", "out.json", "--threads", "1", "--json").outcome
    assert outcome.pop("seconds")
    expected = library.report({"one": saved, "two": saved}, JsonLines("in.jsonl", field="body"), group_by="meta.lang")
    tokens = [tokenizer.tokens for tokenizer in expected.numbers.tokenizers]
    unused = [len(tokenizer.unused) for tokenizer in expected.numbers.tokenizers]
    assert outcome == {
        "command": "report",
        "ok": True,
        "output": "out.json",
        "numbers": "out.json",
        "texts": 2,
        "bytes": 29,
        "words": 8,
        "tokenizers": [
            {"name": name, "tokens": count, "unused": never}
            for name, count, never in zip(("one", "two"), tokens, unused, strict=True)
        ],
    }
    assert Path("out.json").read_text(encoding="utf-8") == expected.to_json()
    assert not Path("out.html").exists()


def test_options_of_the_evaluation(lexmill: Run, saved: str) -> None:
    Path("lines").mkdir()
    Path("lines/eng.txt").write_text("the cat\n")
    Path("lines/deu.txt").write_text("der Hut\n")
    options = ("--parallel", "lines", "--base", "eng", "--alpha", "3", "--words", "unicode", "--sample-every", "1")
    pytest.importorskip("regex")
    assert lexmill("report", saved, "in.txt.gz", "-o", "out.json", *options).code == 0
    found = json.loads(Path("out.json").read_text(encoding="utf-8"))["evaluation"]
    assert found["manifest"]["parameters"] == {
        "alpha": 3.0,
        "words": "unicode",
        "reference": Path(saved).parent.name,
        "base": "eng",
        "sample_every": 1,
    }
    expected = library.evaluate(
        {Path(saved).parent.name: saved},
        "in.txt.gz",
        parallel="lines",
        base="eng",
        alpha=3,
        words="unicode",
        sample_every=1,
    )
    assert found == json.loads(json.dumps(expected.to_dict(candidates=200)))
    Path("lines/deu.txt").write_text("der Hut\nund\n")
    result = lexmill("report", saved, "in.txt.gz", "-o", "other.json", *options)
    assert (result.code, "must have 2 as" in result.stderr or "must have 1 as" in result.stderr) == (1, True)
    result = lexmill("report", saved, "in.txt.gz", "--base", "eng")
    assert (result.code, "there are no parallel files" in result.stderr) == (1, True)
    assert not Path("other.json").exists()


def test_standard_input_is_a_corpus(saved: str) -> None:
    done = subprocess.run(
        [*COMMAND, "report", saved, "-", "--input", "lines", "-o", "out.json"], input=b"the cat\nsat\n", check=True
    )
    assert done.returncode == 0
    numbers = json.loads(Path("out.json").read_text(encoding="utf-8"))
    assert [(group["name"], group["texts"]) for group in numbers["files"]] == [("stdin", 2)]


def test_errors_write_nothing(lexmill: Run, saved: str) -> None:
    Path("bad.jsonl").write_text('{"text": 1}\n')
    Path("bad.txt").write_bytes(b"\xff\n")
    Path("empty.txt").write_text("")
    for arguments, code, message in (
        ((saved, "bad.jsonl"), 1, "bad.jsonl, line 1"),
        ((saved, "bad.txt"), 1, "pass --errors replace"),
        ((saved, "empty.txt"), 1, "nothing to measure"),
        ((saved, "absent.txt"), 1, "absent.txt"),
        ((saved, "in.txt.gz", "--group-by", "lang"), 1, "which has fields"),
        ((saved, "in.txt.gz", "--against", saved), 2, "is named 2 times"),
        ((saved, "in.txt.gz", "-o", "-"), 2, "the page must be a file"),
        ((saved, "in.jsonl", "-o", "in.jsonl"), 2, "in.jsonl is an input and the output"),
        ((saved, "in.txt.gz", "-o", "absent/report.html"), 1, "no such directory"),
    ):
        result = lexmill("report", *arguments)
        assert (result.code, message in result.stderr) == (code, True), (arguments, result.stderr)
    assert not [path for path in Path().iterdir() if path.name.startswith(("report", ".report"))]


def test_a_missing_plotly_is_named(lexmill: Run, saved: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "plotly.graph_objects", None)
    result = lexmill("report", saved, "in.txt.gz")
    assert (result.code, result.stdout) == (1, b"")
    assert result.stderr == "error: the page of a report needs plotly: pip install 'lexmill[report]'\n"
    assert not Path("report.json").exists()


def test_skipped_records_are_told(lexmill: Run, saved: str) -> None:
    Path("bad.jsonl").write_text('{"text": 1}\n{"text": "the cat"}\n')
    result = lexmill("report", saved, "bad.jsonl", "--on-error", "skip", "-o", "out.json")
    assert result.code == 0
    assert result.stderr.startswith("warning: a record was left out: bad.jsonl, line 1")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no such pipes")
def test_a_page_that_is_a_pipe_is_refused_before_the_work(lexmill: Run, saved: str) -> None:
    os.mkfifo("pipe")
    result = lexmill("report", saved, "in.txt.gz", "-o", "pipe")
    assert result.code == 2
    assert "pipe is a device or a pipe" in result.stderr
    assert Path("pipe").is_fifo()


@pytest.mark.parametrize(("output", "message"), [("", "the name of a file is empty"), (".", "is a directory")])
def test_a_page_without_a_name(lexmill: Run, saved: str, output: str, message: str) -> None:
    result = lexmill("report", saved, "in.txt.gz", "-o", output)
    assert (result.code in (1, 2), message in result.stderr) == (True, True), result.stderr
