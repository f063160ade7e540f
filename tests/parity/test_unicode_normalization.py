"""Unicode's normalization forms, and other normalizers, against Hugging Face: strings and offsets.

The rows of Unicode's own test are read from `unicode/NormalizationTest.txt` in the data folder, where somebody put it
(the Debian package `unicode-data` has it); without it, what Python's `unicodedata` knows of takes its place.
"""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import Any

import pytest

import lexmill
from peers import DATA

pytestmark = pytest.mark.external

peer = pytest.importorskip("tokenizers", reason="install the dependency group `peers`")

FORMS = ["NFC", "NFD", "NFKC", "NFKD"]
OTHERS = ["Lowercase", "StripAccents", "Nmt", "BertNormalizer"]
CHARS = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]


def tokenizer(library: Any, form: str) -> Any:
    """Each character is a token, whose offsets show what it stands for."""
    made = library.Tokenizer(library.models.BPE({"<unk>": 0}, [], unk_token="<unk>"))
    made.normalizer = getattr(library.normalizers, form)()
    return made


def check(form: str, texts: list[str]) -> None:
    ours, theirs = getattr(lexmill.normalizers, form)(), getattr(peer.normalizers, form)()
    for text in texts:
        assert ours.normalize_str(text) == theirs.normalize_str(text), ascii(text)
    own, other = tokenizer(lexmill, form), tokenizer(peer, form)
    for start in range(0, len(texts), 20_000):
        part = texts[start : start + 20_000]
        for text, one, two in zip(part, own.encode_batch(part), other.encode_batch(part), strict=True):
            assert one.offsets == two.offsets, ascii(text)


@cache
def marks() -> list[str]:
    """The first and the last mark of each combining class."""
    of_class: dict[int, list[str]] = {}
    for char in CHARS:
        if number := unicodedata.combining(char):
            of_class.setdefault(number, []).append(char)
    return [mark for found in of_class.values() for mark in (found[0], found[-1])]


@cache
def changing() -> list[str]:
    """Characters that decompose, and marks."""
    return [char for char in CHARS if unicodedata.decomposition(char) or unicodedata.category(char).startswith("M")]


@pytest.mark.parametrize("form", FORMS)
def test_rows_of_unicodes_own_test(form: str) -> None:
    path = DATA / "unicode" / "NormalizationTest.txt"
    if not path.is_file():
        pytest.skip(f"no {path.name} in {path.parent}")
    rows = (line.partition("#")[0].strip() for line in path.read_text(encoding="utf-8").splitlines())
    columns = (column for row in rows if row and not row.startswith("@") for column in row.split(";")[:5])
    check(form, sorted({"".join(chr(int(code, 16)) for code in column.split()) for column in columns}))


@pytest.mark.parametrize("form", FORMS)
def test_what_changes_does_so_beside_marks_of_some_classes(form: str) -> None:
    some = marks()[::9]
    texts = [text for char in changing() for mark in some for text in (f"a{mark}{char}b", char + mark)]
    check(form, texts)


@pytest.mark.slow
@pytest.mark.parametrize("form", [*FORMS, *OTHERS])
def test_every_code_point_alone_and_between_letters(form: str) -> None:
    check(form, CHARS)
    check(form, [f"a{char}b" for char in CHARS])


@pytest.mark.slow
@pytest.mark.parametrize("form", [*FORMS, *OTHERS])
def test_what_changes_does_so_beside_marks_of_every_class(form: str) -> None:
    for mark in marks():
        check(form, [text for char in changing() for text in (f"a{mark}{char}b", char + mark)])
