"""The compiled classes under the import path that Hugging Face's compiled module has, `tokenizers.tokenizers`."""

from __future__ import annotations

from lexmill import decoders, models, normalizers, pre_tokenizers, processors, trainers
from lexmill._core import (
    AddedToken,
    Encoding,
    NormalizedString,
    PreTokenizedString,
    Regex,
    Token,
    Tokenizer,
    __version__,
)

__all__ = [
    "AddedToken",
    "Encoding",
    "NormalizedString",
    "PreTokenizedString",
    "Regex",
    "Token",
    "Tokenizer",
    "__version__",
    "decoders",
    "models",
    "normalizers",
    "pre_tokenizers",
    "processors",
    "trainers",
]
