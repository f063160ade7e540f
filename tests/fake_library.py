"""A library that stands in for tokie: it does what lexmill does, or what a test tells it."""

from __future__ import annotations

from pathlib import Path

# `tokie` as its adapter calls it. What a test adds comes last.
_MODULE = """
import lexmill


class TokieError(Exception):
    pass


class Tokenizer:
    def __init__(self, tokenizer):
        self.tokenizer = tokenizer

    @classmethod
    def from_json(cls, path):
        return cls(lexmill.Tokenizer.from_file(path))

    def encode(self, text, add_special_tokens):
        return self.tokenizer.encode(text, add_special_tokens=add_special_tokens)

    def encode_batch(self, texts, add_special_tokens):
        return [change(text, self.encode(text, add_special_tokens).ids) for text in texts]

    def count_tokens_batch(self, texts):
        return [len(row) for row in self.encode_batch(texts, False)]


def change(text, ids):
    return ids

"""


def install_fake(folder: Path, code: str = "") -> Path:
    """Writes the library with a test's own code at its end, as a package that is installed in `folder`."""
    folder.mkdir(exist_ok=True)
    (folder / "tokie.py").write_text(_MODULE + code, encoding="utf-8")
    metadata = folder / "tokie-9.9.dist-info"
    metadata.mkdir(exist_ok=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: tokie\nVersion: 9.9\n", encoding="utf-8")
    return folder
