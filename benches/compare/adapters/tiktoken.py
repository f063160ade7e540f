"""tiktoken: `encode_ordinary_batch` is its fastest call on many texts (`encode_to_numpy` takes one, and is slower)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from unittest import mock

import tiktoken
from tiktoken_ext import openai_public

from .base import Adapter, Unsupported, token_bytes


class Library(Adapter):
    """Threads are an argument of the call."""

    distribution = "tiktoken"

    def load(self, folder: Path) -> None:
        definition = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
        if definition["normalizer"] is not None or not _is_byte_level(definition):
            raise Unsupported("has no normalizers and byte-level BPE only")
        added = {token["content"] for token in definition["added_tokens"]}
        vocab = definition["model"]["vocab"].items()
        ranks = {token_bytes(token): rank for token, rank in vocab if token not in added}
        options = self._published(folder.name, ranks) or {
            "name": folder.name,
            "pat_str": _pattern(definition),
            "mergeable_ranks": ranks,
            "special_tokens": {},
        }
        self.encoding = tiktoken.Encoding(**options)

    @staticmethod
    def _published(name: str, ranks: dict[bytes, int]) -> dict[str, Any] | None:
        """The library's own definition with its tuned patterns, and ranks from the file instead of the network."""
        definition = openai_public.ENCODING_CONSTRUCTORS.get(name)
        loaders = ["load_tiktoken_bpe", "data_gym_to_mergeable_bpe_ranks"]
        with mock.patch.multiple(openai_public, **dict.fromkeys(loaders, lambda *_, **__: ranks)):
            return definition and definition()

    def encode_arrays(self, texts: list[str]) -> Any:
        return self.encoding.encode_ordinary_batch(texts, num_threads=self.threads)

    encode_lists = encode_arrays

    def encode_one(self, texts: list[str]) -> Any:
        encode = self.encoding.encode_ordinary
        return [encode(text) for text in texts]


def _stages(definition: dict[str, Any]) -> list[dict[str, Any]]:
    pre_tokenizer = definition["pre_tokenizer"] or {}
    return pre_tokenizer.get("pretokenizers", [pre_tokenizer])


def _is_byte_level(definition: dict[str, Any]) -> bool:
    return any(stage.get("type") == "ByteLevel" for stage in _stages(definition))


def _pattern(definition: dict[str, Any]) -> str:
    stages = _stages(definition)
    if len(stages) == 1:
        return openai_public.r50k_pat_str
    if len(stages) == 2 and "Regex" in stages[0].get("pattern", {}):
        return stages[0]["pattern"]["Regex"]
    raise Unsupported("has one splitting pattern only")
