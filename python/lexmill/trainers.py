"""Trainers: they learn a model from text."""

from __future__ import annotations

from lexmill import _core

BpeTrainer = _core.trainers.BpeTrainer
ParityBpeTrainer = _core.trainers.ParityBpeTrainer
SuperwordOptions = _core.trainers.SuperwordOptions
Trainer = _core.trainers.Trainer
UnigramTrainer = _core.trainers.UnigramTrainer
WordLevelTrainer = _core.trainers.WordLevelTrainer
WordPieceTrainer = _core.trainers.WordPieceTrainer

__all__ = [
    "BpeTrainer",
    "ParityBpeTrainer",
    "SuperwordOptions",
    "Trainer",
    "UnigramTrainer",
    "WordLevelTrainer",
    "WordPieceTrainer",
]
