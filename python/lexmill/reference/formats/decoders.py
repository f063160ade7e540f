"""Reads the `decoder` of a `tokenizer.json`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from lexmill.reference.decoders import Decoder, Sequence
from lexmill.reference.decoders.bpe import BPEDecoder
from lexmill.reference.decoders.byte_fallback import ByteFallback
from lexmill.reference.decoders.byte_level import ByteLevel
from lexmill.reference.decoders.ctc import CTC
from lexmill.reference.decoders.fuse import Fuse
from lexmill.reference.decoders.metaspace import Metaspace
from lexmill.reference.decoders.replace import Replace
from lexmill.reference.decoders.sentencepiece import SentencePiece
from lexmill.reference.decoders.strip import Strip
from lexmill.reference.decoders.wordpiece import WordPiece
from lexmill.reference.formats.fields import Json, flags, pattern, read
from lexmill.reference.formats.normalizers import sentencepiece as rules
from lexmill.reference.formats.pre_tokenizers import METASPACE


def decoder(spec: Json) -> Decoder:
    """Reads one decoder."""
    return read("decoder", spec, READERS)


def _sentencepiece(spec: Json) -> Decoder:
    names = ["unk_token", "unk_surface", "byte_fallback", "add_dummy_prefix", "remove_extra_whitespaces"]
    denormalizer = spec.get("denormalizer")
    return SentencePiece(**flags(spec, *names), denormalizer=None if denormalizer is None else rules(denormalizer))


def _sequence(spec: Json) -> Decoder:
    # For other readers SentencePiece's decoder is written as stages that come close to it.
    if "sentencepiece" in spec:
        return _sentencepiece(spec["sentencepiece"])
    return Sequence([decoder(stage) for stage in spec["decoders"]])


READERS: Mapping[str, Callable[[Json], Decoder]] = {
    "ByteLevel": lambda _: ByteLevel(),
    "Replace": lambda spec: Replace(pattern(spec["pattern"]), spec["content"]),
    "ByteFallback": lambda _: ByteFallback(),
    "Fuse": lambda _: Fuse(),
    "Strip": lambda spec: Strip(spec["content"], spec["start"], spec["stop"]),
    "Metaspace": lambda spec: Metaspace(**flags(spec, *METASPACE)),
    "BPEDecoder": lambda spec: BPEDecoder(spec["suffix"]),
    "CTC": lambda spec: CTC(**flags(spec, "pad_token", "word_delimiter_token", "cleanup")),
    "WordPiece": lambda spec: WordPiece(**flags(spec, "prefix", "cleanup")),
    "SentencePiece": _sentencepiece,
    "Sequence": _sequence,
}
