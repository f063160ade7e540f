"""Trains and runs subword tokenizers: a fast drop-in for Hugging Face `tokenizers`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lexmill import decoders, errors, models, normalizers, pre_tokenizers, processors, trainers
from lexmill import tokenizers as tokenizers
from lexmill._compat.install import install, uninstall
from lexmill._compat.peer import accelerate
from lexmill._core import (
    AddedToken,
    Encoding,
    NormalizedString,
    PreTokenizedString,
    Regex,
    Session,
    Token,
    TokenArrays,
    Tokenizer,
    WordCounts,
    __version__,
)
from lexmill._data.word_counts import count_words, merge_counts
from lexmill._types import (
    EncodeInput,
    InputSequence,
    OffsetReferential,
    Offsets,
    OffsetType,
    OnProgress,
    PreTokenizedEncodeInput,
    PreTokenizedInputSequence,
    SplitDelimiterBehavior,
    TextEncodeInput,
    TextInputSequence,
)
from lexmill.errors import LexmillError
from lexmill.implementations import (
    BertWordPieceTokenizer,
    ByteLevelBPETokenizer,
    CharBPETokenizer,
    SentencePieceBPETokenizer,
    SentencePieceUnigramTokenizer,
)

if TYPE_CHECKING:
    from lexmill._data.mixtures import DomainTokens
    from lexmill.evaluation import evaluate
    from lexmill.reports import report
    from lexmill.token_files import merge_token_files, open_tokens, pack_tokens, tokenize_files
    from lexmill.vocabularies import merge_vocabularies, prune, shrink, token_map

__all__ = [
    "AddedToken",
    "BertWordPieceTokenizer",
    "ByteLevelBPETokenizer",
    "CharBPETokenizer",
    "DomainTokens",
    "EncodeInput",
    "Encoding",
    "InputSequence",
    "LexmillError",
    "NormalizedString",
    "OffsetReferential",
    "OffsetType",
    "Offsets",
    "OnProgress",
    "PreTokenizedEncodeInput",
    "PreTokenizedInputSequence",
    "PreTokenizedString",
    "Regex",
    "SentencePieceBPETokenizer",
    "SentencePieceUnigramTokenizer",
    "Session",
    "SplitDelimiterBehavior",
    "TextEncodeInput",
    "TextInputSequence",
    "Token",
    "TokenArrays",
    "Tokenizer",
    "WordCounts",
    "__version__",
    "accelerate",
    "count_words",
    "decoders",
    "errors",
    "evaluate",
    "install",
    "merge_counts",
    "merge_token_files",
    "merge_vocabularies",
    "models",
    "normalizers",
    "open_tokens",
    "pack_tokens",
    "pre_tokenizers",
    "processors",
    "prune",
    "report",
    "shrink",
    "token_map",
    "tokenize_files",
    "trainers",
    "uninstall",
]


def __getattr__(name: str) -> object:
    # The modules that import numpy wait until someone asks for them.
    if name in {"merge_token_files", "open_tokens", "pack_tokens", "tokenize_files"}:
        from lexmill import token_files

        return getattr(token_files, name)
    if name == "DomainTokens":
        from lexmill._data.mixtures import DomainTokens

        return DomainTokens
    if name in {"merge_vocabularies", "prune", "shrink", "token_map"}:
        from lexmill import vocabularies

        return getattr(vocabularies, name)
    if name == "report":
        from lexmill import reports

        return reports.report
    if name == "evaluate":
        from lexmill import evaluation

        return evaluation.evaluate
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)
