from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("typer", reason="the command line is an extra")

from command_line import TEXT, Run
from lexmill import Tokenizer, __version__


def test_counts_each_file_and_all(lexmill: Run, saved: str) -> None:
    tokens = len(Tokenizer.from_file(saved).encode(TEXT).ids)
    size = len(TEXT.encode())
    counted = {"path": "text.txt", "tokens": tokens, "bytes": size}
    outcome = lexmill("count", saved, "text.txt", "text.txt", "--json").outcome
    totals = {"tokens": 2 * tokens, "bytes": 2 * size}
    assert outcome == {"command": "count", "ok": True, "files": [counted, counted], **totals}
    table = lexmill("count", saved, "text.txt", "text.txt").stdout.decode().splitlines()
    assert [line.split()[-1] for line in table] == ["file", "text.txt", "text.txt", "total"]


def test_an_empty_file_has_no_tokens(lexmill: Run, saved: str) -> None:
    Path("empty.txt").touch()
    assert lexmill("count", saved, "empty.txt", "--json").outcome["tokens"] == 0
    assert lexmill("count", saved, "empty.txt").stdout.split()[-4:] == [b"0", b"0", b"-", b"empty.txt"]


def test_shows_pipeline_sizes_and_a_cut_text(lexmill: Run, saved: str) -> None:
    shown = lexmill("inspect", saved, "the [b]\x1b[1m 🦀").stdout.decode()
    assert "ByteLevel(add_prefix_space=false" in shown
    assert "0  '<end>'" in shown
    last = shown.splitlines()[-1]
    assert "\x1b" not in shown
    assert last.replace("|", "") == "the [b]\\x1b[1m 🦀"


def test_json_has_the_ids_of_the_text(lexmill: Run, saved: str) -> None:
    outcome = lexmill("inspect", saved, "-", "--json", "--top", "2", stdin=TEXT.encode()).outcome
    encoding = Tokenizer.from_file(saved).encode(TEXT)
    assert outcome["sample"] == {"text": TEXT, "ids": encoding.ids, "tokens": encoding.tokens}
    assert outcome["special_tokens"] == [{"id": 0, "token": "<end>"}]
    longest = outcome["longest_tokens"]
    assert isinstance(longest, list)
    assert len(longest) == 2


def test_version_is_the_packages(lexmill: Run) -> None:
    result = lexmill("--version")
    assert result == (0, f"lexmill {__version__}\n".encode(), "")
