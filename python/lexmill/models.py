"""Models: the stages that turn pre-tokens into tokens."""

from __future__ import annotations

from lexmill import _core

BPE = _core.models.BPE
Model = _core.models.Model
Unigram = _core.models.Unigram
WordLevel = _core.models.WordLevel
WordPiece = _core.models.WordPiece

__all__ = ["BPE", "Model", "Unigram", "WordLevel", "WordPiece"]
