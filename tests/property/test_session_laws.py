"""After any appends, a session has the ids of all text."""

from __future__ import annotations

import json
from random import Random

from hypothesis import given, note
from hypothesis import strategies as st

import lexmill
from lexmill.errors import LexmillError
from published import PUBLISHED, read
from whole_engines import Json
from whole_engines import read as read_by
from whole_tokenizers import FRAGMENTS, texts_of, tokenizers

WORDS = [
    "It was the ",
    "night. ",
    "don't ",
    "x = 3.14;\n",
    "日本語のテキスト",
    "한국어 ",
    "Ünïcödé ",
    "e\u0301",
    "\n\n",
    "    ",
    *FRAGMENTS,
]


@PUBLISHED
def test_sessions_of_published_tokenizers_have_the_ids_of_all_text(name: str) -> None:
    tokenizer, random = read(name)._with_all_tables(), Random(name)
    added = [token.content for token in tokenizer.get_added_tokens_decoder().values()][-20:]
    for _ in range(20):
        session, text = tokenizer.session(), ""
        for _ in range(random.randrange(60)):
            part = "".join(random.choices([*WORDS, *WORDS, *added], k=random.randrange(6)))
            part = part[: random.randrange(len(part) + 1)]
            text += part
            settled = session.ids[: session.settled]
            start, new = session.append(part)
            assert start + len(new) == len(session)
            assert session.ids[: len(settled)] == settled
        assert session.ids == tokenizer.encode_ids(text, add_special_tokens=False)


@given(spec=tokenizers(own=True), data=st.data())
def test_sessions_of_random_tokenizers_have_the_ids_of_all_text(spec: Json, data: st.DataObject) -> None:
    note(json.dumps(spec, ensure_ascii=False))
    try:
        tokenizer = read_by(lexmill, {**spec, "truncation": None, "padding": None})._with_all_tables()
    except LexmillError:
        return
    text = "".join(data.draw(st.lists(texts_of(spec), max_size=5)))
    borders = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    session, mirror = tokenizer.session(), list[int]()
    for start, end in zip([0, *borders], [*borders, len(text)], strict=True):
        try:
            expected = tokenizer._staged().encode_ids(text[:end], add_special_tokens=False)
            changed, new = session.append(text[start:end])
        except LexmillError:
            # A model that chooses at random, or a character without a token.
            return
        mirror[changed:] = new
        assert mirror == session.ids == expected
