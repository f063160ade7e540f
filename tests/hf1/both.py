"""The two packages, the published tokenizers that both read, and outcomes of calls, for comparison."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tokenizers as theirs

from lexmill import v1 as ours
from peers import tokenizer_file

PACKAGES: list[Any] = [theirs, ours]
# Of the other two published ones, `falcon` is refused there, and `clip-vit` cannot encode.
PUBLISHED = [
    "bert-base-cased", "bert-base-chinese", "bert-base-uncased", "c4-t5-default", "cl100k_base", "gpt-neox-20b", "gpt2",
    "hf-wiki-bpe", "llm-jp-v2.2", "mistral-v1", "mistral-v3", "o200k_base", "opus-mt-en-mg", "phi-3-mini", "qwen2",
    "roberta-base", "rwkv-midi", "spm-test-en", "spm-test-ja", "t5-small", "whisper-tiny", "xlnet-base-cased",
]  # fmt: skip
BUILTINS = (OverflowError, TypeError, FileNotFoundError, OSError, AttributeError, ValueError)


def load(name: str) -> tuple[Any, Any]:
    """A published tokenizer in both packages."""
    path = tokenizer_file(name)
    return theirs.Tokenizer.from_file(path), ours.Tokenizer.from_file(path)


def three_lists(encoding: Any) -> tuple[list[int], list[int], list[int]]:
    return encoding.ids, encoding.type_ids, encoding.attention_mask


def outcome(call: Callable[[], Any]) -> Any:
    """The result of a call, or the builtin class of its exception."""
    try:
        return call()
    except BUILTINS as error:
        return next(f"raises {cls.__name__}" for cls in BUILTINS if isinstance(error, cls))
