"""The other package: its name, and the versions of it that lexmill stands for."""

from __future__ import annotations

__all__ = ["NAME", "VERSIONS"]

NAME = "tokenizers"
# For each interface the version that it follows, and how that version's module spells it.
VERSIONS = {"0.23": ("0.23.3", "0.23.3"), "1": ("1.0.0rc3", "1.0.0-rc.3")}
