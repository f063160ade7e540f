"""Fixtures and Hypothesis profiles of all tests."""

from __future__ import annotations

import pytest
from hypothesis import settings

from engines import ENGINES, Engine

# `pytest --hypothesis-profile=thorough` overrides the profile loaded here.
settings.register_profile("fast", max_examples=300, deadline=None)
settings.register_profile("thorough", max_examples=10_000, deadline=None)
settings.load_profile("fast")


# Of session scope, so that Hypothesis may run many examples on one engine.
@pytest.fixture(scope="session", params=ENGINES, ids=lambda engine: engine.name)
def engine(request: pytest.FixtureRequest) -> Engine:
    """The reference, then the compiled core: what one must do, the other must do too."""
    return request.param()
