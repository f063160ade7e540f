"""Published tokenizers on the sentences of the public course, as the golden file has them."""

from __future__ import annotations

from typing import Any

import pytest

from cases import load
from lexmill import Tokenizer
from peers import tokenizer_file

pytestmark = pytest.mark.external

PUBLISHED = load("textbook.json")["published"]
NAMES = ["bert-base-uncased", "bert-base-cased", "roberta-base", "gpt2"]


@pytest.mark.parametrize("name", NAMES)
def test_sentences_are_encoded_as_published(name: str) -> None:
    tokenizer = Tokenizer.from_file(str(tokenizer_file(name)))
    for text, expected in PUBLISHED[name].items():
        encoding: Any = tokenizer.encode(text)
        found = {part: getattr(encoding, part) for part in expected}
        assert {**found, "offsets": list(map(list, found["offsets"]))} == expected


def test_windows_are_cut_as_published() -> None:
    tokenizer = Tokenizer.from_file(str(tokenizer_file("bert-base-cased")))
    tokenizer.enable_truncation(max_length=6, stride=2)
    for text, expected in PUBLISHED["overflow max_length=6 stride=2 bert-base-cased"].items():
        encoding = tokenizer.encode(text)
        parts = [encoding, *encoding.overflowing]
        assert [tokenizer.decode(part.ids, skip_special_tokens=False) for part in parts] == expected
