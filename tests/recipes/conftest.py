"""Tests of docs/guides/recipes with the libraries that the recipes are for."""

from __future__ import annotations

from pathlib import Path

import pytest

from lexmill import Tokenizer
from small import byte_level

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.external)


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    at = [("a", "t"), ("m", "at"), ("c", "at"), ("s", "at")]
    return byte_level(("t", "h"), ("th", "e"), *at, ("Ġ", "cat"), ("Ġ", "the"))


@pytest.fixture(scope="module", params=["uint16", "uint32"])
def wide(request: pytest.FixtureRequest, tokenizer: Tokenizer) -> Tokenizer:
    """The tokenizer, with so many ids that they take 32 bits if asked for."""
    made = Tokenizer.from_str(tokenizer.to_str())
    if request.param == "uint32":
        made.add_tokens([f"<extra {number}>" for number in range(1 << 16)])
    return made
