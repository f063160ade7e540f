"""tiktoken: `encode_ordinary_batch` is its fastest call on many texts (`encode_to_numpy` takes one, and is slower)."""

from __future__ import annotations

import contextlib
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

    def load(self, path: Path) -> None:
        definition = json.loads(path.read_text(encoding="utf-8"))
        if definition.get("normalizer") is not None or not _is_byte_level(definition):
            raise Unsupported("has no normalizers and byte-level BPE only")
        added = {token["content"] for token in definition["added_tokens"]}
        vocab = definition["model"]["vocab"].items()
        try:
            ranks = {token_bytes(token): rank for token, rank in vocab if token not in added}
        except KeyError as error:
            raise Unsupported(f"has tokens of bytes only, not of the character {error}") from error
        name = path.parent.name
        own = {"name": name, "pat_str": _pattern(definition), "mergeable_ranks": ranks, "special_tokens": {}}
        self.encoding = self._published(name, ranks) or tiktoken.Encoding(**own)

    @staticmethod
    def _published(name: str, ranks: dict[bytes, int]) -> tiktoken.Encoding | None:
        """The library's own definition with its tuned patterns, and ranks from the file instead of the network.

        None if no definition has this name, or this file is of another size than the one of the name.
        """
        definition = openai_public.ENCODING_CONSTRUCTORS.get(name)
        if definition is None:
            return None
        with contextlib.ExitStack() as stack:
            for loader in ("load_tiktoken_bpe", "data_gym_to_mergeable_bpe_ranks"):
                stack.enter_context(mock.patch.object(openai_public, loader, return_value=ranks))
            stack.enter_context(contextlib.suppress(AssertionError))
            return tiktoken.Encoding(**definition())
        return None

    def encode_arrays(self, texts: list[str]) -> Any:
        return self.encoding.encode_ordinary_batch(texts, num_threads=self.threads)

    encode_lists = encode_arrays

    def encode_one(self, texts: list[str]) -> Any:
        encode = self.encoding.encode_ordinary
        return [encode(text) for text in texts]


def _stages(definition: dict[str, Any]) -> list[dict[str, Any]]:
    pre_tokenizer = definition.get("pre_tokenizer") or {}
    stages: list[dict[str, Any]] = pre_tokenizer.get("pretokenizers", [pre_tokenizer])
    return stages


def _is_byte_level(definition: dict[str, Any]) -> bool:
    is_bpe = definition["model"].get("type", "BPE") == "BPE"
    return is_bpe and any(stage.get("type") == "ByteLevel" for stage in _stages(definition))


def _pattern(definition: dict[str, Any]) -> str:
    stages = _stages(definition)
    if len(stages) == 1:
        return str(openai_public.r50k_pat_str)
    if len(stages) == 2 and "Regex" in stages[0].get("pattern", {}):
        return str(stages[0]["pattern"]["Regex"])
    raise Unsupported("has one splitting pattern only")
