"""Random whole tokenizers as files of version 2.0."""

from __future__ import annotations

import json

from hypothesis import assume, given, note, settings
from hypothesis import strategies as st

from lexmill import Tokenizer
from lexmill.errors import OptionError
from whole_engines import ENGINES, REFERENCE, Engine, Input, Json, differences, file_of, see_encoding
from whole_models import choice
from whole_stages import METASPACE_NORMALIZERS
from whole_tokenizers import CASES, cases, not_compared, stages

CORE = Engine("encode", lambda tokenizer: tokenizer, see_encoding)


def read(text: str, spec: Json) -> Tokenizer:
    tokenizer = Tokenizer.from_str(text)
    tokenizer.encode_special_tokens = spec["encode_special_tokens"]
    return tokenizer


@settings(max_examples=CASES)
@given(case=cases(own=False))
def test_a_tokenizer_that_version_2_holds_is_the_same_when_it_is_read_back(case: tuple[Json, list[Input]]) -> None:
    spec, inputs = case
    tokenizer = read(json.dumps(file_of(spec)), spec)
    try:
        text = tokenizer.to_str(version="2.0")
    except OptionError:
        assume(False)
    note(text)
    back = read(text, spec)
    assert back.to_str(version="2.0") == text
    encoders = [CORE.encoder(each) for each in (tokenizer, back)]
    for given_input in inputs:
        found = differences(*(encode(given_input) for encode in encoders), not_compared(spec))
        assert not found, f"{given_input}: {found}"


@st.composite
def version_2_cases(draw: st.DrawFn) -> tuple[Json, list[Input]]:
    """A file of version 2.0, which no tokenizer of version 1.0 need have made, and texts for it."""
    spec, inputs = draw(cases(own=False))
    bare = {**file_of(spec), "normalizer": None, "pre_tokenizer": None, "post_processor": None}
    written = json.loads(Tokenizer.from_str(json.dumps(bare)).to_str(version="2.0", lossy=True))
    in_version_1 = ("ByteLevel", "Metaspace")
    cuts = [each for each in stages(spec["pre_tokenizer"], "pretokenizers") if each["type"] not in in_version_1]
    normalizers = [*stages(spec["normalizer"], "normalizers"), *draw(st.lists(METASPACE_NORMALIZERS, max_size=2))]
    replacement = normalizers[-1]["replacement"] if normalizers and "replacement" in normalizers[-1] else "▁"
    split = {"type": "Split", "pattern": {"String": replacement}}
    splits = choice(st.just([]), st.just([{**split, "behavior": "MergedWithNext"}]), st.just([split]))
    return {
        **written,
        "normalizer": {"type": "Sequence", "normalizers": normalizers},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [*draw(splits), *cuts]},
        "encode_special_tokens": spec["encode_special_tokens"],
    }, inputs


@settings(max_examples=CASES)
@given(case=version_2_cases())
def test_the_core_reads_version_2_as_the_reference_does(case: tuple[Json, list[Input]]) -> None:
    spec, inputs = case
    note(json.dumps(spec, ensure_ascii=False))
    reference = REFERENCE.encoder(spec)
    for engine in ENGINES:
        encode = engine.encoder(spec)
        for given_input in inputs:
            if given_input.pair is None or engine.takes_pairs:
                found = differences(reference(given_input), encode(given_input), not_compared(spec))
                assert not found, f"{engine.name} of {given_input}: {found}"
