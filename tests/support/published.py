"""Each published tokenizer of the folder with data, which a checkout lacks."""

from __future__ import annotations

import pytest

from lexmill import Tokenizer
from peers import DATA, tokenizer_file

NAMES = sorted(path.parent.name for path in (DATA / "tokenizers").glob("*/tokenizer.json"))

PUBLISHED = pytest.mark.parametrize("name", NAMES or [pytest.param("", marks=pytest.mark.skip(f"{DATA} is absent"))])
"""Runs a test for each of them; the test is skipped if there is none."""


def read(name: str) -> Tokenizer:
    """A published tokenizer, without truncation and padding."""
    tokenizer = Tokenizer.from_file(str(tokenizer_file(name)))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer
