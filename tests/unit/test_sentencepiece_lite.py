"""`.spm.fb` files: read as the `.model` of the same tokenizer, written with SentencePiece's bytes."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from cases import load_cases
from lexmill import Tokenizer, models, normalizers
from lexmill.errors import FormatError, OptionError
from model_file import field, piece
from peers import charsmap

CASES = load_cases("spm_lite.json")
RULES = charsmap({"a": "b"})


def read(tmp_path: Path, data: bytes, name: str = "m.model") -> Tokenizer:
    path = tmp_path / name
    path.write_bytes(data)
    return Tokenizer.from_spm(path)


@pytest.mark.parametrize("case", CASES)
def test_both_files_give_the_same_tokenizer(case: dict[str, Any], tmp_path: Path) -> None:
    lite = read(tmp_path, base64.b64decode(case["lite"]), "m.spm.fb")
    model = read(tmp_path, base64.b64decode(case["model"]))
    assert lite.to_str() == model.to_str()
    assert lite.encode_special_tokens
    for text in ["the lowest river", "  slow   wind ", "low<x> \N{GRINNING FACE}<s>", ""]:
        assert lite.encode(text).ids == model.encode(text).ids
        assert lite.decode(lite.encode(text).ids) == model.decode(model.encode(text).ids)


@pytest.mark.parametrize("case", CASES)
def test_the_file_has_the_bytes_of_the_converter(case: dict[str, Any], tmp_path: Path) -> None:
    read(tmp_path, base64.b64decode(case["model"])).save_spm(tmp_path / "ours.spm.fb")
    assert (tmp_path / "ours.spm.fb").read_bytes() == base64.b64decode(case["lite"])


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\x04\0\0\0\x7f\0\0\0", "a vtable 127 bytes before, which is before the file"),
        (b"\x40\0\0\0\0\0\0\0", "4 bytes announced beyond the end, byte 8"),
        (b"\x0c\0\0\0\x04\0\x04\0\0\0\0\0\x08\0\0\0", "no piece"),
    ],
)
def test_a_malformed_file_is_refused(tmp_path: Path, data: bytes, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        read(tmp_path, data, "m.spm.fb")


def test_a_shorter_file_is_refused(tmp_path: Path) -> None:
    data = base64.b64decode(CASES[0].values[0]["lite"])
    for end in range(0, len(data) - 1100, 7):
        with pytest.raises(FormatError):
            read(tmp_path, data[:end], "m.spm.fb")


def test_models_without_a_place_in_the_file_are_refused(tmp_path: Path) -> None:
    words = b"".join(piece(*each) for each in [("<unk>", 0.0, 2), ("\u2581a", 0.0, 1)]) + field(2, field(3, 3))
    with pytest.raises(OptionError, match="not a model of words or characters"):
        read(tmp_path, words).save_spm(tmp_path / "w.spm.fb")
    rules = b"".join(piece(*each) for each in [("<unk>", 0.0, 2), ("a", -1.0, 1)]) + field(5, field(2, RULES))
    with pytest.raises(OptionError, match="rules of denormalization"):
        read(tmp_path, rules).save_spm(tmp_path / "r.spm.fb")
    long = Tokenizer(models.Unigram([("<unk>", 0.0), ("a" * 5000, -1.0)], 0))
    long.normalizer = normalizers.Replace(" ", "\u2581")
    with pytest.raises(OptionError, match="at most 4096 bytes, one has 5000"):
        long.save_spm(tmp_path / "l.spm.fb")
