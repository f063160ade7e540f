"""Runs the examples of the pages in an empty folder, so that they can write files under plain names."""

from __future__ import annotations

from pathlib import Path

import pytest

# The examples of this page need Ray and Spark, and run in `tests/engines/test_guide.py`.
collect_ignore = ["guides/engines.md"]


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each page has a folder of its own."""
    monkeypatch.chdir(tmp_path)
