"""Models: what turns pre-tokens into tokens."""

from __future__ import annotations

from lexmill import _core

BPE = _core.models.BPE
Model = _core.models.Model

__all__ = ["BPE", "Model"]
