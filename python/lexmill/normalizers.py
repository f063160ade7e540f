"""Normalizers: what changes text before it is cut."""

from __future__ import annotations

from lexmill import _core

NFC = _core.normalizers.NFC
Normalizer = _core.normalizers.Normalizer
Sequence = _core.normalizers.Sequence

__all__ = ["NFC", "Normalizer", "Sequence"]
