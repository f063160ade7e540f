"""Trains and runs subword tokenizers: a fast drop-in for Hugging Face `tokenizers`."""

from __future__ import annotations

from lexmill import decoders, errors, models, normalizers, pre_tokenizers, processors, trainers
from lexmill import tokenizers as tokenizers
from lexmill._core import (
    AddedToken,
    Encoding,
    NormalizedString,
    PreTokenizedString,
    Regex,
    Token,
    TokenArrays,
    Tokenizer,
    __version__,
)
from lexmill._install import install, uninstall
from lexmill._peer import accelerate
from lexmill._types import (
    EncodeInput,
    InputSequence,
    OffsetReferential,
    Offsets,
    OffsetType,
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

__all__ = [
    "AddedToken",
    "BertWordPieceTokenizer",
    "ByteLevelBPETokenizer",
    "CharBPETokenizer",
    "EncodeInput",
    "Encoding",
    "InputSequence",
    "LexmillError",
    "NormalizedString",
    "OffsetReferential",
    "OffsetType",
    "Offsets",
    "PreTokenizedEncodeInput",
    "PreTokenizedInputSequence",
    "PreTokenizedString",
    "Regex",
    "SentencePieceBPETokenizer",
    "SentencePieceUnigramTokenizer",
    "SplitDelimiterBehavior",
    "TextEncodeInput",
    "TextInputSequence",
    "Token",
    "TokenArrays",
    "Tokenizer",
    "__version__",
    "accelerate",
    "decoders",
    "errors",
    "install",
    "models",
    "normalizers",
    "pre_tokenizers",
    "processors",
    "trainers",
    "uninstall",
]
