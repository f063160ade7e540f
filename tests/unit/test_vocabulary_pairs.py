"""Pairs of vocabularies that can be worked out by hand: merged ones, and maps from tokens of one to the other."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
import pytest

import lexmill
from lexmill import AddedToken, Tokenizer, models, pre_tokenizers
from lexmill.errors import OptionError
from small import byte_level, letters
from small_vocabularies import merges_of, tokens_of, unigram, wordpiece


def rows(token_map: lexmill.vocabularies.TokenMap, old: Tokenizer) -> list[list[str]]:
    return [[old.id_to_token(int(id_)) or "" for id_ in token_map[number]] for number in range(len(token_map))]


def test_merged_ids_of_the_first_stay() -> None:
    a = letters("abc", ("a", "b"))
    a.add_special_tokens(["<s>"])
    b = letters("cbd", ("c", "b"), ("cb", "d"))
    b.add_special_tokens(["<s>", "<pad>"])
    merged = lexmill.merge_vocabularies(a, b)
    assert tokens_of(merged.tokenizer) == ["a", "b", "c", "ab", "<s>", "d", "cb", "cbd", "<pad>"]
    assert merges_of(merged.tokenizer) == [["a", "b"], ["c", "b"], ["cb", "d"]]
    assert merged.id_map.tolist() == [2, 1, 5, 6, 7, 4, 8]
    assert merged.added.tolist() == [5, 6, 7, 8]
    assert merged.tokenizer.encode("<s>abcbd<pad>").ids == [4, 3, 7, 8]
    assert merged.unreachable == ()


def test_a_token_that_the_merges_of_the_first_hide_gets_a_merge_of_its_own() -> None:
    # In a, `b c` comes first: `a b` and `ab c` of b would never make abc.
    a = letters("abc", ("b", "c"))
    b = letters("abc", ("a", "b"), ("ab", "c"))
    merged = lexmill.merge_vocabularies(a, b)
    assert merges_of(merged.tokenizer) == [["b", "c"], ["a", "b"], ["ab", "c"], ["a", "bc"]]
    assert merged.tokenizer.encode("abc").tokens == ["abc"]


def test_a_token_that_no_merge_can_make_is_reported() -> None:
    # a makes `a bc d` of abcd, and neither abc nor bcd is a token.
    a = letters("abcd", ("b", "c"))
    b = letters("abcd", ("a", "b"), ("c", "d"), ("ab", "cd"))
    merged = lexmill.merge_vocabularies(a, b)
    assert [(token.token, token.reason) for token in merged.unreachable] == [
        ("abcd", "merging makes other tokens of its text")
    ]
    assert merged.tokenizer.encode("abcd").tokens == ["a", "bc", "d"]


def test_added_tokens_become_tokens_of_a_model_with_holes() -> None:
    # Other readers would give <x> the size of the model, which is the id of a.
    a, b = Tokenizer(models.BPE(vocab={"a": 1}, merges=[])), letters("a")
    b.add_special_tokens(["<x>"])
    merged = lexmill.merge_vocabularies(a, b)
    assert json.loads(merged.tokenizer.to_str())["model"]["vocab"] == {"a": 1, "<x>": 2}
    assert merged.id_map.tolist() == [1, 2]


def test_pieces_that_are_less_likely_than_others_are_reported() -> None:
    a = unigram(("▁", -1.0), ("a", -1.0), ("b", -1.0))
    b = unigram(("▁", -1.0), ("a", -9.0), ("b", -9.0), ("ab", -12.0), ("ba", -1.5))
    merged = lexmill.merge_vocabularies(a, b)
    assert tokens_of(merged.tokenizer) == ["<unk>", "▁", "a", "b", "ab", "ba"]
    assert [token.token for token in merged.unreachable] == ["ab"]


def test_a_tokenizer_merged_with_itself_is_the_same() -> None:
    a = letters("abc", ("a", "b"), ("b", "c"), ("a", "bc"))
    a.add_tokens([AddedToken("<x>")])
    merged = lexmill.merge_vocabularies(a, a)
    assert merged.tokenizer.to_str() == a.to_str()
    assert merged.added.tolist() == []
    # abc was out of reach before.
    assert [token.token for token in merged.unreachable] == ["abc"]


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (wordpiece("a"), "the type of the model is 'BPE' in a but 'WordPiece' in b"),
        (byte_level(), "the alphabet of bytes is False in a but True in b"),
        (
            Tokenizer(models.BPE(vocab={"a": 0}, merges=[], end_of_word_suffix="</w>")),
            "the suffix of words is '' in a but '</w>' in b",
        ),
    ],
)
def test_tokens_of_two_spellings_are_not_merged(other: Tokenizer, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        lexmill.merge_vocabularies(letters("a"), other)


def metaspace(*tokens: str, byte_tokens: Sequence[int] = ()) -> Tokenizer:
    names = ["<unk>", *tokens, *(f"<0x{byte:02X}>" for byte in byte_tokens)]
    scores = [(name, -1.0 if len(name) > 1 else -2.0) for name in names]
    tokenizer = Tokenizer(models.Unigram(scores, 0, byte_fallback=bool(byte_tokens)))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    return tokenizer


def test_places_in_words_are_spelled_by_the_marks_of_the_old_tokenizer() -> None:
    byte = byte_level(("a", "b"), ("Ġ", "ab"), ("Ġ", "a"))
    piece = metaspace("▁", "a", "b", "▁ab", "ab")
    word = wordpiece("a", "b", "ab", "##a", "##b", "##ab")
    assert rows(lexmill.token_map(word, byte), byte)[1:] == [["Ġa"], ["Ġ", "b"], ["Ġab"], ["a"], ["b"], ["ab"]]
    assert rows(lexmill.token_map(byte, word), word)[256:] == [["##ab"], ["ab"], ["a"]]
    assert rows(lexmill.token_map(word, piece), piece)[:4] == [["<unk>"], ["▁", "a"], ["▁", "b"], ["▁ab"]]
    assert rows(lexmill.token_map(word, piece), piece)[4:] == [["a"], ["b"], ["ab"]]
    assert rows(lexmill.token_map(piece, byte), byte)[1:] == [["Ġ"], ["a"], ["b"], ["Ġab"], ["ab"]]
    assert rows(lexmill.token_map(byte, piece), piece)[256:] == [["ab"], ["▁ab"], ["▁", "a"]]


def test_bytes_are_spelled_by_bytes() -> None:
    byte = byte_level()
    piece = metaspace("▁", "a", byte_tokens=[0xC3, 0xA9])
    found = rows(lexmill.token_map(byte, piece), piece)
    # The first byte of é, and a byte that has no token.
    assert found[byte.token_to_id("Ã") or 0] == ["<0xC3>"]
    assert found[byte.token_to_id("â") or 0] == ["<unk>"]
    back = rows(lexmill.token_map(piece, byte), byte)
    assert back[-2:] == [["Ã"], ["©"]]
    words = Tokenizer(models.WordLevel({"é": 0}, unk_token="é"))
    assert rows(lexmill.token_map(words, piece), piece) == [["<unk>"]]


def test_the_old_tokenizer_changes_case_and_divides_words() -> None:
    byte = byte_level(("A", "b"), ("Ab", "-"), ("Ab-", "A"))
    word = wordpiece("a", "b", "##b", "ab", "##ab", "-")
    assert rows(lexmill.token_map(byte, word), word)[256:] == [["##ab"], ["##ab", "-"], ["##ab", "-", "a"]]


def test_the_limit_of_characters_is_for_the_text_alone() -> None:
    model = models.WordPiece({"[UNK]": 0, "ab": 1, "##ab": 2}, max_input_chars_per_word=2)
    old = Tokenizer(model)
    assert rows(lexmill.token_map(old, old), old) == [["[UNK]"], ["ab"], ["##ab"]]


def test_suffixes_mark_the_ends_of_words() -> None:
    vocab = {"a": 0, "b": 1, "a</w>": 2, "b</w>": 3, "ab</w>": 4, "ab": 5}
    old = Tokenizer(models.BPE(vocab=vocab, merges=[("a", "b</w>"), ("a", "b")], end_of_word_suffix="</w>"))
    assert rows(lexmill.token_map(old, old), old) == [[token] for token in vocab]
    byte = byte_level(("a", "b"))
    assert rows(lexmill.token_map(old, byte), byte) == [["a"], ["b"], ["a"], ["b"], ["ab"], ["ab"]]


def test_added_tokens_of_both_are_the_same_and_others_are_text() -> None:
    new, old = letters("ab"), letters("<s>p", ("<", "s"))
    new.add_special_tokens(["<s>", "<p>"])
    old.add_special_tokens(["<s>"])
    assert rows(lexmill.token_map(new, old), old) == [[], [], ["<s>"], ["<", "p", ">"]]


def test_rows_are_numbered_by_id() -> None:
    found = lexmill.token_map(Tokenizer(models.BPE(vocab={"a": 2}, merges=[])), letters("a"))
    assert found.row_splits.tolist() == [0, 0, 0, 1]
    assert (found.ids.dtype, found.row_splits.dtype) == (np.uint32, np.int64)
    with pytest.raises(IndexError, match="id 3 is out of range for 3 ids"):
        found[3]
