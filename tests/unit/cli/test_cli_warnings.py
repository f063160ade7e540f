"""Warnings of commands, on stderr."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from command_line import Run
from lexmill import Tokenizer, models, processors
from lexmill.pre_tokenizers import Whitespace


@pytest.fixture
def tokenizer() -> Tokenizer:
    words = ["<s>", "</s>", "a", "b", "c"]
    tokenizer = Tokenizer(models.WordLevel({word: at for at, word in enumerate(words)}, unk_token="a"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.add_special_tokens(["<s>", "</s>"])
    return tokenizer


def test_the_shell_tells_it_too(tokenizer: Tokenizer, lexmill: Run) -> None:
    tokenizer.enable_truncation(4)
    tokenizer.save("limited.json")
    Path("in.txt").write_text("a b c " * 100)
    for arguments in (["count", "limited.json", "in.txt"], ["encode", "limited.json", "in.txt", "-o", "ids.npy"]):
        result = lexmill(*arguments)
        assert result.code == 0
        assert "warning: texts are not taken as they are: 1 of 1 are cut to 4 tokens" in result.stderr
        assert "no_truncation()" not in result.stderr


def test_warnings_of_commands(tokenizer: Tokenizer, lexmill: Run) -> None:
    tokenizer.post_processor = processors.TemplateProcessing("$A </s>", special_tokens=[("</s>", 1)])
    tokenizer.save("tokenizer.json")
    Path("in.txt").write_text("a b\n")
    result = lexmill("tokenize", "tokenizer.json", "in.txt", "in.txt", "-o", "out", "--end-token", "</s>")
    assert result.code == 0
    assert "warning: an input is given more than once, and read as often: in.txt\n" in result.stderr
    assert "leave out end_token, or pass --no-special-tokens\n" in result.stderr
    for command in (["count", "tokenizer.json"], ["train", "--vocab-size", "300", "-o", "new.json"]):
        result = lexmill(*command, "in.txt", "in.txt")
        assert (result.code, result.stderr.count("given more than once")) == (0, 1), result.stderr


def test_skipped_records_are_counted_in_json(tokenizer: Tokenizer, lexmill: Run) -> None:
    tokenizer.save("tokenizer.json")
    Path("in.jsonl").write_text('{"text": "a"}\n{}\n{"text": 7}\n')
    command = ("tokenize", "tokenizer.json", "in.jsonl", "-o", "out", "--on-error", "skip", "--json")
    assert lexmill(*command).outcome["skipped"] == 2
    assert lexmill(*command, "--resume").outcome["skipped"] == 2
    assert json.loads(Path("out/manifest.json").read_text())["total"]["skipped"] == 2
    assert lexmill("merge-tokens", "out", "-o", "all", "--json").outcome["skipped"] == 2
