from __future__ import annotations

import pytest

from cases import load
from lexmill.reference.words import WHITE_SPACE, byte_level, count_words, whitespace, whitespace_split


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        ("Hello, world!", ["Hello", ",", "Ġworld", "!"]),
        ("it's we'LL", ["it", "'s", "Ġwe", "'", "LL"]),
        ("a  b", ["a", "Ġ", "Ġb"]),
        ("a\n\nb", ["a", "Ċ", "Ċ", "b"]),
        ("a \r\n", ["a", "ĠčĊ"]),
        ("x12 3", ["x", "12", "Ġ3"]),
        ("²½", ["Â²Â½"]),  # numbers that are not decimal digits
        ("e\u0301", ["e", "Ìģ"]),  # a combining mark is no letter
        ("日本!", ["æĹ¥æľ¬", "!"]),
    ],
)
def test_byte_level_splits_as_gpt2(text: str, words: list[str]) -> None:
    assert byte_level(text, add_prefix_space=False) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [("", []), ("a", ["Ġa"]), (" a", ["Ġa"]), ("\na", ["Ġ", "Ċ", "a"])],
)
def test_prefix_space_is_added_unless_the_text_begins_with_a_space(text: str, words: list[str]) -> None:
    assert byte_level(text) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        ("Hello, world!!", ["Hello", ",", "world", "!!"]),
        ("a_1 b-c", ["a_1", "b", "-", "c"]),
        ("e\u0301!", ["e\u0301", "!"]),
        ("²a", ["²", "a"]),
        ("a\u200db", ["a\u200db"]),  # joiners are word characters
        ("a\u200bb", ["a", "\u200b", "b"]),
    ],
)
def test_whitespace_splits_word_characters_from_the_rest(text: str, words: list[str]) -> None:
    assert whitespace(text) == words


def test_whitespace_split_drops_white_space_only() -> None:
    assert whitespace_split(" a,b\t\u3000c\x85d\r\n") == ["a,b", "c", "d"]
    assert whitespace_split("") == []


def test_information_separators_are_not_white_space() -> None:
    assert len(WHITE_SPACE) == 25
    assert whitespace_split("a\x1cb") == ["a\x1cb"]
    assert whitespace("a\x1cb") == ["a", "\x1c", "b"]


def test_words_keep_the_order_of_first_appearance() -> None:
    assert count_words(["b a b", "c a"], whitespace_split) == [("b", 2), ("a", 2), ("c", 1)]


def test_textbook_word_counts() -> None:
    golden = load("textbook.json")
    counts = count_words(golden["corpus"], lambda text: byte_level(text, add_prefix_space=False))
    assert counts == list(golden["bpe"]["word_counts"].items())
