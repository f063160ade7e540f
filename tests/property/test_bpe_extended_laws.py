from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lexmill
from engines import Merges, Words
from lexmill.errors import LexmillError
from lexmill.reference.bpe_extended import extend_bpe
from lexmill.reference.bpe_trainer import train_bpe

OPTIONS = st.fixed_dictionaries(
    {"tie_break": st.sampled_from(["smallest-ids", "first-seen"]), "vocab_size": st.integers(0, 60)},
    optional={
        "min_frequency": st.integers(0, 4),
        "special_tokens": st.lists(st.sampled_from(["<s>", "a", "ab", "ba", "abc", "b b"]), max_size=3),
        "initial_alphabet": st.lists(st.sampled_from(["a", "z", "é"]), max_size=2),
        "limit_alphabet": st.integers(0, 4),
        "max_token_length": st.integers(0, 7),
        "ignore_merges": st.booleans(),
        "first_id": st.integers(0, 40),
    },
)
AFFIXES = st.fixed_dictionaries(
    {},
    optional={
        "continuing_subword_prefix": st.sampled_from(["", "##", "a"]),
        "end_of_word_suffix": st.sampled_from(["", "</w>", "b"]),
    },
)


@st.composite
def corpora(draw: st.DrawFn) -> Words:
    letters = draw(st.sampled_from(["ab", "abc", "abcd", "ab ", "aé日"]))
    words = draw(st.lists(st.text(letters, min_size=1, max_size=12), max_size=8, unique=True))
    return [(word, draw(st.integers(1, 4))) for word in words]


@st.composite
def models(draw: st.DrawFn, affixes: dict[str, Any]) -> tuple[dict[str, int], Merges]:
    """A trained model, or one with merges in any order; ids may have gaps."""
    prefix = affixes.get("continuing_subword_prefix", "")
    if draw(st.booleans()):
        size, specials = draw(st.integers(12, 40)), draw(st.lists(st.sampled_from(["<s>", "ab", "abc"]), max_size=2))
        tokens, merges = train_bpe(draw(corpora()), vocab_size=size, special_tokens=specials, **affixes)
    else:
        tokens, merges = [], []
        splits = st.tuples(st.text("ab", min_size=1, max_size=3), st.text("ab", min_size=1, max_size=3))
        for left, right in draw(st.lists(splits, max_size=8)):
            merges.append((left, prefix + right))
            tokens += [left, prefix + right, left + right]
    gap = draw(st.integers(1, 3))
    return {token: gap * token_id for token_id, token in enumerate(dict.fromkeys(tokens))}, merges


def outcome(extend: Any, words: Words, vocab: Any, merges: Merges, options: dict[str, Any]) -> Any:
    try:
        tokens, merges = extend(words, vocab, merges, **options)
    except LexmillError as error:
        return type(error), str(error)
    return dict(tokens), [tuple(merge) for merge in merges]


@pytest.mark.parametrize("threads", [1, 2, 7])
@given(data=st.data(), words=corpora(), options=OPTIONS, affixes=AFFIXES, max_words=st.none() | st.integers(0, 3))
def test_core_extends_as_the_reference(
    threads: int, data: st.DataObject, words: Words, options: dict[str, Any], affixes: dict[str, str], max_words: Any
) -> None:
    vocab, merges = data.draw(models(affixes))
    if "".join(affixes.values()) == "":
        options = {**options, "max_words": max_words}
    options = {**options, **affixes}
    expected = outcome(extend_bpe, words, vocab, merges, options)
    core = {**options, "num_threads": threads}
    assert outcome(lexmill._core.extend_bpe_words, words, list(vocab.items()), merges, core) == expected


@given(words=corpora(), cut=st.integers(0, 30), more=st.integers(0, 30))
def test_training_from_a_shorter_model_goes_the_same_way(words: Words, cut: int, more: int) -> None:
    whole, merges = train_bpe(words, vocab_size=10 + cut + more)
    start, first = train_bpe(words, vocab_size=10 + cut)
    vocab = {token: token_id for token_id, token in enumerate(start)}
    tokens, found = lexmill._core.extend_bpe_words(words, list(vocab.items()), first, vocab_size=10 + cut + more)
    assert ([token for token, _ in tokens], [tuple(merge) for merge in found]) == (whole, merges)
