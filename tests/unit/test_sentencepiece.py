from __future__ import annotations

import struct
from pathlib import Path

import pytest

from lexmill import Tokenizer, decoders, models, normalizers, pre_tokenizers
from lexmill.errors import FileError, FormatError, OptionError


def field(number: int, value: bytes | int | float) -> bytes:
    """One field on the wire."""
    if isinstance(value, bytes):
        return varint(number << 3 | 2) + varint(len(value)) + value
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    return varint(number << 3) + varint(value)


def varint(value: int) -> bytes:
    low, rest = value & 0x7F, value >> 7
    return bytes([low | 0x80]) + varint(rest) if rest else bytes([low])


def piece(text: str, score: float, kind: int = 1) -> bytes:
    return field(1, field(1, text.encode()) + field(2, score) + field(3, kind))


PIECES = [("<unk>", 0.0, 2), ("<s>", 0.0, 3), ("▁", -2.0, 1), ("a", -1.0, 1), ("b", -1.5, 1), ("▁ab", -3.0, 1)]
SMALL = b"".join(piece(*each) for each in PIECES)


def read(tmp_path: Path, data: bytes) -> Tokenizer:
    path = tmp_path / "m.model"
    path.write_bytes(data)
    return Tokenizer.from_spm(path)


def test_defaults_are_those_of_the_format(tmp_path: Path) -> None:
    tokenizer = read(tmp_path, SMALL)
    assert tokenizer.encode("  ab   ab x<s>").tokens == ["▁ab", "▁ab", "▁", "x<s>"]
    assert tokenizer.encode("ab ab").offsets == [(0, 2), (2, 5)]
    assert tokenizer.decode([5, 5]) == "ab ab"
    tokenizer.encode_special_tokens = False
    assert tokenizer.encode("<s>ab").ids == [1, 5]
    assert tokenizer.encode("").ids == []


def test_user_defined_pieces_are_always_taken(tmp_path: Path) -> None:
    assert read(tmp_path, SMALL + piece("aab", -99.0)).encode("aab").tokens == ["▁", "a", "a", "b"]
    tokenizer = read(tmp_path, SMALL + piece("aab", 0.0, 4) + piece("aa", 0.0, 5))
    assert tokenizer.encode("aab").tokens == ["▁", "aab"]
    assert tokenizer.encode("aa").tokens == ["▁", "a", "a"]


def test_flags_of_normalization_are_followed(tmp_path: Path) -> None:
    flags = field(3, field(3, 0) + field(4, 0))
    assert read(tmp_path, SMALL + flags).encode(" ab  a").tokens == ["▁ab", "▁", "▁", "a"]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "model at byte 0: no piece"),
        (SMALL[:-1], "model at byte 70: 14 bytes announced but only 13 are left"),
        (b"\x0a" + b"\xff" * 10, "model at byte 11: a number of more than 10 bytes"),
        (b"\x0a\x80\x80\x80\x80\x28", "model at byte 6: 10737418240 bytes announced but only 0 are left"),
        (b"\x0b", "model at byte 1: unknown wire type 3"),
        (field(1, 7), "model at byte 2: expected bytes, found Varint(7)"),
        (field(1, field(2, 3)), "piece at byte 4: expected a 32-bit float, found Varint(3)"),
        (field(1, field(1, b"\xff")), "piece at byte 5: text is not UTF-8 at byte 0"),
        (piece("a", 0.0, 9), "piece at byte 12: type is 9 but must be from 1 to 6"),
        (piece("", 0.0), "piece at byte 11: a piece without text"),
        (SMALL + piece("a", -1.0), "model: piece `a` is there twice"),
        (SMALL + field(2, field(3, 8)), "trainer_spec: model_type is 8 but must be from 1 to 4"),
        (SMALL + field(3, field(2, b"\xff")), "precompiled_charsmap: 1 bytes, but its size alone takes 4"),
    ],
    ids=str,
)
def test_a_malformed_file_is_refused_with_its_place(tmp_path: Path, data: bytes, message: str) -> None:
    with pytest.raises(FormatError) as raised:
        read(tmp_path, data)
    assert str(raised.value) == message


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (SMALL + field(2, field(3, 3)), "models of words (model_type WORD) are not read"),
        (SMALL + field(2, field(24, 1)), "white space at the end of words (treat_whitespace_as_suffix) is not read"),
        (
            SMALL + piece("x", 0.0, 4) + field(2, field(3, 2)),
            "BPE models with user-defined or unused pieces are not read",
        ),
        (SMALL + piece("x", float("nan")), "score is NaN for `x` but must be finite"),
    ],
    ids=str,
)
def test_what_is_not_supported_is_named(tmp_path: Path, data: bytes, message: str) -> None:
    with pytest.raises(OptionError) as raised:
        read(tmp_path, data)
    assert str(raised.value) == message


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="cannot read"):
        Tokenizer.from_spm(tmp_path / "none.model")


def test_every_cut_of_a_file_is_read_or_refused(tmp_path: Path) -> None:
    for end in range(len(SMALL)):
        try:
            read(tmp_path, SMALL[:end])
        except FormatError:
            continue


def test_written_file_is_read_back(tmp_path: Path) -> None:
    tokenizer = read(tmp_path, SMALL + piece("aab", 0.0, 4))
    tokenizer.save_spm(tmp_path / "again.model")
    assert Tokenizer.from_spm(tmp_path / "again.model").to_str() == tokenizer.to_str()


def test_what_cannot_be_written_is_named(tmp_path: Path) -> None:
    path = tmp_path / "m.model"
    for tokenizer, message in [
        (Tokenizer(models.BPE()), "save_spm writes Unigram models, this one is BPE"),
        (Tokenizer(models.Unigram()), "save_spm cannot express the stage that leaves spaces as they are"),
    ]:
        with pytest.raises(OptionError) as raised:
            tokenizer.save_spm(path)
        assert str(raised.value) == message
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.normalizer = normalizers.NFC()
    with pytest.raises(OptionError, match=r"^save_spm cannot express the stage Unicode\(Nfc\)$"):
        tokenizer.save_spm(path)
    tokenizer.normalizer = None
    tokenizer.add_tokens(["x"])
    with pytest.raises(OptionError, match=r"^added token `x` with id 1 is no piece of the model$"):
        tokenizer.save_spm(path)
    assert not path.exists()
