from __future__ import annotations

import base64
from pathlib import Path

import pytest

from lexmill import Tokenizer, models
from lexmill.errors import FileError, FormatError, IdRangeError, OptionError, RegexError
from lexmill.pre_tokenizers import ByteLevel

PATTERN = r"\S+|\s+"


def lines(*tokens: bytes, start: int = 256) -> str:
    """The bytes and then `tokens`, ranked as they come."""
    ranked = [(bytes([byte]), byte) for byte in range(256)]
    ranked += [(token, start + place) for place, token in enumerate(tokens)]
    return "".join(f"{base64.b64encode(token).decode()} {rank}\n" for token, rank in ranked)


def read(tmp_path: Path, text: str, **options: dict[str, int]) -> Tokenizer:
    path = tmp_path / "a.tiktoken"
    path.write_text(text)
    return Tokenizer.from_tiktoken(path, PATTERN, **options)


def test_neighbours_that_spell_the_best_token_are_merged_first(tmp_path: Path) -> None:
    tokenizer = read(tmp_path, lines(b"bc", b"ab", b"abc", "é".encode(), start=300))
    assert tokenizer.encode("abcab é").ids == [302, 301, ord(" "), 303]
    assert tokenizer.decode([302, 303]) == "abcé"


def test_a_pre_token_that_is_a_token_is_taken_whole(tmp_path: Path) -> None:
    # No two neighbours spell a token, so that it is never made by merging.
    tokenizer = read(tmp_path, lines(b"abcd"))
    assert tokenizer.encode("abcd").ids == [256]
    assert tokenizer.encode("abcde").ids == list(b"abcde")


def test_special_tokens_have_the_ids_given(tmp_path: Path) -> None:
    tokenizer = read(tmp_path, lines(b"ab"), special_tokens={"<end>": 999, "<pad>": 300})
    assert tokenizer.encode("ab<end>ab<pad>").ids == [256, 999, 256, 300]
    assert tokenizer.get_vocab_size() == 259


def test_written_file_is_the_one_read(tmp_path: Path) -> None:
    text = lines(b"bc", b"ab", b"abc", b"\xff\xfe", b"abcd")
    tokenizer = read(tmp_path, text, special_tokens={"<end>": 999})
    tokenizer.save_tiktoken(tmp_path / "b.tiktoken")
    assert (tmp_path / "b.tiktoken").read_text() == text


BYTES = lines()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "a.tiktoken: there is nothing in it, but a token in base64 and its rank must be in each line"),
        (BYTES[:-10], "a.tiktoken: byte 0xFF has no token"),
        ("AA==", 'a.tiktoken line 1: expected a token in base64, a space and its rank, found "AA=="'),
        ("AA== 0\n\nA= 1", 'a.tiktoken line 3: "A=" is not base64'),
        ("AA== -1", 'a.tiktoken line 1: the rank must be from 0 to 4294967294 in "AA== -1"'),
        ("AA== 1 2", 'a.tiktoken line 1: the rank must be from 0 to 4294967294 in "AA== 1 2"'),
        (f"AA== {1 << 32}", 'a.tiktoken line 1: the rank must be from 0 to 4294967294 in "AA== 4294967296"'),
        (" 7", 'a.tiktoken line 1: an empty token, or a rank beyond 4294967294, in " 7"'),
        ("AA== 0\nAQ== 0", 'a.tiktoken line 2: "AQ== 0" repeats a token or a rank of line 1'),
        ("AA== 0\nAA== 1", 'a.tiktoken line 2: "AA== 1" repeats a token or a rank of line 1'),
        ("A" * 99, f'a.tiktoken line 1: expected a token in base64, a space and its rank, found "{"A" * 60}"...'),
    ],
    ids=str,
)
def test_a_malformed_file_is_refused_with_its_place(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(FormatError) as raised:
        read(tmp_path, text)
    assert str(raised.value).removeprefix(f"{tmp_path}/") == message


def test_every_cut_of_a_file_is_read_or_refused(tmp_path: Path) -> None:
    for end in range(0, len(BYTES), 7):
        with pytest.raises(FormatError):
            read(tmp_path, BYTES[:end].rstrip("\n")[:-1])


def test_wrong_arguments_are_typed_errors(tmp_path: Path) -> None:
    path = tmp_path / "a.tiktoken"
    with pytest.raises(FileError, match="cannot read"):
        Tokenizer.from_tiktoken(path, PATTERN)
    with pytest.raises(FormatError, match="special token `<a>` with id 7: one of both is taken"):
        read(tmp_path, BYTES, special_tokens={"<a>": 7})
    with pytest.raises(IdRangeError, match="id is -1 but must be from 0"):
        read(tmp_path, BYTES, special_tokens={"<a>": -1})
    with pytest.raises(RegexError, match="regex"):
        Tokenizer.from_tiktoken(path, "(")


ALPHABET = {char: id_ for id_, char in enumerate(sorted(ByteLevel.alphabet()))}


def bpe(*merges: tuple[str, str], **options: str) -> models.BPE:
    tokens = dict.fromkeys(left + right for left, right in merges)
    vocab = ALPHABET | {token: 256 + place for place, token in enumerate(tokens)}
    return models.BPE(vocab, list(merges), **options)


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (models.Unigram(), "it is Unigram, not BPE"),
        (models.BPE(), "byte 0x00 has no token"),
        (models.BPE({"日": 0}, []), "token `日` with id 0 is not spelled in the byte-level alphabet"),
        (bpe(("a", "b"), end_of_word_suffix="x"), "it has a continuing_subword_prefix or an end_of_word_suffix"),
        # There `b` and `c` would be merged first and `a` to them.
        (bpe(("b", "c"), ("a", "b"), ("ab", "c")), "`a` and `bc` would be merged to `abc`"),
        (
            bpe(("a", "b"), ("c", "d"), ("c", "b"), ("a", "cb"), ("c", "d")),
            "`acb` with id 259 is merged before `cd` with id 257",
        ),
        # A file would take both whole, this model does not.
        (models.BPE(ALPHABET | {"abcd": 256}, []), "`abcd` with id 256 is not what its text is encoded to"),
        (
            bpe(("b", "c"), ("a", "b"), ("c", "d"), ("ab", "cd")),
            "`abcd` with id 259 is not what its text is encoded to",
        ),
    ],
    ids=str,
)
def test_what_cannot_be_written_is_named(tmp_path: Path, model: models.Model, reason: str) -> None:
    path = tmp_path / "a.tiktoken"
    tokenizer = Tokenizer(model)
    with pytest.raises(OptionError) as raised:
        tokenizer.save_tiktoken(path)
    assert str(raised.value).startswith(f"a .tiktoken file cannot express this model: {reason}")
    assert not path.exists()
