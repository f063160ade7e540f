"""Texts cut by tokens: every span fits, all of the text is there, and beginnings equal the obvious twin's."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from random import Random

from hypothesis import given, note
from hypothesis import strategies as st

import lexmill
from cut_texts import count, paragraphs, truncated
from lexmill import Tokenizer
from lexmill.errors import LexmillError, OptionError, TextTooLongError, VocabError
from published import PUBLISHED, read
from whole_engines import Json
from whole_engines import read as read_by
from whole_tokenizers import FRAGMENTS, texts_of, tokenizers

ENDS = ["token", "sentence", "paragraph"]
WORDS = [
    "It was. ",
    "Then? No! ",
    "Mr. Fox\n",
    "\n",
    "\n\n",
    " \t\n \n",
    "of the night",
    "。",
    "日本語の文。",
    "x" * 40,
    " " * 20,
    *FRAGMENTS,
]


def check(tokenizer: Tokenizer, text: str, size: int, overlap: int, at: str, *, special: bool) -> None:
    """Checks the laws of the spans of a text."""
    try:
        spans = tokenizer.split_text(text, size, overlap=overlap, at=at, add_special_tokens=special)
    except OptionError as error:
        if not re.search("special tokens|the tokens of the character|at random", str(error)):
            raise
        return
    except (VocabError, TextTooLongError):
        # Of the stages.
        return
    for start, end in spans:
        assert start < end
        assert count(tokenizer, text[start:end], special=special) <= size
    if not text:
        assert spans == []
        return
    assert (spans[0][0], spans[-1][1]) == (0, len(text))
    for (start, end), (next_start, next_end) in pairwise(spans):
        assert start < next_start <= end < next_end
        assert overlap or next_start == end
    twin = truncated(tokenizer, text, size, special=special)
    assert tokenizer.truncate_text(text, size, add_special_tokens=special) == twin
    if at == "token" and twin:
        assert spans[0] == (0, len(twin))


@PUBLISHED
def test_spans_of_published_tokenizers_fit(name: str) -> None:
    tokenizer, random = read(name), Random(name)
    for _ in range(60):
        text = "".join(random.choices(WORDS, k=random.randrange(40)))
        size = random.choice([1, 2, 3, 5, 8, 20, 100])
        check(tokenizer, text, size, random.randrange(size), random.choice(ENDS), special=random.random() < 0.5)


@given(spec=tokenizers(own=True), data=st.data())
def test_spans_of_random_tokenizers_fit(spec: Json, data: st.DataObject) -> None:
    note(json.dumps(spec, ensure_ascii=False))
    try:
        tokenizer = read_by(lexmill, {**spec, "truncation": None, "padding": None})
    except LexmillError:
        return
    text = data.draw(texts_of(spec))
    size = data.draw(st.integers(1, 12))
    overlap, at = data.draw(st.integers(0, size - 1)), data.draw(st.sampled_from(ENDS))
    check(tokenizer, text, size, overlap, at, special=data.draw(st.booleans()))


# Python alone takes these for white space.
SEPARATORS = "\x1c\x1d\x1e\x1f"
PLAIN = [word for word in WORDS if word not in SEPARATORS]


@given(text=st.lists(st.sampled_from(PLAIN), max_size=30).map("".join), size=st.integers(1, 12))
def test_spans_end_where_they_can(text: str, size: int) -> None:
    tokenizer = Tokenizer(lexmill.models.WordLevel({"?": 0}, "?"))
    tokenizer.pre_tokenizer = lexmill.pre_tokenizers.Split(lexmill.Regex(r"[\s\S]"), "isolated")
    breaks = paragraphs(text)
    spans = tokenizer.split_text(text, size, at="paragraph")
    for start, end in spans:
        if end < len(text) and end not in breaks:
            # No paragraph ends where the span might have ended.
            assert not any(start < at <= start + size for at in breaks)
    whole = tokenizer.split_text_batch([text, "", text], size, at="paragraph")
    assert [tuple(span) for span in whole[0].tolist()] == [*spans, *spans]
    assert whole[1].tolist() == [0, len(spans), len(spans), 2 * len(spans)]
