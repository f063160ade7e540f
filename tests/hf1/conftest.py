"""Tests beside `tokenizers` 1.0, which is installed in an environment of its own: `make test-hf1`."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def peer_is_there() -> bool:
    """True if the installed `tokenizers` is of version 1; other tests need 0.23."""
    try:
        return metadata.version("tokenizers").startswith("1.")
    except metadata.PackageNotFoundError:
        return False


collect_ignore_glob = [] if peer_is_there() else ["test_*.py"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.external)
            item.add_marker(pytest.mark.filterwarnings("ignore::lexmill.errors.TruncationWarning"))
