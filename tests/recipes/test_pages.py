"""The examples of the pages whose libraries `make test-docs` does not install."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

PAGES = Path(__file__).parents[2] / "docs" / "guides" / "recipes"
LIBRARIES = {
    "columns": ["datasets", "duckdb", "polars", "pyarrow"],
    "serving": ["llguidance", "outlines_core"],
}


@pytest.mark.parametrize("name", LIBRARIES)
def test_examples_of_pages(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for library in LIBRARIES[name]:
        pytest.importorskip(library)
    monkeypatch.chdir(tmp_path)
    page = PAGES / f"{name}.md"
    found = doctest.testfile(str(page), module_relative=False, optionflags=doctest.ELLIPSIS, encoding="utf-8")
    assert found.attempted > 15
    assert not found.failed
