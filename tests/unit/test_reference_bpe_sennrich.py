from __future__ import annotations

import pytest

from cases import load, pairs
from lexmill.errors import OptionError
from lexmill.reference.bpe_sennrich import segment, train_bpe_sennrich
from lexmill.reference.words import count_words, whitespace_split


def test_textbook_corpus() -> None:
    golden = load("textbook.json")["bpe_end_of_word"]
    words = count_words([golden["corpus"]], whitespace_split)
    merges, segments = train_bpe_sennrich(words, golden["num_merges"])
    assert merges == pairs(golden["merges"])
    assert {" ".join(symbols): count for symbols, count in segments} == golden["segmented_words"]


def test_end_of_word_is_a_symbol_of_its_own() -> None:
    merges, segments = train_bpe_sennrich([("a", 2)], 5)
    assert merges == [("a", "</w>")]
    assert segments == [(["a</w>"], 2)]


def test_equal_counts_merge_the_pair_seen_first() -> None:
    # `b a` is the first of four pairs that all occur twice.
    assert train_bpe_sennrich([("ba", 2), ("ab", 2)], 1)[0] == [("b", "a")]


def test_no_merges_leave_characters() -> None:
    assert train_bpe_sennrich([("ab", 1)], 0) == ([], [(["a", "b", "</w>"], 1)])
    assert train_bpe_sennrich([], 3) == ([], [])


def test_negative_number_of_merges_is_refused() -> None:
    with pytest.raises(OptionError, match="num_merges is -1 but must be at least 0"):
        train_bpe_sennrich([("ab", 1)], -1)


@pytest.mark.parametrize(
    ("word", "symbols"),
    [
        ("", ["</w>"]),
        ("lowest", ["low", "est</w>"]),
        ("estlow", ["est", "low", "</w>"]),
        ("xest", ["x", "est</w>"]),
    ],
)
def test_segment_applies_merges_in_the_order_learnt(word: str, symbols: list[str]) -> None:
    merges = pairs(load("textbook.json")["bpe_end_of_word"]["merges"])
    assert segment(word, merges) == symbols


def test_merges_go_left_to_right_without_overlap() -> None:
    assert segment("aaaaa", [("a", "a")]) == ["aa", "aa", "a", "</w>"]
    assert segment("aaaa", [("aa", "a"), ("a", "a")]) == ["aa", "aa", "</w>"]


def test_training_leaves_the_segmentation_that_segment_gives() -> None:
    words = [("abab", 3), ("aba", 2), ("bbab", 1)]
    merges, segments = train_bpe_sennrich(words, 4)
    assert [symbols for symbols, _ in segments] == [segment(word, merges) for word, _ in words]
