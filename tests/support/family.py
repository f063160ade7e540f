"""One published family of tokenizers, and the stages that many families have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

HUB = "https://huggingface.co/"
LLAMA_CPP = "https://github.com/ggml-org/llama.cpp/blob/master/src/llama-vocab.cpp"
TRANSFORMERS = "https://github.com/huggingface/transformers/blob/main/src/transformers/"
CONVERTER = TRANSFORMERS + "convert_slow_tokenizer.py"
TIKTOKEN = "https://github.com/openai/tiktoken/blob/main/tiktoken_ext/openai_public.py"


@dataclass(frozen=True)
class Family:
    """Stages that models share.

    Attributes:
        name: unique among the families.
        models: some of the models that have the stages.
        normalizer: as in `tokenizer.json`; None if there is none.
        pre_tokenizer: as in `tokenizer.json`; None if there is none.
        vocabulary: the tokenizer at hand whose model and added tokens are taken.
        source: a public address of the stages.
    """

    name: str
    models: tuple[str, ...]
    normalizer: dict[str, Any] | None
    pre_tokenizer: dict[str, Any] | None
    vocabulary: str
    source: str


NFC: dict[str, Any] = {"type": "NFC"}
NFKD: dict[str, Any] = {"type": "NFKD"}
LOWERCASE: dict[str, Any] = {"type": "Lowercase"}
STRIP_ACCENTS: dict[str, Any] = {"type": "StripAccents"}
# The rules stand in the vocabulary's file.
CHARSMAP: dict[str, Any] = {"type": "Precompiled", "precompiled_charsmap": None}

DIGITS: dict[str, Any] = {"type": "Digits", "individual_digits": True}
WHITESPACE_SPLIT: dict[str, Any] = {"type": "WhitespaceSplit"}
# With GPT-2's pattern, and after a pattern of its own.
BYTE_LEVEL: dict[str, Any] = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
BYTES_ONLY: dict[str, Any] = {**BYTE_LEVEL, "use_regex": False}


def normalizers(*stages: dict[str, Any]) -> dict[str, Any]:
    """A sequence of normalizers."""
    return {"type": "Sequence", "normalizers": list(stages)}


def pre_tokenizers(*stages: dict[str, Any]) -> dict[str, Any]:
    """A sequence of pre-tokenizers."""
    return {"type": "Sequence", "pretokenizers": list(stages)}


def split(pattern: str, behavior: str = "Isolated", *, invert: bool = False) -> dict[str, Any]:
    """A split by a pattern."""
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": behavior, "invert": invert}


def split_string(text: str, behavior: str) -> dict[str, Any]:
    """A split at a text."""
    return {"type": "Split", "pattern": {"String": text}, "behavior": behavior, "invert": False}


def replace(text: str, content: str) -> dict[str, Any]:
    """A replacement of a text."""
    return {"type": "Replace", "pattern": {"String": text}, "content": content}


def replace_pattern(pattern: str, content: str) -> dict[str, Any]:
    """A replacement of the matches of a pattern."""
    return {"type": "Replace", "pattern": {"Regex": pattern}, "content": content}


def strip(*, left: bool, right: bool) -> dict[str, Any]:
    """White space taken away at the ends."""
    return {"type": "Strip", "strip_left": left, "strip_right": right}


def metaspace(prepend_scheme: str, *, is_split: bool = True) -> dict[str, Any]:
    """Spaces as U+2581."""
    return {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": prepend_scheme, "split": is_split}
