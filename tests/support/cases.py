"""Reads the golden files; their format is described beside them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

GOLDEN = Path(__file__).parents[1] / "golden"


def load(name: str) -> dict[str, Any]:
    """Returns a golden file."""
    return json.loads((GOLDEN / name).read_text(encoding="utf-8"))


def load_cases(name: str, *, source: str | None = None) -> list[Any]:
    """Returns the cases of a golden file as test parameters, or those only whose source names `source`."""
    cases = load(name)["cases"]
    return [pytest.param(case, id=case["name"]) for case in cases if source is None or source in case["source"]]


def pairs(lists: list[list[Any]]) -> list[tuple[Any, ...]]:
    """Turns JSON's lists of pairs into tuples."""
    return [tuple(item) for item in lists]


def tokens(lists: list[list[Any]]) -> list[tuple[Any, ...]]:
    """Turns JSON's id, token and offsets into tuples."""
    return [(token_id, token, tuple(offsets)) for token_id, token, offsets in lists]
