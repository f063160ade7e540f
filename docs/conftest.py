"""Runs the examples of the pages in an empty folder, so that they can write files under plain names."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each page has a folder of its own."""
    monkeypatch.chdir(tmp_path)
