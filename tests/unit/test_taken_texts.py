"""`TextIterator.take` gives the texts of plain iteration."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lexmill.errors import FormatError
from lexmill.sources import JsonLines


def all_taken(texts: Any, characters: int) -> Iterator[str]:
    while True:
        taken, size = texts.take(characters)
        assert size == sum(map(len, taken))
        if not taken:
            return
        assert size - len(taken[-1]) < characters
        yield from taken


@pytest.mark.parametrize("characters", [1, 5, 1000, 1 << 40])
def test_taken_texts_are_all_texts(tmp_path: Path, characters: int) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text('{"text": "é日"}\n{"text": ""}\n{"text": "abc"}\n' * 50, encoding="utf-8")
    source = JsonLines([path, path])
    texts = iter(source._open())
    assert list(all_taken(texts, characters)) == list(source)
    assert texts.take(1) == ([], 0)
    assert texts.take(0) == ([], 0)


def test_texts_before_an_error_are_not_lost(tmp_path: Path) -> None:
    whole, broken = tmp_path / "1.jsonl", tmp_path / "2.jsonl"
    whole.write_text('{"text": "a"}\n{"text": "b"}\n', encoding="utf-8")
    broken.write_text('{"text": "c"}\n{"text"\n', encoding="utf-8")
    texts = iter(JsonLines([whole, broken])._open())
    assert texts.take(1000) == (["a", "b"], 2)
    with pytest.raises(FormatError):
        texts.take(1000)
    assert texts.take(1000) == ([], 0)
    texts = iter(JsonLines([whole, broken])._open())
    assert [next(texts), next(texts)] == ["a", "b"]
    with pytest.raises(FormatError):
        next(texts)
    assert next(texts, None) is None
