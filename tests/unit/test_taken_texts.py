"""`TextIterator.take` gives the texts of plain iteration, in blocks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lexmill import Tokenizer, models
from lexmill._core import TextBlock
from lexmill.errors import FormatError, OptionError
from lexmill.sources import JsonLines


def all_taken(texts: Any, characters: int) -> Iterator[str]:
    while True:
        taken, size = texts.take(characters)
        assert size == sum(map(len, taken))
        if not len(taken):
            return
        assert size - len(taken[-1]) < characters
        yield from taken


def is_end(texts: Any) -> bool:
    taken, size = texts.take(1)
    return len(taken) == size == 0


def block_of(path: Path) -> TextBlock:
    path.write_text('{"text": "é日"}\n{"text": ""}\n{"text": "abc"}\n', encoding="utf-8")
    block, characters = iter(JsonLines(path)._open()).take(1000)
    assert characters == 5
    return block


@pytest.mark.parametrize("characters", [1, 5, 1000, 1 << 40])
def test_taken_texts_are_all_texts(tmp_path: Path, characters: int) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text('{"text": "é日"}\n{"text": ""}\n{"text": "abc"}\n' * 50, encoding="utf-8")
    source = JsonLines([path, path])
    texts = iter(source._open())
    assert list(all_taken(texts, characters)) == list(source)
    assert is_end(texts)
    assert len(texts.take(0)[0]) == 0


@pytest.mark.parametrize("files", [1, 2])
def test_texts_before_an_error_are_not_lost(tmp_path: Path, files: int) -> None:
    lines = ['{"text": "a"}\n{"text": "b"}\n', '{"text"\n{"text": "c"}\n']
    paths = [tmp_path / f"{number}.jsonl" for number in range(files)]
    for path, content in zip(paths, lines if files == 2 else ["".join(lines)], strict=True):
        path.write_text(content, encoding="utf-8")
    texts = iter(JsonLines(paths)._open())
    taken, size = texts.take(1000)
    assert (list(taken), size) == (["a", "b"], 2)
    with pytest.raises(FormatError):
        texts.take(1000)
    assert is_end(texts)
    texts = iter(JsonLines(paths)._open())
    assert [next(texts), next(texts)] == ["a", "b"]
    with pytest.raises(FormatError):
        next(texts)
    assert next(texts, None) is None


def test_a_block_is_a_sequence_of_texts(tmp_path: Path) -> None:
    block = block_of(tmp_path / "in.jsonl")
    assert list(block) == [block[0], block[1], block[2]] == ["é日", "", "abc"]
    assert [block[-1], block[-3]] == ["abc", "é日"]
    for index in (3, -4):
        with pytest.raises(IndexError, match=f"no text {index}: there are 3"):
            block[index]
    assert block.utf8() == "é日abc".encode()


def test_chosen_texts_are_a_block(tmp_path: Path) -> None:
    block = block_of(tmp_path / "in.jsonl")
    chosen = block.chosen(np.array([False, True, True]))
    assert list(chosen) == ["", "abc"]
    assert chosen.utf8() == b"abc"
    assert list(chosen.chosen(np.array([False, True]))) == ["abc"]
    assert list(block.chosen(np.zeros(3, np.bool_))) == []
    with pytest.raises(OptionError, match="chosen has 2 entries but must have 3"):
        block.chosen(np.ones(2, np.bool_))


def test_blocks_are_encoded_as_lists_of_their_texts(tmp_path: Path) -> None:
    tokenizer = Tokenizer(models.BPE(vocab={"a": 0, "b": 1, "c": 2, "<unk>": 3}, merges=[], unk_token="<unk>"))
    block = block_of(tmp_path / "in.jsonl")
    for texts in (block, block.chosen(np.array([True, False, True]))):
        found, expected = (tokenizer.encode_batch_arrays(some, return_offsets=True) for some in (texts, list(texts)))
        for name in ("ids", "row_splits", "offsets"):
            assert getattr(found, name).tolist() == getattr(expected, name).tolist()
