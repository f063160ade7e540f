"""The stages that BERT's tokenizers are made of, by cases derived by hand."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lexmill import Tokenizer, models
from lexmill.decoders import WordPiece as WordPieceDecoder
from lexmill.errors import FormatError
from lexmill.normalizers import BertNormalizer
from lexmill.pre_tokenizers import BertPreTokenizer
from lexmill.processors import BertProcessing

VOCAB = {token: at for at, token in enumerate(["[UNK]", "[CLS]", "[SEP]", "cafe", "un", "##able", "中", "a", ".", "="])}


def bert(**options: Any) -> Tokenizer:
    """A tokenizer of few words; options are those of BertNormalizer."""
    tokenizer = Tokenizer(models.WordPiece(VOCAB))
    tokenizer.normalizer = BertNormalizer(**options)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    tokenizer.post_processor = BertProcessing(("[SEP]", 2), ("[CLS]", 1))
    tokenizer.decoder = WordPieceDecoder()
    return tokenizer


def test_text_is_cleaned_cut_and_framed() -> None:
    encoding = bert().encode("Unable\u200b\n CAFÉ\x00中a.")
    assert encoding.tokens == ["[CLS]", "un", "##able", "cafe", "中", "a", ".", "[SEP]"]
    assert encoding.offsets == [(0, 0), (0, 2), (2, 6), (9, 13), (14, 15), (15, 16), (16, 17), (0, 0)]
    assert encoding.word_ids == [None, 0, 0, 1, 2, 3, 4, None]
    assert bert().decode(encoding.ids, skip_special_tokens=True) == "[CLS] unable cafe 中 a. [SEP]"


def test_a_pair_has_two_types_and_three_special_tokens() -> None:
    tokenizer = bert()
    encoding = tokenizer.encode("a", "a a")
    assert encoding.tokens == ["[CLS]", "a", "[SEP]", "a", "a", "[SEP]"]
    assert encoding.type_ids == [0, 0, 0, 1, 1, 1]
    assert encoding.special_tokens_mask == [1, 0, 1, 0, 0, 1]
    assert encoding.sequence_ids == [None, 0, None, 1, 1, None]
    assert tokenizer.num_special_tokens_to_add(True) == 3
    assert tokenizer.encode("a", "a", add_special_tokens=False).type_ids == [0, 1]


def test_windows_are_framed_each() -> None:
    tokenizer = bert()
    tokenizer.enable_truncation(4, stride=1)
    encoding = tokenizer.encode("a . a .")
    assert [part.tokens for part in (encoding, *encoding.overflowing)] == [
        ["[CLS]", "a", ".", "[SEP]"],
        ["[CLS]", ".", "a", "[SEP]"],
        ["[CLS]", "a", ".", "[SEP]"],
    ]


@pytest.mark.parametrize(
    ("text", "tokens", "words"),
    [
        # Nothing is left of a mark, of a zero-width space and of a control character: they are no words.
        ("a \u0301 \u200b \x01 a", ["a", "a"], [0, 1]),
        # Vertical tab, form feed and next line are dropped, not blanks.
        ("un\x0bable un\x0cable un\x85able", ["un", "##able"] * 3, [0, 0, 1, 1, 2, 2]),
        # Punctuation that hides behind its accent.
        ("a≠a", ["a", "=", "a"], [0, 1, 2]),
        ("中中", ["中", "中"], [0, 1]),
        ("cafe\u0301 cafe\u0301\u0301", ["cafe", "cafe"], [0, 1]),
    ],
)
def test_words_are_those_of_the_normalized_text(text: str, tokens: list[str], words: list[int]) -> None:
    encoding = bert().encode(text, add_special_tokens=False)
    assert (encoding.tokens, encoding.word_ids) == (tokens, words)
    assert bert().encode_batch_ids([text], add_special_tokens=False) == [encoding.ids]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, "e 中 x "),
        ({"lowercase": False}, "É 中 X "),
        ({"strip_accents": False}, "é 中 x "),
        ({"strip_accents": True, "lowercase": False}, "E 中 X "),
        ({"handle_chinese_chars": False}, "e中x "),
        ({"clean_text": False}, "e 中 x\n\x01"),
    ],
    ids=str,
)
def test_each_step_can_be_left_out(options: dict[str, Any], expected: str) -> None:
    assert BertNormalizer(**options).normalize_str("É中X\n\x01") == expected


def test_a_change_of_the_normalizer_takes_effect() -> None:
    tokenizer = bert()
    assert tokenizer.encode("A", add_special_tokens=False).tokens == ["a"]
    tokenizer.normalizer.lowercase = False
    assert tokenizer.encode("A", add_special_tokens=False).tokens == ["[UNK]"]
    assert repr(tokenizer.normalizer) == (
        "BertNormalizer(clean_text=True, handle_chinese_chars=True, strip_accents=None, lowercase=False)"
    )


def test_added_tokens_in_normalized_text_are_found() -> None:
    tokenizer = bert()
    tokenizer.add_tokens(["Able"])
    assert tokenizer.encode("ABLE un", add_special_tokens=False).tokens == ["able", "un"]
    assert tokenizer.encode("CAFÉ", add_special_tokens=False).tokens == ["cafe"]


def test_pieces_of_punctuation_stand_alone() -> None:
    pieces = BertPreTokenizer().pre_tokenize_str("a--b  it's\u00a0x。")
    assert [piece for piece, _ in pieces] == ["a", "-", "-", "b", "it", "'", "s", "x", "。"]
    assert pieces[-1] == ("。", (12, 13))


def test_options_read_back_and_can_be_set() -> None:
    decoder = WordPieceDecoder("@", cleanup=False)
    assert (decoder.prefix, decoder.cleanup) == ("@", False)
    decoder.prefix, decoder.cleanup = "##", True
    assert decoder.decode(["a", "##b", "n't"]) == "abn't"
    processing = BertProcessing(("s", 1), ("c", 2))
    processing.sep = ("x", 3)
    assert (processing.sep, processing.cls) == (("x", 3), ("c", 2))
    normalizer = BertNormalizer(strip_accents=True)
    normalizer.strip_accents, normalizer.clean_text, normalizer.handle_chinese_chars = None, False, False
    expected = "BertNormalizer(clean_text=False, handle_chinese_chars=False, strip_accents=None, lowercase=True)"
    assert repr(normalizer) == expected


@pytest.mark.parametrize(
    ("key", "definition", "message"),
    [
        ("normalizer", {"type": "BertNormalizer"}, "normalizer: `clean_text` is missing"),
        ("decoder", {"type": "WordPiece", "prefix": "##"}, "decoder: `cleanup` is missing"),
        ("post_processor", {"type": "BertProcessing", "sep": ["a", 1]}, "post_processor: `cls` is missing"),
    ],
)
def test_a_malformed_definition_is_refused_with_its_place(key: str, definition: Any, message: str) -> None:
    model = {"type": "WordLevel", "vocab": {}, "unk_token": "u"}
    with pytest.raises(FormatError, match=message):
        Tokenizer.from_str(json.dumps({key: definition, "model": model}))
