"""Pre-tokenizers: the stages that cut text into pre-tokens."""

from __future__ import annotations

from lexmill import _core

BertPreTokenizer = _core.pre_tokenizers.BertPreTokenizer
ByteLevel = _core.pre_tokenizers.ByteLevel
CharDelimiterSplit = _core.pre_tokenizers.CharDelimiterSplit
Digits = _core.pre_tokenizers.Digits
FixedLength = _core.pre_tokenizers.FixedLength
Metaspace = _core.pre_tokenizers.Metaspace
PreTokenizer = _core.pre_tokenizers.PreTokenizer
Punctuation = _core.pre_tokenizers.Punctuation
Sequence = _core.pre_tokenizers.Sequence
Split = _core.pre_tokenizers.Split
UnicodeScripts = _core.pre_tokenizers.UnicodeScripts
Whitespace = _core.pre_tokenizers.Whitespace
WhitespaceSplit = _core.pre_tokenizers.WhitespaceSplit

__all__ = [
    "BertPreTokenizer",
    "ByteLevel",
    "CharDelimiterSplit",
    "Digits",
    "FixedLength",
    "Metaspace",
    "PreTokenizer",
    "Punctuation",
    "Sequence",
    "Split",
    "UnicodeScripts",
    "Whitespace",
    "WhitespaceSplit",
]
