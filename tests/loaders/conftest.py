"""Token files and conversations in the loaders of training programs, which need PyTorch: `make test-loaders`."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import pytest

from lexmill import Tokenizer
from token_runs import TEXTS, save_tokenizer

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.external)
            # The libraries warn of libraries that are not installed, and of their own deprecated calls.
            item.add_marker(pytest.mark.filterwarnings("ignore"))


@pytest.fixture(autouse=True)
def _library(request: pytest.FixtureRequest) -> None:
    """Skips a test whose module names a library that is missing."""
    for name in ["torch", *getattr(request.module, "LIBRARIES", [])]:
        if find_spec(name) is None:
            pytest.skip(f"{name} is not installed: group `loaders`")


@pytest.fixture(scope="session")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    folder = tmp_path_factory.mktemp("tokenizer")
    save_tokenizer(folder)
    made = Tokenizer.from_file(str(folder / "tokenizer.json"))
    made.add_special_tokens(["<|endoftext|>"])
    return made


@pytest.fixture(params=["16 bits", "32 bits"])
def wide(request: pytest.FixtureRequest, tokenizer: Tokenizer) -> Tokenizer:
    """The tokenizer, whose ids take 16 bits, and a copy with so many tokens that ids take 32 bits."""
    made = Tokenizer.from_str(tokenizer.to_str())
    if request.param == "32 bits":
        made.add_tokens([f"<extra {number}>" for number in range(1 << 16)])
    return made


@pytest.fixture(scope="session")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("texts") / "in.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS))
    return path
