from __future__ import annotations

import pytest

from cases import load
from lexmill.reference.bpe_pairs import count_pairs, is_eligible, merge_pair
from lexmill.reference.bpe_symbols import choose_alphabet, split_word


def test_textbook_alphabet() -> None:
    golden = load("textbook.json")["bpe"]
    assert choose_alphabet(list(golden["word_counts"].items()), None, []) == golden["alphabet"]


def test_textbook_pairs_are_counted_in_the_order_first_seen() -> None:
    golden = load("textbook.json")["bpe"]
    ids = {token: token_id for token_id, token in enumerate(golden["alphabet"])}
    segments = [(split_word(word, ids, "", ""), count) for word, count in golden["word_counts"].items()]
    counts = count_pairs(segments, dict.fromkeys(ids.values(), 1), None)
    spelt = {
        f"{golden['alphabet'][left]} {golden['alphabet'][right]}": count for (left, right), count in counts.items()
    }
    expected = golden["first_pair_counts"]
    assert list(spelt.items())[: len(expected)] == list(expected.items())


def test_overlapping_pairs_count_fully_and_merge_without_overlap() -> None:
    assert count_pairs([([0, 0, 0, 0], 5)], {0: 1}, None) == {(0, 0): 15}
    assert merge_pair([0, 0, 0, 0, 0], (0, 0), 1) == [1, 1, 0]


@pytest.mark.parametrize(
    ("left", "right", "limit", "eligible"),
    [
        (1, 1, 0, True),
        (1, 1, 2, True),
        (2, 1, 3, False),
        (2, 1, 4, True),
        (2, 2, 4, False),
        (9, 9, None, True),
    ],
)
def test_limit_is_strict_and_exempts_pairs_of_characters(
    left: int, right: int, limit: int | None, eligible: bool
) -> None:
    assert is_eligible(left, right, limit) is eligible
