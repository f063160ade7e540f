from __future__ import annotations

import json
import struct
from itertools import pairwise
from pathlib import Path

import pytest

from lexmill import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers
from lexmill.errors import FileError, FormatError, OptionError
from model_file import field, piece

PIECES = [("<unk>", 0.0, 2), ("<s>", 0.0, 3), ("▁", -2.0, 1), ("a", -1.0, 1), ("b", -1.5, 1), ("▁ab", -3.0, 1)]
SMALL = b"".join(piece(*each) for each in PIECES)
TOKENS = {"<unk>": 0, "a": 1, "b": 2, "c": 3, "bc": 4, "ab": 5, "abc": 6}


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


@pytest.mark.parametrize(("score", "tokens"), [(0.1, ["ab"]), (0.1000001, ["a", "b"])])
def test_each_byte_of_a_user_defined_piece_but_the_first_adds_a_tenth(
    tmp_path: Path, score: float, tokens: list[str]
) -> None:
    pieces = [("<unk>", 0.0, 2), ("a", 0.0, 1), ("b", score, 1), ("ab", -9.0, 4)]
    data = b"".join(piece(*each) for each in pieces) + field(3, field(3, 0))
    assert read(tmp_path, data).encode("ab").tokens == tokens


def test_sums_beyond_a_hundred_thousand_begin_anew(tmp_path: Path) -> None:
    # `a` and `b` are better than `ab` by less than 32 bits of a larger sum tell.
    pieces = [("<unk>", 0.0, 2), ("▁", -3.0, 1), ("a", -1.0, 1), ("b", -1.001, 1), ("ab", -2.0015, 1)]
    turns = [0, 1639, 10_001, 11_640, 20_002, 20_003]
    for score in (-10.0, 10.0):
        data = b"".join(piece(*each) for each in [*pieces, ("x", score, 1)]) + field(3, field(3, 0))
        tokenizer = read(tmp_path, data)
        for turn, (first, second) in enumerate(pairwise(turns)):
            expected = ["b", "ab"][turn % 2]
            for count in (first, second - 1):
                assert tokenizer.encode("x" * count + "ab").tokens[-1] == expected, (score, count)


def test_flags_of_normalization_are_followed(tmp_path: Path) -> None:
    flags = field(3, field(3, 0) + field(4, 0))
    assert read(tmp_path, SMALL + flags).encode(" ab  a").tokens == ["▁ab", "▁", "▁", "a"]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "there is nothing in it"),
        (SMALL[:-1], "model at byte 70: 14 bytes announced but only 13 are left"),
        (b"\x0a" + b"\xff" * 10, "model at byte 11: a number of more than 10 bytes"),
        (b"\x0a\x80\x80\x80\x80\x28", "model at byte 6: 10737418240 bytes announced but only 0 are left"),
        (b"\x0b", "model at byte 1: unknown wire type 3"),
        (field(1, 7), "model at byte 2: expected bytes, found a number"),
        (field(1, field(2, 3)), "piece at byte 4: expected a 32-bit float, found a number"),
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
    assert str(raised.value).removeprefix(f"{tmp_path / 'm.model'}: ") == message


def test_what_is_not_supported_is_named(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"^score is NaN for `x` but must be finite$"):
        read(tmp_path, SMALL + piece("x", float("nan")))


BPE_MODEL, WORD_MODEL, CHAR_MODEL = (field(2, field(3, number)) for number in (2, 3, 4))
SUFFIX = field(2, field(24, 1))


def test_user_defined_pieces_are_never_merged_nor_normalized(tmp_path: Path) -> None:
    pieces = b"".join([SMALL, piece("ab", -4.0), piece("a  b", 0.0, 4), piece("ba", 0.0, 4), piece("x", 0.0, 3)])
    for kind, expected in [(BPE_MODEL, ["▁ab"]), (CHAR_MODEL, ["▁", "a", "b"])]:
        tokenizer = read(tmp_path, pieces + kind)
        encoding = tokenizer.encode("  ab a  bba ")
        # Both spaces stay, so that the piece itself is not met.
        assert encoding.tokens == [*expected, "▁", "a", "▁", "▁", "b", "ba"]
        assert encoding.offsets[-2:] == [(5, 9), (9, 11)]
        # A control piece is not found in text, also where it is a single character.
        assert tokenizer.encode("x").tokens == ["▁", "<unk>"]
        again = Tokenizer.from_str(tokenizer.to_str())
        assert again.encode("  ab a  bba ").tokens == encoding.tokens
        tokenizer.save_spm(tmp_path / "again.model")
        assert Tokenizer.from_spm(tmp_path / "again.model").to_str() == tokenizer.to_str()


