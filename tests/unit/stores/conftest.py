"""A store in memory, and a tokenizer and texts for token files in it."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lexmill import Tokenizer
from lexmill._data import stores
from lexmill.sources import JsonLines
from token_runs import TEXTS, save_tokenizer

if TYPE_CHECKING:
    from faulty_store import FaultyFileSystem


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tokenizer and a source."""
    folder = tmp_path_factory.mktemp("stored")
    save_tokenizer(folder)
    lines = (json.dumps({"text": text}) + "\n" for text in TEXTS)
    (folder / "a.jsonl").write_text("".join(lines), encoding="utf-8")
    return folder


@pytest.fixture
def tokenizer(folder: Path) -> Tokenizer:
    return Tokenizer.from_file(folder / "tokenizer.json")


@pytest.fixture
def source(folder: Path) -> JsonLines:
    return JsonLines(folder / "a.jsonl")


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of temporary files."""
    path = tmp_path / "temporary"
    path.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(path))
    return path


@pytest.fixture
def store(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultyFileSystem]:
    assert temporary.is_dir()
    monkeypatch.setattr(stores, "_PAUSES", (0.0,) * 6)
    pytest.importorskip("fsspec")
    from faulty_store import faulty_store

    with faulty_store() as files:
        yield files
