"""FILES and outputs: one rule for every command."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

pytest.importorskip("typer", reason="the command line is an extra")

from command_line import Run
from lexmill import Tokenizer

TEXTS = ["the cat sat", "on the mat"]
WORDS = ("--model", "wordlevel", "--vocab-size", "99", "--pre-tokenizer", "whitespace-split")


@pytest.fixture(autouse=True)
def corpus() -> None:
    lines = "".join(json.dumps({"text": text, "other": text.upper()}) + "\n" for text in TEXTS)
    for folder in ("data", "data/_temporary"):
        Path(folder).mkdir()
        Path(folder, "1.jsonl").write_text(lines)
    Path("data/2.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    Path("data/_SUCCESS").touch()
    Path("text.txt").write_text("\n".join(TEXTS))


FILES = ["data", "data/*.jsonl*", "data/1.jsonl", "data/2.jsonl.gz"]


@pytest.mark.parametrize("is_url", [False, True])
@pytest.mark.parametrize("files", FILES)
def test_every_command_reads_what_the_name_says(lexmill: Run, saved: str, files: str, is_url: bool) -> None:
    known, texts = Tokenizer.from_file(saved), TEXTS * (2 if files in FILES[:2] else 1)
    tokens = sum(len(known.encode(text)) for text in texts)
    files = f"file://{Path.cwd()}/{files}" if is_url else files
    assert lexmill("train", files, *WORDS).code == 0
    assert sorted(Tokenizer.from_file("tokenizer.json").get_vocab()) == ["<unk>", "cat", "mat", "on", "sat", "the"]
    assert lexmill("train", files, *WORDS, "--field", "other").code == 0
    assert "CAT" in Tokenizer.from_file("tokenizer.json").get_vocab()
    assert lexmill("count", saved, files, "--json").outcome["tokens"] == tokens
    result = lexmill("encode", saved, files)
    assert result.stdout.decode().count("\n") == len(texts)
    assert len(result.stdout.split()) == tokens
    assert lexmill("encode", saved, files, "-o", "ids.npy", "--json").outcome["documents"] == len(texts)
    split = ("--pre-tokenizer", "whitespace-split")
    assert lexmill("count-words", files, "-o", "words", *split, "--json").outcome["total"] == 3 * len(texts)
    assert lexmill("estimate", files, *split, "--json").outcome["words"] == 3 * len(texts)
    assert lexmill("tokenize", saved, files, "-o", "tokens", "--json").outcome["tokens"] == tokens
    assert lexmill("report", saved, files, "-o", "report.json", "--json").code == 0


@pytest.mark.parametrize(
    "command", ["train", "encode", "count", "count-words", "tokenize", "estimate", "report", "bench"]
)
@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("x.txt", "x.txt is a Parquet file"),
        ("none/*.jsonl", "none/*.jsonl: no file is there"),
        ("nothing://bucket/a.jsonl", "nothing://bucket/a.jsonl is not on this machine, and fsspec cannot read it"),
    ],
)
def test_what_is_no_text_is_named(lexmill: Run, saved: str, command: str, file: str, message: str) -> None:
    Path("x.txt").write_bytes(b"PAR1\x15\x04\x15\x00 and more PAR1")
    tokenizer = () if command in ("train", "count-words", "estimate") else (saved,)
    needed = {"train": ("--vocab-size", "300"), "count-words": ("-o", "words"), "tokenize": ("-o", "tokens")}
    replace = () if command == "estimate" else ("--errors", "replace")
    result = lexmill(command, *tokenizer, file, *needed.get(command, ()), *replace)
    assert (result.code, result.stdout) == (1, b"")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert not Path("tokenizer.json").exists()


OUTPUTS = [
    ("train", "text.txt", "--vocab-size", "300", "-o", "s3://b/t"),
    ("train", "text.txt", "--vocab-size", "300", "--max-memory", "1GB", "--folder", "s3://b/t"),
    ("encode", "T", "text.txt", "-o", "s3://b/t"),
    ("encode", "T", "text.txt", "-o", "ids.npy", "--row-splits", "gs://b/t"),
    ("decode", "T", "s3://b/ids.npy"),
    ("count-words", "text.txt", "-o", "s3://b/t"),
    ("count-words", "text.txt", "-o", "words", "--checkpoint", "s3://b/t"),
    ("merge-counts", "words", "-o", "s3://b/t"),
    ("merge-tokens", "tokens", "-o", "s3://b/t"),
    ("pack-tokens", "tokens", "-o", "s3://b/t", "--length", "8"),
    ("report", "T", "data", "-o", "s3://b/t.json"),
    ("bench", "T", "data", "-o", "s3://b/t.json"),
    ("convert", "T", "s3://b/t.json"),
    ("convert", "s3://b/t.json", "t.json"),
    ("count", "https://example.org/tokenizer.json", "text.txt"),
]


@pytest.mark.parametrize("arguments", OUTPUTS, ids=" ".join)
def test_urls_are_refused(lexmill: Run, saved: str, arguments: tuple[str, ...]) -> None:
    Path("words").touch()
    before = sorted(Path.cwd().iterdir())
    result = lexmill(*(saved if argument == "T" else argument for argument in arguments))
    assert result.code in (1, 2)
    assert "is not on this machine" in result.stderr
    assert sorted(Path.cwd().iterdir()) == before


@pytest.mark.parametrize("command", ["train", "encode", "count"])
def test_stdin_of_another_format_is_named(lexmill: Run, saved: str, command: str) -> None:
    arguments = (command, "-", "--vocab-size", "300") if command == "train" else (command, saved, "-")
    result = lexmill(*arguments, "--errors", "replace", stdin=gzip.compress(b"text"))
    assert (result.code, result.stdout) == (1, b"")
    assert "stdin is compressed with gzip" in result.stderr


def test_stdin_and_files_of_records_train_together(lexmill: Run) -> None:
    assert lexmill("train", "data", "-", "text.txt", *WORDS, stdin=b"dog").code == 0
    assert {"dog", "cat"} <= set(Tokenizer.from_file("tokenizer.json").get_vocab())


def test_a_separator_is_for_text(lexmill: Run, saved: str) -> None:
    result = lexmill("encode", saved, "text.txt", "data/1.jsonl", "--separator", "||")
    assert result.code == 1
    assert "--separator is for text files, and data/1.jsonl holds records" in result.stderr


def test_an_asked_format_goes_before_the_name(lexmill: Run, saved: str) -> None:
    Path("data/1.jsonl").rename("plain")
    assert lexmill("count", saved, "plain", "--input", "jsonl", "--json").outcome["tokens"] == sum(
        len(Tokenizer.from_file(saved).encode(text)) for text in TEXTS
    )
    lines = len(lexmill("encode", saved, "text.txt", "--input", "lines").stdout.splitlines())
    assert lines == len(TEXTS)


def test_bytes_of_records_are_no_measure_of_tokens(lexmill: Run, saved: str) -> None:
    shown = lexmill("count", saved, "data/1.jsonl", "text.txt").stdout.decode().splitlines()
    assert [line.split()[2] == "-" for line in shown[1:]] == [True, False, True]
