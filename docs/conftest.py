"""Runs the examples of the pages in an empty folder, so that they can write files under plain names."""

from __future__ import annotations

from pathlib import Path

import pytest

# The examples of these pages need more libraries, and run in `tests/engines/test_guide.py` and
# `tests/recipes/test_pages.py`.
collect_ignore = ["guides/engines.md", "guides/recipes/columns.md", "guides/recipes/serving.md"]


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each page has a folder of its own."""
    monkeypatch.chdir(tmp_path)
