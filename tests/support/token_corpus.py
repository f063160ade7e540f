"""Shared by the tests of `tokenize_files`: texts, a tokenizer that knows them, and their ids."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path

import pytest

from lexmill import Tokenizer, models, open_tokens, pre_tokenizers, trainers

END = "<|end|>"
# More than a block of a quarter of a megabyte; some texts are empty, and one is longer than most parts.
TEXTS = ["" if number % 11 == 3 else f"Der {number}. Satz été\n" + "日本 ab" * (number % 60) for number in range(2500)]
TEXTS[1000] = "long " * 20_000
# These do not say where documents begin.
FLAT = [("raw", "nanogpt"), ("raw", "llm.c")]


def trained_tokenizer(texts: Sequence[str], special_tokens: Sequence[str]) -> Tokenizer:
    """A byte-level tokenizer of 400 tokens, of which the special tokens are the first."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=list(special_tokens),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def corpus_tokenizer() -> Tokenizer:
    return trained_tokenizer(TEXTS, [END, "<|begin|>", "<|pad|>"])


def corpus_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("corpus") / "texts.jsonl"
    path.write_bytes(as_json(TEXTS))
    return path


def wide(tokenizer: Tokenizer) -> Tokenizer:
    """The same with ids beyond 16 bits."""
    copy = Tokenizer.from_str(tokenizer.to_str())
    data = json.loads(copy.to_str())
    data["model"]["vocab"]["unused"] = 70_000
    return Tokenizer.from_str(json.dumps(data))


def as_json(texts: list[str]) -> bytes:
    return "".join(json.dumps({"id": 1, "text": text}) + "\n" for text in texts).encode()


def expected(tokenizer: Tokenizer, texts: list[str], end: list[int] | None = None) -> list[list[int]]:
    encoded = [tokenizer.encode(text).ids for text in texts]
    return [ids + (end or []) for ids, text in zip(encoded, texts, strict=True) if text]


def flat(lists: Iterable[list[int]]) -> list[int]:
    return list(chain.from_iterable(lists))


def dtype_of(folder: Path) -> str:
    found = open_tokens(folder).manifest["options"]["dtype"]
    assert isinstance(found, str)
    return found
