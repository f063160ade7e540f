"""Decoders: what turns tokens into text."""

from __future__ import annotations

from lexmill import _core

ByteLevel = _core.decoders.ByteLevel
Decoder = _core.decoders.Decoder

__all__ = ["ByteLevel", "Decoder"]
