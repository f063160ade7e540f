"""Calls of Hugging Face's that are seldom met: asyncio, the Hub, counts of words, caches, the normalizer of bytes."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from lexmill import Tokenizer, models, normalizers, pre_tokenizers, trainers
from lexmill.errors import LexmillError


@pytest.fixture
def tokenizer() -> Tokenizer:
    made = Tokenizer(models.WordLevel({"a": 0, "b": 1, "?": 2}, "?"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    return made


def test_awaited_calls_answer_as_the_others(tokenizer: Tokenizer) -> None:
    async def call() -> list[Any]:
        one, batch, fast, texts = await asyncio.gather(
            tokenizer.async_encode("a b", "b"),
            tokenizer.async_encode_batch(["a", "b a"]),
            tokenizer.async_encode_batch_fast([["a", "b"]], is_pretokenized=True),
            tokenizer.async_decode_batch([[0, 1], [2]]),
        )
        return [one.ids, [row.ids for row in batch], [row.ids for row in fast], texts]

    assert asyncio.run(call()) == [[0, 1, 1], [[0], [1, 0]], [[0, 1]], ["a b", "?"]]


def test_awaited_calls_need_a_loop(tokenizer: Tokenizer) -> None:
    with pytest.raises(RuntimeError, match="no running event loop"):
        tokenizer.async_encode("a")


def test_what_a_call_raises_is_raised_at_await(tokenizer: Tokenizer) -> None:
    async def call() -> None:
        await tokenizer.async_encode(5)  # type: ignore[arg-type]

    with pytest.raises(TypeError):
        asyncio.run(call())


def test_a_file_comes_from_the_hub(tokenizer: Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, hub = [], ModuleType("huggingface_hub")
    tokenizer.save(str(tmp_path / "tokenizer.json"))

    def hf_hub_download(*arguments: Any, **keywords: Any) -> str:
        asked.append((arguments, keywords))
        return str(tmp_path / "tokenizer.json")

    hub.hf_hub_download = hf_hub_download  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "huggingface_hub", hub)
    assert Tokenizer.from_pretrained("some/where", token="secret").to_str() == tokenizer.to_str()
    assert asked == [(("some/where", "tokenizer.json"), {"revision": "main", "token": "secret"})]
    assert Tokenizer.from_pretrained(str(tmp_path)).to_str() == tokenizer.to_str()


def test_the_hub_needs_its_client(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(LexmillError, match=r"pip install 'lexmill\[hub\]'"):
        Tokenizer.from_pretrained("some/where")


def test_a_trainer_counts_the_words_of_its_last_corpus() -> None:
    trainer = trainers.BpeTrainer(show_progress=False)
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    counts = [trainer.get_word_count()]
    for corpus in (["a b a", "b c"], ["x y"]):
        made.train_from_iterator(corpus, trainer)
        counts.append(trainer.get_word_count())
    assert counts == [0, 3, 2]


def test_a_model_forgets_and_encodes_the_same(tokenizer: Tokenizer) -> None:
    before = tokenizer.encode_batch_ids(["a b", "c"])
    tokenizer.model._clear_cache()
    tokenizer.model._resize_cache(10)
    assert tokenizer.encode_batch_ids(["a b", "c"]) == before


def test_bytes_as_characters() -> None:
    made = Tokenizer(models.BPE({"a": 0, "Ã": 1, "©": 2, "Ġ": 3}, []))
    made.normalizer = normalizers.ByteLevel()
    encoding = made.encode("aé a")
    assert (encoding.ids, encoding.offsets) == ([0, 1, 2, 3, 0], [(0, 1), (1, 2), (1, 2), (2, 3), (3, 4)])
    assert Tokenizer.from_str(made.to_str()).to_str() == made.to_str()
    assert normalizers.ByteLevel().normalize_str("Hé y\n") == "HÃ©ĠyĊ"
