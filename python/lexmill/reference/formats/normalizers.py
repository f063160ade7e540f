"""Reads the `normalizer` of a `tokenizer.json`."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping

from lexmill.reference.formats.fields import Json, flags, pattern, read
from lexmill.reference.normalizers import Normalizer, Sequence
from lexmill.reference.normalizers.bert import BertNormalizer
from lexmill.reference.normalizers.byte_level import ByteLevel
from lexmill.reference.normalizers.charsmap import Charsmap
from lexmill.reference.normalizers.lowercase import Lowercase
from lexmill.reference.normalizers.metaspace import MetaspaceNormalizer
from lexmill.reference.normalizers.nmt import Nmt
from lexmill.reference.normalizers.precompiled import Precompiled
from lexmill.reference.normalizers.prepend import Prepend
from lexmill.reference.normalizers.replace import Replace
from lexmill.reference.normalizers.sentencepiece import SentencePiece
from lexmill.reference.normalizers.strip import Strip, StripAccents
from lexmill.reference.normalizers.unicode import Unicode


def normalizer(spec: Json) -> Normalizer:
    """Reads one normalizer."""
    return read("normalizer", spec, READERS)


def _charsmap(blob: str) -> Charsmap:
    return Charsmap(base64.b64decode(blob, validate=True))


def _bert(spec: Json) -> Normalizer:
    return BertNormalizer(**flags(spec, "clean_text", "handle_chinese_chars", "strip_accents", "lowercase"))


def sentencepiece(spec: Json) -> SentencePiece:
    """Reads SentencePiece's rules, of a normalizer or a denormalizer."""
    blob = spec.get("precompiled_charsmap")
    return SentencePiece(
        charsmap=None if blob is None else _charsmap(blob),
        user_defined_symbols=spec["user_defined_symbols"],
        add_dummy_prefix=spec["add_dummy_prefix"],
        remove_extra_whitespaces=spec["remove_extra_whitespaces"],
        escape_whitespaces=spec["escape_whitespaces"],
        treat_whitespace_as_suffix=spec["treat_whitespace_as_suffix"],
    )


READERS: Mapping[str, Callable[[Json], Normalizer]] = {
    "NFC": lambda _: Unicode("NFC"),
    "NFD": lambda _: Unicode("NFD"),
    "NFKC": lambda _: Unicode("NFKC"),
    "NFKD": lambda _: Unicode("NFKD"),
    "Lowercase": lambda _: Lowercase(),
    "Strip": lambda spec: Strip(spec["strip_left"], spec["strip_right"]),
    "StripAccents": lambda _: StripAccents(),
    "Prepend": lambda spec: Prepend(spec["prepend"]),
    "Nmt": lambda _: Nmt(),
    "ByteLevel": lambda _: ByteLevel(),
    "Precompiled": lambda spec: Precompiled(_charsmap(spec["precompiled_charsmap"]), spec.get("match") == "longest"),
    "Replace": lambda spec: Replace(pattern(spec["pattern"]), spec["content"]),
    "BertNormalizer": _bert,
    "MetaspaceNormalizer": lambda spec: MetaspaceNormalizer(
        spec["replacement"], spec.get("prepend") or spec["prepend_scheme"], spec["drop_whitespace"]
    ),
    "SentencePiece": sentencepiece,
    "Sequence": lambda spec: Sequence([normalizer(stage) for stage in spec["normalizers"]]),
}
