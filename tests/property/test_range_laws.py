"""Encoding by ranges has the ids of plain encoding, and tells nothing that offsets do not."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, note
from hypothesis import strategies as st

import lexmill
from evaluation_cases import plain
from lexmill.errors import LexmillError
from lexmill.reports.vocabulary import vocabulary_of
from report_cases import byte_level, unigram, whitespace_bpe, wordpiece
from whole_engines import Input, Json, read
from whole_tokenizers import cases


def ranges_of(texts: list[str], starts: list[list[int]]) -> tuple[Any, Any]:
    """Places and splits of ranges that begin at these characters of each text."""
    places = [len(text[:at].encode()) for text, own in zip(texts, starts, strict=True) for at in own]
    return np.array(places, np.uint32), np.cumsum([0, *map(len, starts)])


@given(case=cases(own=True), data=st.data())
def test_encoding_by_ranges_matches_naive(case: tuple[Json, list[Input]], data: st.DataObject) -> None:
    spec, inputs = case
    note(json.dumps(spec, ensure_ascii=False))
    assume(not spec["model"].get("dropout") and not spec["model"].get("alpha"))
    tokenizer = plain(read(lexmill, spec))
    texts = [one.text for one in inputs]
    unknown = vocabulary_of(tokenizer).unknown
    starts = [
        [0, *sorted(data.draw(st.sets(st.integers(1, max(1, len(text) - 1)))) - {len(text)})] if text else []
        for text in texts
    ]
    places, splits = ranges_of(texts, starts)
    try:
        naive = tokenizer.encode_batch_arrays(texts, add_special_tokens=False, return_offsets=True)
    except LexmillError as error:
        with pytest.raises(type(error)):
            tokenizer._encode_ranges(texts, places, splits, unknown)
        return
    arrays, firsts, characters = tokenizer._encode_ranges(texts, places, splits, unknown)
    assert (arrays.ids.tolist(), arrays.row_splits.tolist()) == (naive.ids.tolist(), naive.row_splits.tolist())
    assert naive.offsets is not None
    for at, (text, (begin, end)) in enumerate(zip(texts, pairwise(naive.row_splits.tolist()), strict=True)):
        offsets = naive.offsets[begin:end].tolist()
        # The character that a token belongs to, as in a report.
        last = [min(max(after - 1, first), len(text) - 1) for first, after in offsets]
        for start, first in zip(starts[at], firsts[splits[at] : splits[at + 1]].tolist(), strict=True):
            if first >= 0:
                assert all(place < start for place in last[: first - begin])
                assert all(place >= start for place in last[first - begin :])
        ids = naive.ids[begin:end].tolist()
        expected = sum(after - first for id_, (first, after) in zip(ids, offsets, strict=True) if id_ == unknown)
        assert characters[at] in (expected, -1)


@pytest.mark.parametrize("make", [byte_level, unigram, whitespace_bpe, wordpiece])
def test_ranges_of_words_are_told(make: Any) -> None:
    texts = ["the cat кот sat 12 on ωώ, the mat", "日本 the 日本", "", "the  cat"]
    starts = [[0, 7, 11, 15, 18, 21, 25, 29], [0, 2, 6], [], [0, 3]]
    tokenizer = plain(make())
    _, firsts, characters = tokenizer._encode_ranges(texts, *ranges_of(texts, starts), vocabulary_of(tokenizer).unknown)
    assert (firsts >= 0).all()
    assert (characters >= 0).all()


@given(case=cases(own=True))
def test_undecoded_texts_match_naive(case: tuple[Json, list[Input]]) -> None:
    spec, inputs = case
    note(json.dumps(spec, ensure_ascii=False))
    tokenizer = plain(read(lexmill, spec))
    texts = [one.text for one in inputs]
    try:
        arrays = tokenizer.encode_batch_arrays(texts, add_special_tokens=False)
        decoded = tokenizer.decode_batch(list(arrays), skip_special_tokens=False)
    except LexmillError:
        return
    naive = [at for at, (text, other) in enumerate(zip(texts, decoded, strict=True)) if text != other]
    assert tokenizer._undecoded(texts, arrays.ids, arrays.row_splits) == naive


def test_splits_that_do_not_fit_are_refused() -> None:
    tokenizer = byte_level()
    one, two = np.zeros(1, np.uint32), np.zeros(2, np.int64)
    for splits in ([0], [0, 2], [1, 1], [0, 1, 0], [0, -1, 1]):
        with pytest.raises(lexmill.errors.OptionError, match="splits is"):
            tokenizer._encode_ranges(["a"] * (len(splits) - 1), one, np.array(splits, np.int64))
    with pytest.raises(lexmill.errors.OptionError, match="splits is"):
        tokenizer._undecoded(["a"], np.zeros(1, np.uint16), two)


def test_unknown_characters_beside_an_added_token_are_not_missed() -> None:
    tokenizer = lexmill.Tokenizer(lexmill.models.Unigram([("<unk>", -1.0), ("a", -1.0), ("▁a", -1.0)], unk_id=0))
    tokenizer.pre_tokenizer = lexmill.pre_tokenizers.Metaspace()
    tokenizer.add_tokens([lexmill.AddedToken("</s>", normalized=True)])
    arrays, _, characters = tokenizer._encode_ranges(["b</s>"], *ranges_of(["b</s>"], [[0]]), 0)
    assert arrays.ids.tolist() == [0, 3]
    assert characters[0] in (1, -1)
