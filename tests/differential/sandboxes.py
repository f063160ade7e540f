"""Folders with the files that programs name, one for each library."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType

from differential.run import Pair
from differential.values import Sandbox
from implementation_calls import LETTERS, WORDPIECES

CORPUS = ["ab ab abc", "the cat"]


def pair(theirs: ModuleType, ours: ModuleType, folder: Path) -> Pair:
    """Both libraries, each with a folder of the same files."""
    return Pair(sandbox(theirs, folder / "theirs"), sandbox(ours, folder / "ours"))


def sandbox(library: ModuleType, folder: Path) -> Sandbox:
    """A library with a folder of its own."""
    folder.mkdir(exist_ok=True)
    (folder / "vocab.txt").write_text("\n".join(WORDPIECES) + "\n", encoding="utf-8")
    (folder / "vocab.json").write_text(json.dumps(LETTERS), encoding="utf-8")
    (folder / "merges.txt").write_text("a b\n", encoding="utf-8")
    (folder / "text.txt").write_text("\n".join(CORPUS), encoding="utf-8")
    (folder / "more.txt").write_text("a b c", encoding="utf-8")
    model = {"type": "BPE", "vocab": LETTERS, "merges": ["a b"]}
    (folder / "tokenizer.json").write_text(json.dumps({"version": "1.0", "model": model}), encoding="utf-8")
    return Sandbox(library, str(folder))
