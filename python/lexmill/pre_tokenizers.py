"""Pre-tokenizers: what cuts text into pre-tokens."""

from __future__ import annotations

from lexmill import _core

BertPreTokenizer = _core.pre_tokenizers.BertPreTokenizer
ByteLevel = _core.pre_tokenizers.ByteLevel
Digits = _core.pre_tokenizers.Digits
Metaspace = _core.pre_tokenizers.Metaspace
PreTokenizer = _core.pre_tokenizers.PreTokenizer
Punctuation = _core.pre_tokenizers.Punctuation
Sequence = _core.pre_tokenizers.Sequence
Split = _core.pre_tokenizers.Split
Whitespace = _core.pre_tokenizers.Whitespace
WhitespaceSplit = _core.pre_tokenizers.WhitespaceSplit

__all__ = [
    "BertPreTokenizer",
    "ByteLevel",
    "Digits",
    "Metaspace",
    "PreTokenizer",
    "Punctuation",
    "Sequence",
    "Split",
    "Whitespace",
    "WhitespaceSplit",
]
