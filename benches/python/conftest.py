"""Fixtures of the call benches: one tokenizer trained on the spot, loaded by both libraries from the same file."""

from __future__ import annotations

import sysconfig
from pathlib import Path
from typing import Any

import pytest

import lexmill

LIBRARIES = ["lexmill", "tokenizers"]


@pytest.fixture(scope="session")
def texts() -> list[str]:
    """Documents of about 4 kB from the standard library's sources, which every machine has."""
    folder = Path(sysconfig.get_path("stdlib"))
    source = "".join(path.read_text(encoding="utf-8") for path in sorted(folder.glob("[a-f]*.py")))
    return [source[start : start + 4096] for start in range(0, len(source), 4096)]


@pytest.fixture(scope="session")
def tokenizer_json(texts: list[str]) -> str:
    """A byte-level BPE of 8,000 tokens."""
    tokenizer = lexmill.Tokenizer(lexmill.models.BPE())
    tokenizer.pre_tokenizer = lexmill.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.train_from_iterator(texts, lexmill.trainers.BpeTrainer(vocab_size=8000, show_progress=False))
    return tokenizer.to_str()


@pytest.fixture(params=LIBRARIES)
def library(request: pytest.FixtureRequest) -> Any:
    """The module under measurement."""
    return pytest.importorskip(request.param)


@pytest.fixture
def tokenizer(library: Any, tokenizer_json: str) -> Any:
    """A fresh tokenizer, with nothing cached."""
    return library.Tokenizer.from_str(tokenizer_json)
