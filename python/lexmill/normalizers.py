"""Normalizers: the stages that change text before it is cut."""

from __future__ import annotations

from lexmill import _core
from lexmill.errors import OptionError

BertNormalizer = _core.normalizers.BertNormalizer
ByteLevel = _core.normalizers.ByteLevel
NFC = _core.normalizers.NFC
NFD = _core.normalizers.NFD
NFKC = _core.normalizers.NFKC
NFKD = _core.normalizers.NFKD
Lowercase = _core.normalizers.Lowercase
MetaspaceNormalizer = _core.normalizers.MetaspaceNormalizer
Nmt = _core.normalizers.Nmt
Normalizer = _core.normalizers.Normalizer
Precompiled = _core.normalizers.Precompiled
Prepend = _core.normalizers.Prepend
Replace = _core.normalizers.Replace
SentencePiece = _core.normalizers.SentencePiece
Sequence = _core.normalizers.Sequence
Strip = _core.normalizers.Strip
StripAccents = _core.normalizers.StripAccents

NORMALIZERS = {"nfc": NFC, "nfd": NFD, "nfkc": NFKC, "nfkd": NFKD}
"""The classes of the Unicode normalization forms, by lower-case name."""


def unicode_normalizer_from_str(normalizer: str) -> Normalizer:
    """The Unicode normalization form with a lower-case name, such as `nfc`.

    Raises:
        OptionError: the name is not a key of `NORMALIZERS`; the error is a `ValueError`.
    """
    if normalizer not in NORMALIZERS:
        raise OptionError(f"unicode normalizer is {normalizer!r} but must be one of {', '.join(NORMALIZERS)}")
    return NORMALIZERS[normalizer]()


__all__ = [
    "NFC",
    "NFD",
    "NFKC",
    "NFKD",
    "NORMALIZERS",
    "BertNormalizer",
    "ByteLevel",
    "Lowercase",
    "MetaspaceNormalizer",
    "Nmt",
    "Normalizer",
    "Precompiled",
    "Prepend",
    "Replace",
    "SentencePiece",
    "Sequence",
    "Strip",
    "StripAccents",
    "unicode_normalizer_from_str",
]
