"""Decoders: the stages that turn tokens into text."""

from __future__ import annotations

from lexmill import _core

CTC = _core.decoders.CTC
BPEDecoder = _core.decoders.BPEDecoder
ByteFallback = _core.decoders.ByteFallback
ByteLevel = _core.decoders.ByteLevel
DecodeStream = _core.decoders.DecodeStream
Decoder = _core.decoders.Decoder
Fuse = _core.decoders.Fuse
Metaspace = _core.decoders.Metaspace
Replace = _core.decoders.Replace
SentencePiece = _core.decoders.SentencePiece
Sequence = _core.decoders.Sequence
Strip = _core.decoders.Strip
WordPiece = _core.decoders.WordPiece

__all__ = [
    "CTC",
    "BPEDecoder",
    "ByteFallback",
    "ByteLevel",
    "DecodeStream",
    "Decoder",
    "Fuse",
    "Metaspace",
    "Replace",
    "SentencePiece",
    "Sequence",
    "Strip",
    "WordPiece",
]
