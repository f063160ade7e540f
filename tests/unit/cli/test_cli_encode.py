from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("typer", reason="the command line is an extra")

from command_line import TEXT, Run
from lexmill import Tokenizer


def test_decode_inverts_encode(lexmill: Run, saved: str) -> None:
    assert lexmill("encode", saved, "text.txt", "-o", "ids.npy").code == 0
    assert lexmill("decode", saved, "ids.npy", "-o", "back.txt").code == 0
    assert Path("back.txt").read_bytes() == TEXT.encode()


def test_ids_are_those_of_the_library(lexmill: Run, saved: str) -> None:
    lexmill("encode", saved, "text.txt", "-o", "ids.npy")
    ids = np.load("ids.npy")
    assert ids.dtype == np.uint16
    assert ids.tolist() == Tokenizer.from_file(saved).encode(TEXT).ids


def test_each_file_is_a_document(lexmill: Run, saved: str) -> None:
    Path("empty.txt").touch()
    lexmill("encode", saved, "text.txt", "empty.txt", "text.txt", "-o", "ids.npy", "--row-splits", "splits.npy")
    length = len(np.load("ids.npy")) // 2
    assert np.load("splits.npy").tolist() == [0, length, length, 2 * length]


@pytest.mark.parametrize("end", ["", "\n"])
def test_lines_are_documents_and_come_back_ended(lexmill: Run, saved: str, end: str) -> None:
    Path("text.txt").write_bytes((TEXT + end).encode())
    lines = lexmill("encode", saved, "text.txt", "--separator", "\\n").stdout
    assert len(lines.splitlines()) == len(TEXT.split("\n"))
    assert lexmill("decode", saved, "-", "--separator", "\\n", stdin=lines).stdout == f"{TEXT}\n".encode()


def test_row_splits_part_documents_again(lexmill: Run, saved: str) -> None:
    lexmill("encode", saved, "text.txt", "--separator", "the", "-o", "ids.npy", "--row-splits", "splits.npy")
    back = lexmill("decode", saved, "ids.npy", "--row-splits", "splits.npy", "--separator", "|")
    assert back.stdout.decode() == TEXT.removesuffix("the").replace("the", "|") + "|"


@pytest.mark.parametrize("separator", [(), ("--separator", "\\n"), ("--separator", "the")])
def test_stdin_encodes_as_a_file_does(lexmill: Run, saved: str, separator: tuple[str, ...]) -> None:
    for text in (TEXT, "", "the", "x\n", "\n\n"):
        Path("text.txt").write_bytes(text.encode())
        from_file = lexmill("encode", saved, "text.txt", *separator)
        assert lexmill("encode", saved, "-", *separator, stdin=text.encode()) == from_file


def test_files_around_stdin_keep_their_order(lexmill: Run, saved: str) -> None:
    Path("other.txt").write_text("the end")
    files = lexmill("encode", saved, "text.txt", "other.txt", "text.txt").stdout
    assert lexmill("encode", saved, "text.txt", "-", "text.txt", stdin=b"the end").stdout == files


def test_special_tokens_are_written_if_told(lexmill: Run, saved: str) -> None:
    assert lexmill("decode", saved, "-", stdin=b"0\n").stdout == b""
    assert lexmill("decode", saved, "-", "--special-tokens", stdin=b"0\n").stdout == b"<end>"


def test_reports_the_outcome_as_json(lexmill: Run, saved: str) -> None:
    encoded = lexmill("encode", saved, "text.txt", "-o", "ids.npy", "--json").outcome
    assert encoded.pop("seconds") != 0
    tokens, size = len(np.load("ids.npy")), len(TEXT.encode())
    sizes = {"documents": 1, "tokens": tokens, "bytes": size}
    files = {"output": "ids.npy", "row_splits": None, "dtype": "uint16"}
    assert encoded == {"command": "encode", "ok": True, **files, **sizes}
    decoded = lexmill("decode", saved, "ids.npy", "-o", "back.txt", "--json").outcome
    assert decoded == {"command": "decode", "ok": True, "output": "back.txt", **sizes}
