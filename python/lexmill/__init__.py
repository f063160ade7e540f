"""Trains and runs subword tokenizers: a fast drop-in for Hugging Face `tokenizers`."""

from __future__ import annotations

from lexmill import decoders, errors, models, normalizers, pre_tokenizers, processors, trainers
from lexmill._core import AddedToken, Encoding, Regex, Token, TokenArrays, Tokenizer, __version__
from lexmill.errors import LexmillError

__all__ = [
    "AddedToken",
    "Encoding",
    "LexmillError",
    "Regex",
    "Token",
    "TokenArrays",
    "Tokenizer",
    "__version__",
    "decoders",
    "errors",
    "models",
    "normalizers",
    "pre_tokenizers",
    "processors",
    "trainers",
]
