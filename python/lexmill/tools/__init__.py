"""Tools for looking at tokenizers."""

from __future__ import annotations

from lexmill.tools.visualizer import Annotation, EncodingVisualizer

__all__ = ["Annotation", "EncodingVisualizer"]
