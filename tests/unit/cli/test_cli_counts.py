"""`lexmill count-words`, `lexmill merge-counts` and `lexmill train --from-counts`."""

from __future__ import annotations

import gzip
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from command_line import Run
from lexmill import WordCounts, count_words
from lexmill.pre_tokenizers import ByteLevel


def test_counts_of_parts_train_what_the_files_train(lexmill: Run) -> None:
    Path("1.txt").write_text("ab ab abc\n" * 9)
    Path("2.txt").write_text("abc cd cd\n" * 9)
    assert lexmill("count-words", "2.txt", "--first-source", "1", "-o", "2.counts").code == 0
    assert lexmill("count-words", "1.txt", "-o", "1.counts", "--max-memory", "64MB").code == 0
    assert lexmill("merge-counts", "2.counts", "1.counts", "-o", "all.counts").code == 0
    assert lexmill("train", "--from-counts", "all.counts", "--vocab-size", "270", "-o", "counted.json").code == 0
    assert lexmill("train", "1.txt", "2.txt", "--vocab-size", "270", "-o", "read.json").code == 0
    assert Path("counted.json").read_bytes() == Path("read.json").read_bytes()


@pytest.mark.parametrize("algorithm", ["boundless", "superbpe"])
def test_counts_of_parts_train_superwords(lexmill: Run, algorithm: str) -> None:
    Path("1.txt").write_text("of the sea\n" * 9)
    Path("2.txt").write_text("of the sun\n" * 9)
    kind = ("--superwords", algorithm)
    counted = lexmill("count-words", "2.txt", "--first-source", "1", "-o", "2.counts", *kind, "--json")
    assert counted.outcome["phrases"] == 2
    assert lexmill("count-words", "1.txt", "-o", "1.counts", *kind).code == 0
    assert lexmill("merge-counts", "2.counts", "1.counts", "-o", "all.counts").code == 0
    sizes = ("--vocab-size", "270", "--initial-vocab-size", "266", *kind)
    assert lexmill("train", "--from-counts", "all.counts", *sizes, "-o", "counted.json").code == 0
    assert lexmill("train", "1.txt", "2.txt", *sizes, "-o", "read.json").code == 0
    assert Path("counted.json").read_bytes() == Path("read.json").read_bytes()
    assert "ofĠthe" in json.loads(Path("read.json").read_bytes())["model"]["vocab"]


def test_fields_and_columns_are_counted(lexmill: Run) -> None:
    with gzip.open("1.jsonl.gz", "wt") as file:
        file.write('{"a": {"b": "x y"}}\n{"a": 1}\n')
    Path("1.csv").write_text("n,t\n1,x y\n")
    result = lexmill("count-words", "1.jsonl.gz", "--field", "a.b", "--on-error", "skip", "-o", "json", "--json")
    assert result.stderr.startswith("warning: a record was left out: 1.jsonl.gz, line 2: ")
    assert (result.outcome["words"], result.outcome["skipped"]) == (2, 1)
    assert lexmill("count-words", "1.csv", "--field", "t", "-o", "name").code == 0
    assert list(WordCounts.load("name")) == list(WordCounts.load("name"))
    assert [word for word, *_ in WordCounts.load("name")] == [word for word, *_ in WordCounts.load("json")]


def test_rare_words_are_dropped_and_counted(lexmill: Run) -> None:
    Path("1.txt").write_text("a b b")
    lexmill("count-words", "1.txt", "--pre-tokenizer", "whitespace-split", "-o", "all")
    data = json.loads(lexmill("merge-counts", "all", "--min-count", "2", "-o", "some", "--json").stdout)
    assert (data["words"], data["dropped_words"], data["dropped_total"]) == (1, 1, 1)


def test_what_a_corpus_takes_is_told(lexmill: Run) -> None:
    Path("1.txt").write_text("ab ab abc\n" * 90)
    data = json.loads(lexmill("estimate", "1.txt", "--json").stdout)
    assert (data["bytes"], data["words"], data["distinct_words"]) == (900, 360, 4)
    assert b"distinct words" in lexmill("estimate", "1.txt").stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train", "--vocab-size", "9"], "give either FILES or --domain or --from-counts"),
        (
            ["train", "text.txt", "--from-counts", "text.txt", "--vocab-size", "9"],
            "give either FILES or --domain or --from-counts",
        ),
        (["count-words", "text", "-o", "out"], "text does not say how texts are found in it; pass --input"),
        (["train", "--from-counts", "text.txt", "--vocab-size", "9"], "does not hold word counts"),
        (["train", "text.txt", "--max-memory", "lots", "--vocab-size", "9"], "max_memory is 'lots'"),
        (["count-words", "text.txt", "--max-memory", "lots", "-o", "out"], "max_memory is 'lots'"),
        (["count-words", "text.txt", "--max-memory", "9" * 400, "-o", "out"], "max_memory is '999"),
        (["count-words", "text.txt", "--resume", "-o", "out"], "--resume continues the counts in --checkpoint"),
        (["merge-counts", "none", "-o", "out"], "none: no such file"),
        (["count-words", "text.txt", "--superwords", "no", "-o", "out"], "'no' is not one of 'boundless', 'superbpe'"),
        (["count-words", "text.txt", "--superwords", "superbpe", "--pre-tokenizer", "bert", "-o", "out"], "superwords"),
        (["train", "text.txt", "--initial-vocab-size", "9", "--vocab-size", "9"], "which is not given"),
        (
            ["train", "text.txt", "--superwords", "superbpe", "--model", "unigram", "--vocab-size", "9"],
            "is for --model",
        ),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_written(lexmill: Run, arguments: list[str], message: str) -> None:
    result = lexmill(*arguments)
    assert result.code != 0
    assert message in result.stderr
    assert not Path("out").exists()


def test_counting_is_interrupted_and_resumed_by_the_command_that_is_printed(tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("".join(f"w{number} a b\n" for number in range(1_500_000)))
    program = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler);"
        "from lexmill.cli import main; sys.exit(main())"
    )
    arguments = ["count-words", str(text), "-o", str(tmp_path / "counts"), "--checkpoint", str(tmp_path / "parts")]
    with subprocess.Popen([sys.executable, "-c", program, *arguments], stderr=subprocess.PIPE, text=True) as process:
        while not (tmp_path / "parts" / "parts.jsonl").exists():
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate()
    assert process.returncode == 130, said
    command = said.rpartition("interrupted; to go on: lexmill ")[2].split()
    assert command == [*arguments, "--resume"]
    assert not (tmp_path / "counts").exists()
    subprocess.run([sys.executable, "-m", "lexmill", *command], check=True, capture_output=True)
    count_words([text], pre_tokenizer=ByteLevel(add_prefix_space=False)).save(tmp_path / "whole")
    assert (tmp_path / "counts").read_bytes() == (tmp_path / "whole").read_bytes()
