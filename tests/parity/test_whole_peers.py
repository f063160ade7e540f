"""Random whole tokenizers on random texts: the readable reference and the core do what Hugging Face does."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import assume, given, note, settings

from whole_engines import ENGINES, REFERENCE, Input, Json, Seen, differences, read, see_encoding
from whole_tokenizers import CASES, beyond_the_peer, cases, not_compared_with_the_peer

# Random limits cut what is counted.
pytestmark = [pytest.mark.external, pytest.mark.filterwarnings("ignore::lexmill.errors.LengthLimitWarning")]

peer: Any = pytest.importorskip("tokenizers")


def outcome(tokenizer: Any, given_input: Input) -> Seen | None:
    """What the peer shows, or the exception that it raises; None where it panics."""
    try:
        return see_encoding(tokenizer, given_input)
    except Exception:
        return Exception
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        return None


@settings(max_examples=CASES)
@given(case=cases(own=False))
def test_the_reference_and_the_core_are_the_peer(case: tuple[Json, list[Input]]) -> None:
    spec, inputs = case
    assume(beyond_the_peer(spec) is None)
    note(json.dumps(spec, ensure_ascii=False))
    theirs = read(peer, spec)
    encoders = [(engine, engine.encoder(spec)) for engine in [REFERENCE, *ENGINES]]
    for given_input in inputs:
        expected = outcome(theirs, given_input)
        # What the core does where the peer panics, the reference says.
        if expected is None:
            continue
        for engine, encode in encoders:
            if given_input.pair is None or engine.takes_pairs:
                seen = encode(given_input)
                # Exceptions there have no classes of their own.
                left_out = not_compared_with_the_peer(spec)
                found = differences(expected, seen if isinstance(seen, dict) else Exception, left_out)
                assert not found, f"{engine.name} of {given_input}: {found}"