@pytest.mark.parametrize(
    ("piece", "message"),
    [
        (("a", -4.0), "listed once, `a` is listed again"),
        (("", -4.0), "pieces with text and scores of 32 bits, `` with -4 is none"),
        (("c", -1e300), "`c` with -1"),
    ],
    ids=str,
)
def test_a_piece_that_a_model_file_cannot_hold_is_not_written(
    tmp_path: Path, piece: tuple[str, float], message: str
) -> None:
    tokenizer = read(tmp_path, SMALL)
    tokenizer.model = models.Unigram([*((text, score) for text, score, _ in PIECES), piece], 0)
    with pytest.raises(OptionError, match=message):
        tokenizer.save_spm(tmp_path / "again.model")
    assert not (tmp_path / "again.model").exists()


def test_words_begin_before_visible_spaces_and_unknown_ones_are_joined(tmp_path: Path) -> None:
    tokenizer = read(tmp_path, SMALL + WORD_MODEL)
    encoding = tokenizer.encode("ab x  y ab a<s>")
    assert encoding.ids == [5, 0, 5, 0]
    assert encoding.offsets == [(0, 2), (2, 7), (7, 10), (10, 15)]
    tokenizer.save_spm(tmp_path / "again.model")
    assert Tokenizer.from_spm(tmp_path / "again.model").to_str() == tokenizer.to_str()


def test_unknown_words_are_spelled_in_bytes_if_the_file_says_so(tmp_path: Path) -> None:
    letters = b"".join(piece(f"<0x{byte:02X}>", 0.0, 6) for byte in b"\xe2\x96\x81xy")
    tokenizer = read(tmp_path, SMALL + letters + field(2, field(3, 3) + field(35, 1)))
    encoding = tokenizer.encode("ab xy z")
    assert encoding.ids == [5, 6, 7, 8, 9, 10, 0]
    assert encoding.offsets == [(0, 2), *[(2, 5)] * 5, (5, 7)]


def test_white_space_may_stand_behind_words(tmp_path: Path) -> None:
    tokenizer = read(tmp_path, SMALL + piece("ab▁", -1.0) + SUFFIX)
    assert tokenizer.encode(" ab  ab").tokens == ["ab▁", "ab▁"]
    assert tokenizer.encode("  ").ids == []
    tokenizer.save_spm(tmp_path / "again.model")
    assert Tokenizer.from_spm(tmp_path / "again.model").to_str() == tokenizer.to_str()


def test_what_only_lexmill_has_is_named_in_the_file(tmp_path: Path) -> None:
    for data, names in [
        (SMALL + piece("x", 0.0, 4) + BPE_MODEL, ("SentencePiece", "SentencePieceBPE")),
        (SMALL + SUFFIX, ("SentencePiece", "Unigram")),
        (SMALL + WORD_MODEL, ("Replace", "SentencePieceWord")),
    ]:
        parts = json.loads(read(tmp_path, data).to_str())
        assert (parts["normalizer"]["normalizers"][0]["type"], parts["model"]["type"]) == names


def test_symbols_of_the_normalizer_must_be_user_defined_pieces(tmp_path: Path) -> None:
    tokenizer = read(tmp_path, SMALL + piece("x", 0.0, 4))
    tokenizer.normalizer = normalizers.SentencePiece(user_defined_symbols=["y", "x"])
    with pytest.raises(OptionError, match=r"^`y` must be a user-defined symbol of the normalizer and a user-defined"):
        tokenizer.save_spm(tmp_path / "again.model")


