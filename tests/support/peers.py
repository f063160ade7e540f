"""Texts and tokenizers for the tests that compare with other libraries."""

from __future__ import annotations

import os
import struct
import sysconfig
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("LEXMILL_DATA", ROOT.parent / "shared" / "data"))
# Every byte of every corpus instead of a sample.
FULL = os.environ.get("LEXMILL_PARITY") == "full"
CORPORA = ["english", "german", "multilingual", "messy"]
DOCUMENT = 4096
# Documents a corpus, evenly spread over it.
SAMPLE = 48

HARD = [
    "",
    "\0",
    "a",
    " ",
    "\n",
    "  \n \t  x  ",
    "\r\nCRLF\r\n\r\n",
    "\u0301",
    "caf\u00e9 cafe\u0301 \u1e69 s\u0323\u0307",
    "don't DON'T we'll I\u017f'\u017f",
    "1234567890 12,345.67 \u0663\u0664 \u00bd \u2167",
    "\u4f60\u597d\u4e16\u754c\u3002\u65e5\u672c\u8a9e\u306e\u30c6\u30ad\u30b9\u30c8",
    "\ud55c\uad6d\uc5b4 \u1112\u1161\u11ab",
    "\u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627 \u202eabc\u202c",
    "\U0001f469\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466 \U0001f1e9\U0001f1ea \U0001f44d\U0001f3fd",
    "\u00a0\u2003\u3000\u200b\ufeff\u2028x\u2029y\u0085z",
    "\u01c5 \u02b0 \u0130 \ufb01 \u00df \u1e9e",
    "\U0010ffff \ufffe \ue000",
    "a" * 10_000,
    " " * 3_000 + "x",
    "ab" * 2_000 + "\n" * 500,
    "<|endoftext|>a <s> </s><mask>  <mask> <|endoftext|><|fim_prefix|>",
    "snake_case camelCase HTTPServer x=1;//y\n\tif(a!=b){}\n",
]


def tokenizer_file(name: str) -> Path:
    """A published tokenizer's file; the test is skipped where the data is absent."""
    path = DATA / "tokenizers" / name / "tokenizer.json"
    if not path.is_file():
        pytest.skip(f"no {path.relative_to(path.parents[2])} in {DATA}; set LEXMILL_DATA to the data folder")
    return path


def corpus_file(name: str) -> Path:
    """A corpus; the test is skipped where the data is absent."""
    path = DATA / "corpora" / f"{name}.txt"
    if not path.is_file():
        pytest.skip(f"no corpora/{name}.txt in {DATA}; set LEXMILL_DATA to the data folder")
    return path


@cache
def documents(path: Path, *, sample: int | None = None if FULL else SAMPLE) -> list[str]:
    """Documents of about 4 kB that end at line ends: all of a file, or an even sample of about this many."""
    data = path.read_bytes()
    step = DOCUMENT if sample is None else max(DOCUMENT, len(data) // sample)
    texts: list[str] = []
    start = 0
    while start < len(data):
        end = data.find(b"\n", start + DOCUMENT) + 1 or len(data)
        texts.append(data[start:end].decode())
        start = end if sample is None else max(end, data.find(b"\n", start + step) + 1 or len(data))
    return texts


@cache
def stdlib_sources(pattern: str = "*.py") -> list[str]:
    """Sources of the standard library, which every machine has."""
    folder = Path(sysconfig.get_path("stdlib"))
    return [path.read_text(encoding="utf-8") for path in sorted(folder.glob(pattern))]


def charsmap(rules: dict[str, str]) -> bytes:
    """SentencePiece's compiled form of rules of normalization; slow, and large."""
    texts = {key.encode(): at for at, key in enumerate(rules)}
    replacements = [value.encode() + b"\0" for value in rules.values()]
    starts = [sum(map(len, replacements[:at])) for at in range(len(rules))]
    units: dict[int, int] = {}
    taken = {0}

    def place(at: int, keys: dict[bytes, int]) -> None:
        labels = sorted({key[0] for key in keys if key})
        offset = 1
        while any(at ^ offset ^ label in taken for label in [0, *labels]):
            offset += 1
        base = at ^ offset
        taken.update(base ^ label for label in [0, *labels])
        units[at] = units.get(at, 0) | offset << 10 | (b"" in keys) << 8
        if b"" in keys:
            units[base] = starts[keys[b""]] | 1 << 31
        for label in labels:
            units[base ^ label] = label
            place(base ^ label, {key[1:]: value for key, value in keys.items() if key[:1] == bytes([label])})

    place(0, texts)
    trie = [units.get(at, 0) for at in range((max(units) | 0xFF) + 1)]
    return struct.pack(f"<{len(trie) + 1}I", 4 * len(trie), *trie) + b"".join(replacements)


def assert_same_encoding(ours: Any, theirs: Any, text: str, parts: tuple[str, ...]) -> None:
    """Compares parts of two encodings of one text; a failure shows the first place where they part."""
    for part in parts:
        own, other = getattr(ours, part), getattr(theirs, part)
        if own != other:
            pytest.fail(difference(part, list(own), list(other), text))


def difference(part: str, ours: list[Any], theirs: list[Any], text: str) -> str:
    """The first place where two lists part, with a few entries around it."""
    at = next((i for i, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b), min(len(ours), len(theirs)))
    around = slice(max(at - 2, 0), at + 4)
    return (
        f"{part} part at {at} of {len(ours)} and {len(theirs)}:\n  ours   {ours[around]}\n  theirs {theirs[around]}\n"
        f"  text   {text[:200]!r}"
    )
