"""Curves of merges, and tokens that no text gives."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexmill import Tokenizer, models, normalizers, pre_tokenizers
from lexmill.reports.curve import curve_of
from lexmill.reports.measure import measure
from lexmill.reports.vocabulary import byte_alphabet, reach_of, vocabulary_of
from report_cases import (
    TEXTS,
    byte_level,
    unigram,
    whitespace_bpe,
    without_pre_tokenizer,
    wordpiece,
    write_corpus,
)
from small import letters


@pytest.fixture
def corpus(tmp_path: Path) -> list[Path]:
    return write_corpus(tmp_path)


def cut(tokenizer: Tokenizer, merges: int) -> Tokenizer:
    """The tokenizer with the first merges alone, and without the tokens that the others make."""
    stages = json.loads(tokenizer.to_str())
    model = stages["model"]
    spell = [tuple(merge.split(" ") if isinstance(merge, str) else merge) for merge in model["merges"]]
    kept = {left + right for left, right in spell[:merges]}
    gone = {left + right for left, right in spell[merges:]} - kept
    # The vocabulary keeps its ids, so a token that is gone becomes one that no text spells.
    model["vocab"] = {f"\0{token}" if token in gone else token: id_ for token, id_ in model["vocab"].items()}
    # Nothing makes the parts of the others.
    model["merges"] = [list(merge) for merge in spell[:merges] if gone.isdisjoint(merge)]
    stages["post_processor"] = stages["truncation"] = stages["padding"] = None
    return Tokenizer.from_str(json.dumps(stages))


def check_curve(tokenizer: Tokenizer, texts: list[str], every: int = 1) -> None:
    counts = np.zeros(max(tokenizer.get_vocab().values()) + 1, np.int64)
    whole = Tokenizer.from_str(tokenizer.to_str())
    whole.post_processor = None
    whole.no_truncation()
    whole.no_padding()
    for text in texts:
        np.add.at(counts, whole.encode(text).ids, 1)
    curve = curve_of(whole, vocabulary_of(whole), counts)
    assert curve is not None
    assert curve.inexact == 0
    points = list(zip(curve.merges.tolist(), curve.vocabulary.tolist(), curve.tokens.tolist(), strict=True))
    assert points[-1][1:] == (tokenizer.get_vocab_size(), counts.sum())
    for merges, size, tokens in points[::every]:
        fewer = cut(whole, merges)
        assert size == sum(not token.startswith("\0") for token in fewer.get_vocab())
        assert tokens == sum(len(fewer.encode(text).ids) for text in texts), merges


@pytest.mark.parametrize("make", [byte_level, whitespace_bpe, without_pre_tokenizer], ids=lambda make: make.__name__)
def test_curve_matches_encoding_with_the_first_merges(make: Any) -> None:
    check_curve(make(), TEXTS)


def test_curve_of_models_that_take_words_whole() -> None:
    # `abc` is listed with both splits, as files converted from ranks do; `cba` is no merge of its own text.
    tokens = ("b", "c"), ("a", "b"), ("a", "bc"), ("ab", "c"), ("c", "b"), ("b", "a"), ("c", "ba"), ("a", "a")
    tokenizer = letters("abc", *tokens[:3], *tokens[3:])
    tokenizer.model.ignore_merges = True
    check_curve(tokenizer, ["abc ab bc cba acba cbaa a abcabc bcba aab", "aaabc cb ba cba"])
    # `cba` comes before what it is cut into.
    tokenizer = letters("abc", ("c", "ba"), ("c", "b"), ("b", "a"))
    tokenizer.model.ignore_merges = True
    check_curve(tokenizer, ["cba cb ba cbac acba"])


def test_whole_words_that_are_listed_before_their_parts_are_told() -> None:
    tokenizer = letters("abc", ("a", "bc"), ("b", "c"))
    tokenizer.model.ignore_merges = True
    counts = np.zeros(5, np.int64)
    counts[tokenizer.encode("abc").ids] = 1
    curve = curve_of(tokenizer, vocabulary_of(tokenizer), counts)
    assert curve is not None
    assert (curve.inexact, curve.tokens.tolist()) == (1, [3, 3, 1])


def test_curve_of_tokens_that_are_listed_before_their_parts() -> None:
    check_curve_of_cut_lists(letters("abc", ("a", "bc"), ("b", "c"), ("abc", "a")), ["abc bc abca", "bca"])


@given(
    st.lists(
        st.tuples(st.text("ab", min_size=1, max_size=3), st.text("ab", min_size=1, max_size=3)), min_size=1, max_size=9
    ),
    st.lists(st.text("ab ", max_size=12), max_size=4),
)
def test_curve_of_any_merges(merges: list[tuple[str, str]], texts: list[str]) -> None:
    merges = list(dict.fromkeys(merges))
    tokens = dict.fromkeys(["a", "b", *itertools.chain(*((left, right, left + right) for left, right in merges))])
    tokenizer = Tokenizer(models.BPE({token: id_ for id_, token in enumerate(tokens)}, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    made = {left + right for left, right in merges}
    if all(part in made or len(part) == 1 for merge in merges for part in merge):
        check_curve_of_cut_lists(tokenizer, texts)


def check_curve_of_cut_lists(tokenizer: Tokenizer, texts: list[str]) -> None:
    """As `check_curve`, for merges that may name tokens that later merges make."""
    counts = np.zeros(max(tokenizer.get_vocab().values()) + 1, np.int64)
    for text in texts:
        np.add.at(counts, tokenizer.encode(text).ids, 1)
    curve = curve_of(tokenizer, vocabulary_of(tokenizer), counts)
    assert curve is not None
    model = json.loads(tokenizer.to_str())["model"]
    for merges, tokens in zip(curve.merges.tolist(), curve.tokens.tolist(), strict=True):
        first = [tuple(merge) for merge in model["merges"][:merges]]
        fewer = Tokenizer(models.BPE(model["vocab"], first))
        fewer.pre_tokenizer = tokenizer.pre_tokenizer
        assert tokens == sum(len(fewer.encode(text).ids) for text in texts)


@pytest.mark.parametrize("make", [unigram, wordpiece], ids=lambda make: make.__name__)
def test_models_without_merges_have_no_curve(make: Any, corpus: list[Path]) -> None:
    assert measure(make(), corpus).tokenizers[0].curve is None


def test_unreachable_tokens_are_those_that_no_text_gives() -> None:
    tokens = ("b", "c"), ("a", "b"), ("ab", "c"), ("c", "b"), ("c", "ba"), ("b", "a")
    tokenizer = letters("abc", *tokens)
    reach = reach_of(tokenizer, vocabulary_of(tokenizer))
    texts = ["".join(word) for length in range(1, 8) for word in itertools.product("abc", repeat=length)]
    given = {id_ for text in texts for id_ in tokenizer.encode(text).ids}
    assert {token.id for token in reach.unreachable} == set(tokenizer.get_vocab().values()) - given
    assert {token.token for token in reach.unreachable} == {"abc", "cba"}
    assert reach.undecided == ()


def test_bytes_that_are_in_no_text_are_unreachable() -> None:
    tokenizer = byte_level()
    vocabulary = vocabulary_of(tokenizer)
    reach = reach_of(tokenizer, vocabulary)
    never = {vocabulary.texts[token.id] for token in reach.unreachable}
    assert never >= {bytes([byte]) for byte in (0xC0, 0xC1, *range(0xF5, 0x100))}
    # All texts of one character, whose bytes are single tokens or merged.
    alone = Tokenizer.from_str(tokenizer.to_str())
    alone.post_processor = None
    alone.no_truncation()
    alone.no_padding()
    chars = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    given = set(np.unique(alone.encode_batch_arrays(chars).ids).tolist())
    assert {token.id for token in reach.unreachable}.isdisjoint(given)


def test_unigram_tokens_that_others_outdo_are_unreachable() -> None:
    pieces = [("<unk>", 0.0), ("a", -1.0), ("b", -1.0), ("ab", -3.0), ("ba", -1.5), ("aba", -9.0)]
    tokenizer = Tokenizer(models.Unigram(pieces, 0))
    reach = reach_of(tokenizer, vocabulary_of(tokenizer))
    assert [token.token for token in reach.unreachable] == ["ab", "aba"]
    texts = ["".join(word) for length in range(1, 9) for word in itertools.product("ab", repeat=length)]
    assert {id_ for text in texts for id_ in tokenizer.encode(text).ids} == {1, 2, 4}


def test_words_that_are_too_long_are_unreachable(corpus: list[Path]) -> None:
    vocab = {token: id_ for id_, token in enumerate(["[UNK]", "a", "##a", "aaaaaaa", "##b", "A"])}
    tokenizer = Tokenizer(models.WordPiece(vocab, unk_token="[UNK]", max_input_chars_per_word=6))
    tokenizer.normalizer = normalizers.Lowercase()
    reach = reach_of(tokenizer, vocabulary_of(tokenizer))
    assert [(token.token, token.reason) for token in reach.unreachable] == [
        ("aaaaaaa", "longer than max_input_chars_per_word, which is 6")
    ]
    # The normalizer never lets `A` through, which nothing here proves.
    assert [tokenizer.id_to_token(id_) for id_ in reach.undecided] == ["A"]


def test_words_that_spell_bytes_are_counted_as_the_model_counts_them() -> None:
    # é is a byte of a longer character here, and é with a byte after it is two characters of a pre-token.
    vocab = {token: id_ for id_, token in enumerate(["[UNK]", "é", "Ã©", "Ã©a"])}
    tokenizer = Tokenizer(models.WordPiece(vocab, unk_token="[UNK]", max_input_chars_per_word=2))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    reach = reach_of(tokenizer, vocabulary_of(tokenizer))
    assert [token.token for token in reach.unreachable] == ["Ã©a"]
    assert reach.undecided == (1,)


@given(st.lists(st.text("aĠĊÃ©東é<\n", min_size=1, max_size=4), unique=True, max_size=12))
def test_texts_of_tokens_match_naive(tokens: list[str]) -> None:
    tokenizer = Tokenizer(models.WordLevel({token: id_ for id_, token in enumerate(["[UNK]", *tokens])}, "[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel()
    tokenizer.add_tokens(["Ġ<added>"])
    vocabulary = vocabulary_of(tokenizer)
    letters = byte_alphabet()
    for token, text in zip(tokens, vocabulary.texts[1:-1], strict=True):
        spells_bytes = letters.keys() >= set(token)
        assert text == (bytes(letters[letter] for letter in token) if spells_bytes else token.encode())
    # Added tokens are in the text as they are spelled.
    assert vocabulary.texts[-1] == "Ġ<added>".encode()


def test_the_last_token_by_code_points_names_a_shared_id() -> None:
    tokenizer = Tokenizer(models.WordLevel({"b": 0, "é": 0, "a": 0, "c": 1}, "c"))
    tokenizer.add_tokens(["A"])
    vocabulary = vocabulary_of(tokenizer)
    assert [token for token in vocabulary.tokens if token is not None] == ["é", "c", "A"]
