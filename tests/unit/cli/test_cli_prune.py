"""`lexmill prune` and `lexmill shrink`: the tokenizers and ids of the library."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import lexmill as library
from command_line import Run


def test_tokens_of_files_stay(lexmill: Run, saved: str) -> None:
    Path("in.txt").write_text("the cat sat on the mat\n" * 3)
    result = lexmill("prune", saved, "out.json", "in.txt", "--min-count", "6", "--old-ids", "old.npy")
    assert (result.code, result.stdout, result.stderr) == (0, b"", "")
    expected = library.prune(library.Tokenizer.from_file(saved), corpus="in.txt", min_count=6)
    assert Path("out.json").read_text(encoding="utf-8") == expected.tokenizer.to_str(pretty=True)
    assert np.load("old.npy").tolist() == expected.old_ids.tolist()
    assert 257 <= expected.tokenizer.get_vocab_size() < 300


def test_scripts_and_ids_are_criteria(lexmill: Run, saved: str) -> None:
    tokenizer = library.Tokenizer.from_file(saved)
    size = tokenizer.get_vocab_size()
    result = lexmill("prune", saved, "out.json", "--script", "Greek", "--keep-ids", "-", "--json", stdin=b"299\n 298")
    expected = library.prune(tokenizer, [299, 298], scripts=["Greek"])
    assert result.outcome == {
        "command": "prune",
        "ok": True,
        "outputs": ["out.json"],
        "vocab_size": len(expected.old_ids),
        "ids_before": size,
        "required": len(expected.required),
    }
    assert library.Tokenizer.from_file("out.json").to_str() == expected.tokenizer.to_str()


def test_languages_are_a_criterion(lexmill: Run, saved: str) -> None:
    lexmill("prune", saved, "out.json", "--language", "el", "--language", "ru-Latn")
    expected = library.prune(library.Tokenizer.from_file(saved), scripts=["Greek", "Latin"]).tokenizer
    assert library.Tokenizer.from_file("out.json").to_str() == expected.to_str()


def test_shrunk_tokenizer(lexmill: Run, saved: str) -> None:
    assert lexmill("shrink", saved, "out.json", "280", "--json").outcome["vocab_size"] == 280
    expected = library.shrink(library.Tokenizer.from_file(saved), 280).tokenizer
    assert library.Tokenizer.from_file("out.json").to_str() == expected.to_str()


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["out.json"], 2, "there is nothing to prune by; give FILES, --script, --language or --keep-ids"),
        (["out.json", "--script", "Latin", "--min-count", "2"], 2, "--min-count is for tokens of FILES"),
        (["-", "--script", "Latin"], 2, "outputs must be files, not stdout (-)"),
        (["out.json", "--script", "Latin", "--old-ids", "out.json"], 2, "out.json is OUT and --old-ids"),
        (["out.json", "--keep-ids", "text.txt"], 1, "text.txt must have ids, but has "),
        (["out.json", "--script", "Elvish"], 1, "scripts has 'Elvish'"),
        (["out.json", "--language", "qaa"], 1, "languages has 'qaa', whose script is not known"),
    ],
)
def test_wrong_criteria(lexmill: Run, saved: str, arguments: list[str], code: int, message: str) -> None:
    result = lexmill("prune", saved, *arguments)
    assert (result.code, message in result.stderr) == (code, True), result.stderr
    assert not Path("out.json").exists()


def test_too_small_a_size(lexmill: Run, saved: str) -> None:
    result = lexmill("shrink", saved, "out.json", "200")
    assert result.code == 1
    assert "n is 200 but must be at least 257" in result.stderr
