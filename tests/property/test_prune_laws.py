"""Random tokenizers of all models with a part of their tokens: texts of kept tokens are encoded as before."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from hypothesis import assume, event, given, note
from hypothesis import strategies as st

import lexmill
from lexmill.errors import LexmillError, OptionError, VocabError
from lexmill.vocabularies import Pruned
from whole_engines import Input, Json, read
from whole_tokenizers import cases


def ids_of(tokenizer: lexmill.Tokenizer) -> list[int]:
    return sorted({*tokenizer.get_vocab().values(), *tokenizer.get_added_tokens_decoder()})


def encoded(tokenizer: lexmill.Tokenizer, given: Input) -> Any:
    try:
        encoding = tokenizer.encode(given.text, given.pair, add_special_tokens=given.add_special_tokens)
    except LexmillError as error:
        return type(error)
    return encoding.ids, encoding.offsets, encoding.type_ids, encoding.attention_mask


def check_map(old: lexmill.Tokenizer, pruned: Pruned) -> None:
    """The two maps are each other's inverse, dense and in order, and tokens keep their spelling."""
    new = pruned.tokenizer
    assert pruned.id_map.dtype == pruned.old_ids.dtype == pruned.required.dtype == np.int64
    assert pruned.id_map[pruned.old_ids].tolist() == list(range(len(pruned.old_ids)))
    assert int((pruned.id_map >= 0).sum()) == len(pruned.old_ids)
    assert set(ids_of(new)) <= set(range(len(pruned.old_ids)))
    for id_, before in enumerate(pruned.old_ids.tolist()):
        assert new.id_to_token(id_) == old.id_to_token(before)
    assert new.get_added_tokens_decoder().keys() == {int(pruned.id_map[id_]) for id_ in old.get_added_tokens_decoder()}


def is_lawful(old: lexmill.Tokenizer, pruned: Pruned, ids: list[int]) -> bool:
    """True if all tokens are kept; a word that WordPiece does not know may become known by a shorter first token."""
    model = old.model
    unknown = model.token_to_id(model.unk_token) if isinstance(model, lexmill.models.WordPiece) else None
    return unknown not in ids and all(pruned.id_map[id_] >= 0 for id_ in ids if id_ < len(pruned.id_map))


def check_texts(old: lexmill.Tokenizer, pruned: Pruned, inputs: list[Input]) -> None:
    model = old.model
    for one in inputs:
        before, after = encoded(old, one), encoded(pruned.tokenizer, one)
        if not isinstance(before, tuple) or not is_lawful(old, pruned, before[0]):
            continue
        if isinstance(model, lexmill.models.Unigram) and model.unk_id is None and after is VocabError:
            # The best way to some place of the text may be unknown now.
            continue
        event("text of kept tokens")
        size = len(pruned.old_ids)
        mapped = [int(pruned.id_map[id_]) if id_ < len(pruned.id_map) else max(id_, size) for id_ in before[0]]
        assert after == (mapped, *before[1:]), one


@given(case=cases(own=True), data=st.data())
def test_texts_of_kept_tokens_are_encoded_as_before(case: tuple[Json, list[Input]], data: st.DataObject) -> None:
    spec, inputs = case
    note(json.dumps(spec, ensure_ascii=False))
    assume(not spec["model"].get("dropout"))
    old = read(lexmill, {**spec, "truncation": None})
    ids = ids_of(old)
    outcomes = [encoded(old, one) for one in inputs]
    used = sorted({id_ for found in outcomes if isinstance(found, tuple) for id_ in found[0]} & set(ids))
    several = data.draw(st.lists(st.sampled_from(ids), max_size=6) if ids else st.just([]))
    keep = data.draw(st.sampled_from([several, used[:3], used]))
    pruned = lexmill.prune(old, keep)
    check_map(old, pruned)
    assert {*keep} | {*pruned.required.tolist()} == {*pruned.old_ids.tolist()}
    check_texts(old, pruned, inputs)


@given(case=cases(own=True))
def test_the_whole_vocabulary_is_the_same_tokenizer(case: tuple[Json, list[Input]]) -> None:
    old = read(lexmill, {**case[0], "truncation": None})
    pruned = lexmill.prune(old, ids_of(old))
    check_map(old, pruned)
    check_texts(old, pruned, case[1])
    if ids_of(old) == list(range(len(ids_of(old)))):
        assert pruned.tokenizer.to_str() == old.to_str()
    assert pruned.tokenizer.encode_special_tokens == old.encode_special_tokens


@given(case=cases(own=True), data=st.data())
def test_tokens_that_the_model_makes_are_made_still(case: tuple[Json, list[Input]], data: st.DataObject) -> None:
    spec, _ = case
    note(json.dumps(spec, ensure_ascii=False))
    assume(not spec["model"].get("dropout"))
    old = read(lexmill, {**spec, "truncation": None})
    ids = ids_of(old)
    assume(ids)
    pruned = lexmill.prune(old, data.draw(st.lists(st.sampled_from(ids), max_size=6)))
    before, after = lexmill.Tokenizer(old.model), lexmill.Tokenizer(pruned.tokenizer.model)
    for token, id_ in pruned.tokenizer.get_vocab(with_added_tokens=False).items():
        found = encoded(before, Input(token))
        if isinstance(found, tuple) and found[0] == [int(pruned.old_ids[id_])]:
            result = encoded(after, Input(token))
            if result is VocabError and spec["model"].get("unk_id", 0) is None:
                continue
            assert result[0] == [id_], token


@given(case=cases(own=True), data=st.data())
def test_smaller_sizes_are_parts_of_larger_ones(case: tuple[Json, list[Input]], data: st.DataObject) -> None:
    spec, inputs = case
    note(json.dumps(spec, ensure_ascii=False))
    assume(not spec["model"].get("dropout"))
    old = read(lexmill, {**spec, "truncation": None})
    size = len(ids_of(old))
    n, m = sorted(data.draw(st.tuples(st.integers(0, size + 2), st.integers(0, size + 2))))
    try:
        small = lexmill.shrink(old, n)
    except OptionError:
        event("too small")
        return
    large = lexmill.shrink(old, m)
    assert len(small.old_ids) <= n
    assert {*small.old_ids.tolist()} <= {*large.old_ids.tolist()}
    check_map(old, small)
    check_texts(old, small, inputs)
    assert len(lexmill.shrink(old, size).old_ids) == size or size == 0
