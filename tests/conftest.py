"""Fixtures and Hypothesis profiles of all tests."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

from engines import ENGINES, Engine

# `pytest --hypothesis-profile=thorough` overrides the profile loaded here.
settings.register_profile("fast", max_examples=300, deadline=None)
settings.register_profile("thorough", max_examples=10_000, deadline=None)
settings.load_profile("fast")


# Random arguments rightly meet these; the tests of the warnings themselves are in `unit`.
RANDOM = ("tests/property/", "tests/parity/")
WARNINGS = ("ByteTokenWarning", "TruncationWarning", "LengthLimitWarning", "NoLossWarning")


# Tests with a folder of their own expect line ends, paths, links and signals of POSIX. On Windows, cargo's tests of
# files and `.ci/smoke.py` stand for them.
FOLDERS = {"tmp_path", "tmp_path_factory"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Lets tests of random arguments meet warnings of single arguments, which are errors elsewhere."""
    for item in items:
        if os.name == "nt" and FOLDERS.intersection(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.skip(reason="expects files as on POSIX"))
        if item.nodeid.startswith(RANDOM):
            for name in WARNINGS:
                item.add_marker(pytest.mark.filterwarnings(f"ignore::lexmill.errors.{name}"))


# Of session scope, so that Hypothesis may run many examples on one engine.
@pytest.fixture(scope="session", params=ENGINES, ids=lambda engine: engine.name)
def engine(request: pytest.FixtureRequest) -> Engine:
    """The reference, then the compiled core: what one must do, the other must do too."""
    return request.param()