def test_a_long_piece_of_a_bpe_model_is_not_quadratic(tmp_path: Path) -> None:
    text = "ab" * 200_000
    tokenizer = read(tmp_path, SMALL + piece(text, -9.0) + piece(text + "a", -9.5) + BPE_MODEL)
    assert len(json.loads(tokenizer.to_str())["model"]["merges"]) == 1


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ('{"type": "SentencePieceBPE", "vocab": {"a": 0}, "merges": []}', "0 kinds for 1 tokens"),
        ('{"type": "SentencePieceWord", "vocab": {"a": 9}, "unk_token": "a", "sentencepiece_kinds": "1"}', "1 kinds"),
        ('{"type": "SentencePieceBPE", "vocab": {}, "merges": [], "sentencepiece_kinds": "7"}', "digit from 1 to 6"),
    ],
)
def test_kinds_must_fit_the_tokens(model: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Tokenizer.from_str(f'{{"model": {model}}}')


def test_the_prefix_stands_before_text_of_which_no_rule_leaves_anything(tmp_path: Path) -> None:
    # One rule, in a double-array trie: "a" is taken away.
    units = [98 << 10 | 0, 0]
    units += [0] * (256 - len(units))
    # Root: children at 98 ^ byte; "a" is at 98 ^ 97 = 3, has a value, and its children are at 3 ^ 4 = 7.
    units[3] = 4 << 10 | 1 << 8 | ord("a")
    units[7] = 1 << 31
    charsmap = struct.pack("<I256I", 1024, *units) + b"\0"
    for flags, expected in [(field(4, 0), ["▁"]), (b"", [])]:
        tokenizer = read(tmp_path, SMALL + field(3, field(2, charsmap) + flags))
        assert tokenizer.encode("a").tokens == expected
        assert tokenizer.encode("ab").tokens == ["▁", "b"]
        tokenizer.save_spm(tmp_path / "again.model")
        assert Tokenizer.from_spm(tmp_path / "again.model").to_str() == tokenizer.to_str()


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


RUNS, ENDS = " {2,}", r"\A +|[ ▁]+\z"


def without_one_rule(rule: str) -> Tokenizer:
    """Extra spaces go from within the text or from its ends, for which a file has but one flag."""
    tokenizer = Tokenizer(models.Unigram())
    replace = normalizers.Replace(Regex(rule), " " if rule == RUNS else "")
    tokenizer.normalizer = normalizers.Sequence([replace, normalizers.Replace(" ", "▁")])
    return tokenizer


def test_runs_of_spaces_may_go_before_words_are_cut(tmp_path: Path) -> None:
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Replace(Regex(RUNS), " ")
    stages = [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(stages)
    tokenizer.save_spm(tmp_path / "m.model")
    back = Tokenizer.from_spm(tmp_path / "m.model")
    assert back.normalizer is not None
    assert back.normalizer.normalize_str(" a   b ") == "▁a▁b"


@pytest.mark.parametrize("kind", ["SentencePieceBPE", "SentencePieceWord"])
def test_files_of_a_vocabulary_do_not_drop_kinds(tmp_path: Path, kind: str) -> None:
    data = SMALL + (piece("x", 0.0, 4) + BPE_MODEL if kind == "SentencePieceBPE" else WORD_MODEL)
    model = read(tmp_path, data).model
    before = sorted(tmp_path.iterdir())
    with pytest.raises(OptionError) as raised:
        model.save(str(tmp_path))
    assert str(raised.value) == f"files of a vocabulary cannot hold the kinds of the pieces of a {kind} model"
    assert sorted(tmp_path.iterdir()) == before


def test_models_of_characters_find_no_longer_pieces(tmp_path: Path) -> None:
    # The ids are those of sentencepiece 0.2.3, which has no id for the unused piece in text either.
    for more, text, ids in [(b"", "ab", [2, 3, 4]), (piece("c", 0.0, 5), "abc", [2, 3, 4, 0])]:
        tokenizer = read(tmp_path, SMALL + more + CHAR_MODEL)
        assert tokenizer.encode(text).ids == ids
        tokenizer.save_spm(tmp_path / "again.model")
        assert Tokenizer.from_spm(tmp_path / "again.model").to_str() == tokenizer.to_str()


def test_what_cannot_be_written_is_named(tmp_path: Path) -> None:
    path = tmp_path / "m.model"
    for tokenizer, message in [
        (Tokenizer(models.WordPiece()), "save_spm writes Unigram and BPE models, this one is WordPiece"),
        (Tokenizer(models.WordLevel()), "save_spm writes models of words only if from_spm has read them"),
        (
            Tokenizer(models.BPE()),
            "save_spm needs BPE with an unk_token and fuse_unk, without prefix, suffix, dropout and ignore_merges",
        ),
        (
            Tokenizer(models.BPE({"<unk>": 0, "a": 7}, [], unk_token="<unk>", fuse_unk=True)),
            "save_spm needs exactly one token an id, id 1 has none or two",
        ),
        (
            Tokenizer(models.BPE(TOKENS, [("b", "c"), ("a", "b"), ("ab", "c")], unk_token="<unk>", fuse_unk=True)),
            "save_spm cannot express this model: `a` and `bc` would be merged to `abc`",
        ),
        (
            without_one_rule(RUNS),
            r'save_spm cannot express the stage Replace of " {2,}" without that of "\\A +|[ ▁]+\\z"',
        ),
        (
            without_one_rule(ENDS),
            r'save_spm cannot express the stage Replace of "\\A +|[ ▁]+\\z" without that of " {2,}"',
        ),
        (Tokenizer(models.Unigram()), "save_spm cannot express the stage that leaves spaces as they are"),
    ]:
        with pytest.raises(OptionError) as raised:
            tokenizer.save_spm(path)
        assert str(raised.value) == message
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.normalizer = normalizers.NFC()
    with pytest.raises(OptionError, match=r'^save_spm cannot express the stage \{"type":"NFC"\}$'):
        tokenizer.save_spm(path)
    tokenizer.normalizer = None
    tokenizer.add_tokens(["x"])
    with pytest.raises(OptionError, match=r"^added token `x` with id 1 is no piece of the model$"):
        tokenizer.save_spm(path)
    assert not path.exists()
