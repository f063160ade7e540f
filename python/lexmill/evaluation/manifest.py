"""The manifest of an evaluation: hashes of all that was read, versions, parameters."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from lexmill import _core
from lexmill._core import TextBlock
from lexmill.evaluation.words import regex_module

__all__ = ["Manifest", "ManifestFile", "ManifestTokenizer", "Seal", "versions"]


@dataclass(frozen=True)
class ManifestTokenizer:
    """A tokenizer that was measured.

    Attributes:
        name: its name.
        sha256: the hash of `tokenizer.to_str()` in UTF-8.
        encode_special_tokens: the one option that is not in this text.
    """

    name: str
    sha256: str
    encode_special_tokens: bool


@dataclass(frozen=True)
class ManifestFile:
    """A file that was read, or a source that is no file.

    Attributes:
        corpus: the corpus it belongs to; None for a file of parallel lines.
        name: the path as it was given, or the kind of the source.
        texts: texts in it.
        bytes: bytes of the texts in UTF-8.
        sha256: the hash of these bytes, all texts end to end. For lines this is the hash of the text file itself, once
            decompressed.
    """

    corpus: str | None
    name: str
    texts: int
    bytes: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """The inputs, versions and parameters of a measurement.

    Attributes:
        tokenizers: the tokenizers.
        files: the files of all corpora, and of parallel lines.
        parameters: the arguments of the call that change numbers.
        versions: the versions of lexmill, numpy and Python, and of regex where it divides words.
    """

    tokenizers: tuple[ManifestTokenizer, ...]
    files: tuple[ManifestFile, ...]
    parameters: Mapping[str, str | float | None]
    versions: Mapping[str, str]


class Seal:
    """Hashes the texts of one file, block by block."""

    def __init__(self) -> None:
        """Has no text yet."""
        self._sha = hashlib.sha256()
        self._texts = 0
        self._bytes = 0

    def add(self, texts: TextBlock) -> int:
        """Adds the next texts, end to end; answers their bytes in UTF-8."""
        utf8 = texts.utf8()
        self._sha.update(utf8)
        self._texts += len(texts)
        self._bytes += len(utf8)
        return len(utf8)

    def file(self, corpus: str | None, name: str) -> ManifestFile:
        """The entry of the file in the manifest."""
        return ManifestFile(corpus, name, self._texts, self._bytes, self._sha.hexdigest())


def versions(rule: str) -> dict[str, str]:
    """The versions that numbers depend on, with words by this rule."""
    found = {"lexmill": _core.__version__, "numpy": np.__version__, "python": platform.python_version()}
    return found | ({"regex": regex_module().__version__} if rule == "unicode" else {})
