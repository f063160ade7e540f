"""Texts cut by tokens: the spans of small texts, the forms of input, and wrong input."""

from __future__ import annotations

import time

import numpy as np
import pytest

from growth import assert_in_proportion
from lexmill import Tokenizer, models, normalizers, pre_tokenizers, processors
from lexmill.errors import InputTypeError, InvalidUtf8Error, OptionError, OptionRangeError


@pytest.fixture
def words() -> Tokenizer:
    """A token a word, and a token for each other character that is not white space."""
    tokenizer = Tokenizer(models.WordLevel({"?": 0}, "?"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    return tokenizer


TEXT = "One two. Three four five six. Seven.\n\nEight nine. Ten.\n"


def cut(text: str, spans: list[tuple[int, int]]) -> list[str]:
    return [text[start:end] for start, end in spans]


def test_spans_end_after_tokens(words: Tokenizer) -> None:
    assert cut(TEXT[:36], words.split_text(TEXT[:36], 4)) == ["One two. Three ", "four five six. ", "Seven."]


def test_spans_end_after_sentences_that_fit(words: Tokenizer) -> None:
    expected = ["One two. ", "Three four five six. ", "Seven.\n\nEight nine. ", "Ten.\n"]
    assert cut(TEXT, words.split_text(TEXT, 5, at="sentence")) == expected
    assert cut(TEXT, words.split_text(TEXT, 4, at="sentence"))[1] == "Three four five six"
    assert cut(TEXT, words.split_text(TEXT, 10, at="paragraph")) == [TEXT[:38], TEXT[38:]]
    assert cut(TEXT, words.split_text(TEXT, 100, at="paragraph")) == [TEXT]


def test_spans_share_tokens(words: Tokenizer) -> None:
    assert cut("a b c d e", words.split_text("a b c d e", 3, overlap=1)) == ["a b c ", "c d e"]
    assert cut("a b c d e", words.split_text("a b c d e", 3, overlap=2)) == ["a b c ", "b c d ", "c d e"]
    # A shared sentence is whole.
    shared = cut("A b. C. D e f.", words.split_text("A b. C. D e f.", 6, overlap=3, at="sentence"))
    assert shared == ["A b. C. ", "C. D e f."]


def test_special_tokens_count(words: Tokenizer) -> None:
    words.add_special_tokens(["[S]"])
    words.post_processor = processors.TemplateProcessing("[S] $A [S]", None, [("[S]", words.token_to_id("[S]") or 0)])
    assert cut("a b c", words.split_text("a b c", 4)) == ["a b ", "c"]
    assert cut("a b c", words.split_text("a b c", 2, add_special_tokens=False)) == ["a b ", "c"]
    assert words.truncate_text("a b c", 4) == "a b "
    assert words.truncate_text("a b c", 2) == ""
    for call in (words.split_text, words.truncate_text):
        with pytest.raises(OptionError, match="size is 1 but must be at least 2, the number of special tokens"):
            call("a b c", 1)


def test_batches_take_what_other_batches_take(words: Tokenizer) -> None:
    pa = pytest.importorskip("pyarrow")
    for texts in (
        ["a b c", "", "é f"],
        [b"a b c", b"", "é f".encode()],
        np.array(["a b c", "", "é f"]),
        pa.array(["a b c", "", "é f"]),
    ):
        spans, row_splits = words.split_text_batch(texts, 2)
        assert spans.tolist() == [[0, 4], [4, 5], [0, 3]]
        assert (spans.shape, row_splits.tolist()) == ((3, 2), [0, 2, 2, 3])
        assert words.truncate_text_batch(texts, 1) == ["a ", "", "é "]
    assert words.split_text_batch([], 2)[0].shape == (0, 2)
    assert words.truncate_text_batch([b"a \xff b"], 2, errors="replace") == ["a \ufffd "]
    with pytest.raises(InvalidUtf8Error):
        words.split_text_batch([b"a \xff"], 2)


def test_wrong_input_is_refused(words: Tokenizer) -> None:
    for size in (-1, -(1 << 62)):
        with pytest.raises(OptionRangeError):
            words.split_text("a", size)
        with pytest.raises(OptionRangeError):
            words.truncate_text("a", size)
    with pytest.raises(OptionError, match="overlap is 2 but must be less than size, which is 2"):
        words.split_text("a", 2, overlap=2)
    with pytest.raises(OptionRangeError):
        words.split_text("a", 2, overlap=-1)
    with pytest.raises(OptionError, match="at is word but must be token, sentence or paragraph"):
        words.split_text("a", 2, at="word")  # type: ignore[arg-type]
    for text in (None, 1, b"a", ["a"], "\ud800"):
        with pytest.raises(InputTypeError):
            words.split_text(text, 2)  # type: ignore[arg-type]
        with pytest.raises(InputTypeError):
            words.truncate_text(text, 2)  # type: ignore[arg-type]
    with pytest.raises((TypeError, OverflowError)):
        words.split_text("a", 1 << 70)
    assert words.split_text("a b", (1 << 63) - 1) == [(0, 3)]
    assert words.truncate_text("a b", (1 << 63) - 1) == "a b"
    assert words.truncate_text("a b", 0) == ""
    with pytest.raises(OptionError, match="size is 0 but must be at least 1: a span needs a token besides"):
        words.split_text("a", 0)


def test_a_character_of_more_tokens_than_fit_is_refused() -> None:
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer = Tokenizer(models.BPE({character: id_ for id_, character in enumerate(alphabet)}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    with pytest.raises(OptionError, match='size is 3 but must be at least 4, the tokens of the character "🐈"'):
        tokenizer.split_text("ab🐈", 3)
    assert tokenizer.split_text("ab🐈", 4) == [(0, 2), (2, 3)]
    assert tokenizer.truncate_text("ab🐈", 5) == "ab"


def test_a_character_may_fit_with_the_characters_after_it() -> None:
    tokenizer = Tokenizer(models.BPE({character: id_ for id_, character in enumerate("abcdxyz")}, []))
    rewrites = {"xyzz": "abcda", "xy": "a", "x": "abcd"}
    tokenizer.normalizer = normalizers.Sequence([normalizers.Replace(*both) for both in rewrites.items()])
    assert cut("xyzz", tokenizer.split_text("xyzz", 2))[0] == "xy"


def test_models_that_choose_at_random_are_refused() -> None:
    tokenizer = Tokenizer(models.BPE({"a": 0}, [], dropout=0.5))
    for call in (tokenizer.split_text, tokenizer.truncate_text):
        with pytest.raises(OptionError, match="turn dropout or alpha off"):
            call("a", 2)


@pytest.mark.parametrize(
    ("text", "at"),
    [
        (TEXT * 300, "paragraph"),
        (". " + " " * 30_000, "sentence"),
        ("x" * 30_000, "token"),
        (".)" * 15_000, "sentence"),
    ],
    ids=["paragraphs", "spaces", "one word", "brackets"],
)
def test_time_grows_with_the_text(words: Tokenizer, text: str, at: str) -> None:
    assert_in_proportion(lambda times: words.split_text(text * times, 50, overlap=10, at=at), 1, times=8)


def test_time_grows_with_a_text_without_a_place_to_cut(words: Tokenizer) -> None:
    # Each token `ba` has characters of two `x`, so all tokens are one chain.
    words.normalizer = normalizers.Replace("x", "a b")

    text = "x" * 2_000
    spans = words.split_text(text, 20)
    assert [start for start, _ in spans] == [0, *(end for _, end in spans[:-1])]
    assert spans[-1][1] == len(text)
    assert max(words.count_tokens(cut(text, spans))) <= 20 < 2 * words.count_tokens([cut(text, spans)[0]])[0] + 2
    assert_in_proportion(lambda size: words.split_text("x" * size, 20), 8_000, times=4)


def test_a_beginning_costs_no_more_than_itself(words: Tokenizer) -> None:
    text = TEXT * 40_000
    words.truncate_text(text[:1000], 10)
    start = time.process_time()
    assert words.truncate_text(text, 20) == TEXT + TEXT[:20]
    assert time.process_time() - start < 0.02
