"""Words and the tokens that touch them: cases worked out by hand, and the reference on random texts and tokens."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lexmill.errors import LexmillError, OptionError
from lexmill.evaluation.words import check_rule, count_words, words_by
from lexmill.reference import evaluation as reference
from lexmill.reports.characters import characters_of, words_of_white_space

TEXTS = st.lists(
    st.text(st.sampled_from("ab1.,'_é\u0301東タ \n\r\u3000\u1680\u200b🦀\u200dกा"), max_size=12), max_size=4
)
Span = tuple[int, int]


def spans(texts: list[str], rule: str) -> list[list[Span]]:
    """The words of each text, as the fast code finds them."""
    characters = characters_of(texts)
    words = words_by(rule, texts, characters)  # type: ignore[arg-type]
    assert words.count == len(words.begins)
    found: list[list[Span]] = [[] for _ in texts]
    for begin, end in zip(words.begins.tolist(), words.ends.tolist(), strict=True):
        at = int(np.searchsorted(characters.starts, begin, side="right")) - 1
        start = int(characters.starts[at])
        found[at].append((begin - start, end - start))
    return found


@given(TEXTS)
def test_words_match_reference(texts: list[str]) -> None:
    assert spans(texts, "whitespace") == [reference.white_space_words(text) for text in texts]


@given(TEXTS)
def test_words_of_unicode_match_reference(texts: list[str]) -> None:
    pytest.importorskip("regex")
    assert spans(texts, "unicode") == [reference.unicode_words(text) for text in texts]


# Worked out from the rules of UAX 29: WB5 to WB13 join, WB4 keeps marks, WB3 and WB999 divide.
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hello, world!", ["Hello", "world"]),
        ("can't stop", ["can't", "stop"]),
        ("3.14 and 1,000", ["3.14", "and", "1,000"]),
        ("foo_bar a1b2", ["foo_bar", "a1b2"]),
        ("e\u0301te\u0301", ["e\u0301te\u0301"]),
        ("東京タワー", ["東", "京", "タワー"]),
        ("a\r\nb --- …", ["a", "b"]),
        ("🦀 \n", []),
    ],
)
def test_words_of_unicode(text: str, expected: list[str]) -> None:
    pytest.importorskip("regex")
    assert [text[begin:end] for begin, end in spans([text], "unicode")[0]] == expected


def counted(texts: list[str], tokens: list[list[Span]], unknown: list[list[bool]] | None) -> tuple[int, int, int]:
    characters = characters_of(texts)
    both = [
        (begin + start, end + start)
        for own, start in zip(tokens, characters.starts[:-1].tolist(), strict=True)
        for begin, end in own
    ]
    begins, ends = np.array(both, np.int64).reshape(-1, 2).T
    is_unknown = None if unknown is None else np.array([one for own in unknown for one in own], np.bool_)
    return count_words(words_of_white_space(characters), begins, ends, is_unknown)


@pytest.mark.parametrize(
    ("text", "tokens", "expected"),
    [
        # Words, continued ones and whole ones.
        ("the cat", [(0, 3), (3, 7)], (2, 0, 2)),
        ("the cat", [(0, 3), (3, 5), (5, 7)], (2, 1, 1)),
        # A blank at the end of a token, a blank of its own, a token over two words.
        ("the cat", [(0, 4), (4, 7)], (2, 0, 2)),
        ("the cat", [(0, 3), (3, 4), (4, 7)], (2, 0, 2)),
        ("the cat", [(0, 7)], (2, 0, 2)),
        ("the cat", [(0, 5), (5, 7)], (2, 1, 1)),
        # Two tokens share the bytes of a character: of a word, and of a blank.
        ("é a", [(0, 1), (0, 1), (1, 3)], (2, 1, 1)),
        ("a\u3000b", [(0, 1), (1, 2), (1, 2), (2, 3)], (2, 0, 2)),
        # Characters without a token: a whole word, its end, its beginning.
        ("the cat", [(0, 3)], (2, 0, 1)),
        ("the cat", [(0, 2), (3, 7)], (2, 0, 2)),
        ("the cat", [(1, 3), (3, 7)], (2, 0, 2)),
        ("the cat", [(1, 2), (2, 3)], (2, 1, 0)),
        ("the cat", [], (2, 0, 0)),
        (" ", [(0, 1)], (0, 0, 0)),
        ("", [], (0, 0, 0)),
    ],
)
def test_words_that_tokens_touch(text: str, tokens: list[Span], expected: tuple[int, int, int]) -> None:
    assert counted([text], [tokens], None) == expected
    # Other texts around it take no part.
    around = counted(["x", text, "y"], [[(0, 1)], tokens, [(0, 1)]], None)
    assert around == tuple(one + other for one, other in zip(expected, (2, 0, 2), strict=True))


def test_a_word_that_is_unknown_is_neither_whole_nor_continued() -> None:
    tokens = [[(0, 1), (2, 3), (4, 5), (5, 6)]]
    assert counted(["a b cd"], tokens, [[False, True, True, False]]) == (3, 1, 1)
    # One unknown token stands for two words.
    assert counted(["a b c"], [[(0, 3), (4, 5)]], [[True, False]]) == (3, 0, 1)


@st.composite
def tokenized(draw: st.DrawFn) -> tuple[str, list[Span], list[bool]]:
    """A text with tokens of any order, that overlap and leave characters out; the unknown ones among them."""
    text = draw(st.text(st.sampled_from("ab \n"), max_size=10))
    places = st.integers(0, len(text))
    pairs = draw(st.lists(st.tuples(places, places).map(sorted), max_size=6)) if text else []
    tokens = [(begin, end) for begin, end in pairs if begin < end]
    tokens = sorted(tokens) if draw(st.booleans()) else tokens
    return text, tokens, [draw(st.booleans()) for _ in tokens]


@given(st.lists(tokenized(), max_size=3), st.booleans())
@example([("ab ab", [(3, 5), (0, 2)], [False, True])], True)
def test_touched_words_match_reference(rows: list[tuple[str, list[Span], list[bool]]], has_unknown: bool) -> None:
    texts, tokens, unknown = ([row[at] for row in rows] for at in range(3))
    if not has_unknown:
        unknown = [[False] * len(own) for own in tokens]
    expected = [
        reference.word_counts(reference.white_space_words(text), own, flags)
        for text, own, flags in zip(texts, tokens, unknown, strict=True)
    ]
    total = tuple(sum(row[at] for row in expected) for at in range(3))
    assert counted(texts, tokens, unknown if has_unknown else None) == total


def test_rules_that_do_not_exist_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(OptionError, match="words is 'spaces' but must be 'whitespace' or 'unicode'"):
        check_rule("spaces")
    monkeypatch.setitem(sys.modules, "regex", None)
    with pytest.raises(LexmillError, match=r"needs the package regex: pip install 'lexmill\[report\]'"):
        check_rule("unicode")
