"""Normalizers: what changes text before it is cut."""

from __future__ import annotations

from lexmill import _core

BertNormalizer = _core.normalizers.BertNormalizer
NFC = _core.normalizers.NFC
NFD = _core.normalizers.NFD
NFKC = _core.normalizers.NFKC
NFKD = _core.normalizers.NFKD
Lowercase = _core.normalizers.Lowercase
Nmt = _core.normalizers.Nmt
Normalizer = _core.normalizers.Normalizer
Precompiled = _core.normalizers.Precompiled
Prepend = _core.normalizers.Prepend
Replace = _core.normalizers.Replace
SentencePiece = _core.normalizers.SentencePiece
Sequence = _core.normalizers.Sequence
Strip = _core.normalizers.Strip
StripAccents = _core.normalizers.StripAccents

__all__ = [
    "NFC",
    "NFD",
    "NFKC",
    "NFKD",
    "BertNormalizer",
    "Lowercase",
    "Nmt",
    "Normalizer",
    "Precompiled",
    "Prepend",
    "Replace",
    "SentencePiece",
    "Sequence",
    "Strip",
    "StripAccents",
]
