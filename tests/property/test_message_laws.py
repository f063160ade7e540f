"""The mask of conversations equals a computation by characters, for any change of contents by a template."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("jinja2")

from chat_strategies import conversations
from chat_templates import CASES, Messages
from lexmill import AddedToken, Tokenizer, models, pre_tokenizers, processors, trainers
from lexmill.errors import FormatError, InputTypeError
from lexmill.messages import render_messages, tokenize_messages
from lexmill.messages._masks import _covered_in_any_order, covered
from lexmill.messages.conversations import conversation_of
from masks_by_characters import check_by_characters


@cache
def tokenizer(kind: str) -> Tokenizer:
    """Tokens of bytes, of characters, or of words with blanks, and special tokens in the text."""
    made = Tokenizer(models.BPE(unk_token="<unk>"))
    alphabet: list[str] = []
    if kind == "characters":
        made.pre_tokenizer = pre_tokenizers.Metaspace()
    else:
        made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=kind == "bytes")
        alphabet = pre_tokenizers.ByteLevel.alphabet()
        made.post_processor = processors.ByteLevel(trim_offsets=kind == "bytes")
    special = ["<unk>", "<|im_start|>", "<|im_end|>", "</s>", "<end_of_turn>"]
    trainer = trainers.BpeTrainer(vocab_size=600, special_tokens=special, initial_alphabet=alphabet)
    # Without a regex, tokens reach over borders of turns.
    texts = [
        "assistant\nword word\n\nsystem user \u4f60\u597d caf\u00e9 ",
        "[/INST] so </think>",
        "<|end|> <|user|> word",
    ]
    made.train_from_iterator(texts * 20, trainer)
    made.add_tokens([AddedToken("<think>", lstrip=True), AddedToken("[INST]", rstrip=True)])
    return made


# One of several templates.
@settings(max_examples=settings.default.max_examples // 12)
@given(batch=st.lists(conversations(), min_size=1, max_size=3), kind=st.sampled_from(["bytes", "long", "characters"]))
@pytest.mark.parametrize("name", CASES)
def test_the_mask_is_the_one_by_characters(name: str, batch: list[Messages], kind: str) -> None:
    case, encoder = CASES[name], tokenizer(kind)
    tokens = tokenize_messages(encoder, batch, case.template, return_texts=True)
    check_by_characters(case, encoder, batch, tokens)
    check_forms(tokens)


def check_forms(tokens: Any) -> None:
    """Labels and ranges say the same as the mask."""
    labels = tokens.labels()
    assert ((labels == tokens.ids) | (labels == -100)).all()
    assert ((labels != -100) == tokens.loss_mask.astype(bool)).all()
    ranges, splits = tokens.ranges()
    rebuilt = [0] * len(tokens.ids)
    for row, (first, last) in enumerate(pairwise(splits)):
        base, size = tokens.row_splits[row], tokens.row_splits[row + 1] - tokens.row_splits[row]
        for start, end in ranges[first:last]:
            assert 0 <= start < end <= size
            rebuilt[base + start : base + end] = [1] * (end - start)
    assert rebuilt == tokens.loss_mask.tolist()


json_values = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.text(max_size=3), st.sampled_from(["user", "gpt", "{", "[1]"])
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.text(max_size=2), inner, max_size=2),
        st.fixed_dictionaries(
            {},
            optional={
                name: inner
                for name in ["messages", "conversations", "system", "tools", "role", "from", "value", "content", "type"]
            },
        ),
    ),
    max_leaves=12,
)


@given(record=json_values)
def test_any_record_is_a_conversation_or_an_error(record: Any) -> None:
    try:
        found = conversation_of(record)
    except (FormatError, InputTypeError):
        return
    assert found == conversation_of({"messages": found.messages, "tools": found.tools, "documents": found.documents})


@settings(max_examples=settings.default.max_examples // 6)
@given(messages=conversations())
@pytest.mark.parametrize("name", ["plain", "trimmed", "gemma", "merged"])
def test_spans_hold_the_content(name: str, messages: Messages) -> None:
    """Spans of a trimmed content are the trimmed content, and no two overlap."""
    found = render_messages(CASES[name].template, messages)
    strip = str if name == "plain" else str.strip
    for number, message in enumerate(messages):
        ranges = found.content(number)
        is_whole = name == "merged" and message["role"] == "system"
        expected = message["content"] if is_whole else strip(message["content"])
        assert "".join(found.text[start:end] for start, end in ranges) == expected
    assert all(left.end <= right.start for left, right in pairwise(found.spans))


@given(
    lengths=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=12),
    cuts=st.lists(st.integers(0, 30), max_size=8, unique=True).map(sorted),
    is_empty=st.booleans(),
)
def test_covered_matches_naive(lengths: list[tuple[int, int]], cuts: list[int], is_empty: bool) -> None:
    """Tokens in order, which may share characters or have none, and ranges that do not touch."""
    offsets, start, end = [], 0, 0
    for forward, size in lengths:
        start, end = start + forward, max(end, start + forward + size)
        offsets.append((start, end))
    ranges = [(low, low if is_empty else high) for low, high in zip(cuts[::2], cuts[1::2], strict=False)]
    tokens, places = (np.array(one, dtype=np.int64).reshape(-1, 2) for one in (offsets, ranges))
    mask, is_straddling = covered(tokens, places)
    naive, naive_straddling = _covered_in_any_order(tokens[:, 0], tokens[:, 1], places)
    assert (mask == naive).all()
    assert (is_straddling == naive_straddling).all()
