"""Random whole tokenizers on random texts: every way through the core does what the readable reference does."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, note, settings

from whole_engines import ENGINES, REFERENCE, Input, Json, differences
from whole_tokenizers import CASES, cases, not_compared

# Random limits cut what is counted.
pytestmark = pytest.mark.filterwarnings("ignore::lexmill.errors.LengthLimitWarning")


@settings(max_examples=CASES)
@given(case=cases(own=True))
def test_every_way_through_the_core_is_the_reference(case: tuple[Json, list[Input]]) -> None:
    spec, inputs = case
    note(json.dumps(spec, ensure_ascii=False))
    reference = REFERENCE.encoder(spec)
    encoders = [(engine, engine.encoder(spec)) for engine in ENGINES]
    for given_input in inputs:
        expected = reference(given_input)
        for engine, encode in encoders:
            if given_input.pair is None or engine.takes_pairs:
                found = differences(expected, encode(given_input), not_compared(spec))
                assert not found, f"{engine.name} of {given_input}: {found}"
