"""Libraries that stand in for tokie and tokenizers: lexmill itself, or the code of a test."""

from __future__ import annotations

from pathlib import Path

# Libraries as their adapters call them, by name and major version. Additions of a test come last.
_MODULES = {}
_MODULES["tokie", "9"] = """
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


_MODULES["tokenizers", "0"] = """
from lexmill import Tokenizer
"""
# Of tokenizers 1.x, no more than the adapter may call.
_MODULES["tokenizers", "1"] = """
import lexmill


class Tokenizer:
    __slots__ = ("padding", "tokenizer", "truncation")

    @staticmethod
    def from_file(path):
        own = Tokenizer()
        own.tokenizer = lexmill.Tokenizer.from_file(path)
        return own

    def encode(self, input, *, add_special_tokens=True):
        return self.encode_batch([input], add_special_tokens=add_special_tokens)[0]

    def encode_batch(self, inputs, *, add_special_tokens=True):
        if self.padding is None:
            self.tokenizer.no_padding()
        if self.truncation is None:
            self.tokenizer.no_truncation()
        return self.tokenizer.encode_batch(inputs, add_special_tokens=add_special_tokens)


"""


def install_fake(folder: Path, code: str = "", name: str = "tokie", version: str = "9.9") -> Path:
    """Writes a library with a test's own code at its end, as a package that is installed in `folder`."""
    folder.mkdir(exist_ok=True)
    module = _MODULES[name, version.partition(".")[0]]
    (folder / f"{name}.py").write_text(module + code, encoding="utf-8")
    metadata = folder / f"{name}-{version}.dist-info"
    metadata.mkdir(exist_ok=True)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", encoding="utf-8")
    return folder
