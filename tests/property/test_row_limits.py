"""Calls for ids alone truncate and pad rows as encodings are, without building any."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexmill import Tokenizer, models, pre_tokenizers, processors

# Random limits cut what is counted.
pytestmark = pytest.mark.filterwarnings("ignore::lexmill.errors.LengthLimitWarning")

WORDS = ["[PAD]", "[CLS]", "[SEP]", "a", "b", "c"]


def tokenizer(with_special: bool) -> Tokenizer:
    made = Tokenizer(models.WordLevel({word: at for at, word in enumerate(WORDS)}, unk_token="a"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    if with_special:
        made.post_processor = processors.BertProcessing(("[SEP]", 2), ("[CLS]", 1))
    return made


texts = st.lists(st.lists(st.sampled_from("abc"), max_size=12).map(" ".join), max_size=6)
truncations = st.none() | st.fixed_dictionaries(
    {
        "max_length": st.integers(0, 8),
        "stride": st.integers(0, 4),
        "strategy": st.sampled_from(["longest_first", "only_first", "only_second"]),
        "direction": st.sampled_from(["left", "right"]),
    }
)
paddings = st.none() | st.fixed_dictionaries(
    {
        "length": st.none() | st.integers(0, 12),
        "pad_to_multiple_of": st.none() | st.integers(1, 5),
        "direction": st.sampled_from(["left", "right"]),
        "pad_id": st.sampled_from([0, 3]),
    }
)


def outcome(call: Any) -> Any:
    """What a call answers, or the class and the message of its error."""
    try:
        return call()
    except ValueError as error:
        return type(error), str(error)


@given(texts, truncations, paddings, st.booleans(), st.booleans())
def test_rows_are_those_of_encodings(
    batch: list[str], truncation: Any, padding: Any, with_special: bool, add_special_tokens: bool
) -> None:
    limited = tokenizer(with_special)
    try:
        if truncation is not None:
            limited.enable_truncation(**truncation)
    except ValueError:
        return
    if padding is not None:
        limited.enable_padding(**padding)
    options = {"add_special_tokens": add_special_tokens}
    expected = outcome(lambda: [encoding.ids for encoding in limited.encode_batch(batch, **options)])
    arrays = outcome(lambda: [row.tolist() for row in limited.encode_batch_arrays(batch, **options)])
    assert arrays == expected
    assert outcome(lambda: limited.encode_batch_ids(batch, **options)) == expected
    lengths = [len(row) for row in expected] if isinstance(expected, list) else expected
    assert outcome(lambda: limited.count_tokens(batch, **options).tolist()) == lengths
    for text in batch:
        single = outcome(lambda text=text: limited.encode(text, **options).ids)
        assert outcome(lambda text=text: limited.encode_ids(text, **options)) == single


@pytest.mark.parametrize("length", [None, 7])
def test_rows_of_files_are_those_of_texts(tmp_path: Path, length: int | None) -> None:
    limited = tokenizer(with_special=True)
    limited.enable_truncation(5)
    limited.enable_padding(length=length)
    batch = ["a b c a b c", "a", "", "b b b"]
    path = tmp_path / "texts.txt"
    path.write_text("\n".join(batch))
    rows = [row.tolist() for row in limited.encode_files_arrays([path], separator="\n")]
    assert rows == limited.encode_batch_ids(batch)
    assert limited.count_tokens_files([path], separator="\n").tolist() == [len(row) for row in rows]
