"""Post-processors: the stages that add special tokens and settle offsets."""

from __future__ import annotations

from lexmill import _core

BertProcessing = _core.processors.BertProcessing
ByteLevel = _core.processors.ByteLevel
PostProcessor = _core.processors.PostProcessor
RobertaProcessing = _core.processors.RobertaProcessing
Sequence = _core.processors.Sequence
TemplateProcessing = _core.processors.TemplateProcessing

__all__ = ["BertProcessing", "ByteLevel", "PostProcessor", "RobertaProcessing", "Sequence", "TemplateProcessing"]
