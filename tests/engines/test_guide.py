"""The examples of the guide."""

from __future__ import annotations

import doctest
from pathlib import Path
from typing import Any

import pytest
from clusters import Cluster

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "engines.md"


def test_examples_of_the_guide(
    ray_cluster: Cluster, spark_session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = doctest.testfile(str(GUIDE), module_relative=False, optionflags=doctest.ELLIPSIS, encoding="utf-8")
    assert found.attempted > 20
    assert not found.failed
