"""Random whole tokenizers on random batches: arrays, lists, counts and files agree with `encode_batch`."""

from __future__ import annotations

import json
import tempfile
import warnings
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, note, settings
from hypothesis import strategies as st

from lexmill import Tokenizer, tokenize_files
from lexmill.errors import EmptyCorpusWarning
from lexmill.sources import JsonLines
from whole_engines import COLUMNS, Json, core, view
from whole_models import choice
from whole_tokenizers import CASES, texts_of, tokenizers

pq = pytest.importorskip("pyarrow.parquet")

# Random limits cut what is counted.
pytestmark = pytest.mark.filterwarnings("ignore::lexmill.errors.LengthLimitWarning")

Batch = list[Any]
ARRAYS = ("ids", "offsets", "word_ids", "type_ids", "attention_mask", "special_tokens_mask")


@st.composite
def batches(draw: st.DrawFn, kind: str) -> tuple[Json, Batch, bool]:
    """A tokenizer, texts of one kind, and whether special tokens are added."""
    spec = draw(tokenizers(own=True))
    text = texts_of(spec)
    words = st.lists(text, max_size=5)
    given_text = {"texts": text, "pairs": st.tuples(text, text), "words": choice(words, st.tuples(words, words))}[kind]
    return spec, draw(st.lists(given_text, min_size=1, max_size=5)), draw(st.sampled_from([True, True, False]))


def outcome(call: Any) -> Any:
    """The answer of a call, or the class and the message of its error."""
    try:
        return call()
    except Exception as error:
        return type(error), str(error)


def rows_of(arrays: Any) -> list[Json]:
    """The rows of arrays in the terms of encodings."""
    splits = arrays.row_splits.tolist()
    rows = []
    for start, end in pairwise(splits):
        row = {name: getattr(arrays, name)[start:end].tolist() for name in ARRAYS}
        row["offsets"] = [tuple(offsets) for offsets in row["offsets"]]
        row["word_ids"] = [None if word < 0 else word for word in row["word_ids"]]
        rows.append(row)
    return rows


def windows(encodings: list[Json]) -> list[tuple[int, Json]]:
    """Encodings with the overflowing ones after each, with the numbers of the texts."""
    numbered = [(at, part) for at, encoding in enumerate(encodings) for part in (encoding, *encoding["overflowing"])]
    return [(at, {name: part[name] for name in ARRAYS}) for at, part in numbered]


def check_lists(tokenizer: Tokenizer, spec: Json, batch: Batch, options: Json) -> Any:
    """Compares encodings of each kind of call; the answer of `encode_batch`."""
    expected = outcome(lambda: [view(encoding) for encoding in tokenizer.encode_batch(batch, **options)])
    assert outcome(lambda: [view(each) for each in tokenizer.encode_batch_fast(batch, **options)]) == expected
    # One at a time there is no longest row to pad to.
    if isinstance(expected, list) and (spec["padding"] is None or spec["padding"]["strategy"] != "BatchLongest"):
        for given_text, encoding in zip(batch, expected, strict=True):
            both = given_text if isinstance(given_text, tuple) else (given_text,)
            assert view(tokenizer.encode(*both, **options)) == encoding
    return expected


def check_arrays(tokenizer: Tokenizer, batch: Batch, expected: Any, **options: Any) -> None:
    """Compares arrays, with overflowing parts and without, with all columns and with none."""
    rows = expected
    if isinstance(expected, list):
        rows = [{name: encoding[name] for name in ARRAYS} for encoding in expected]
    arrays = outcome(lambda: rows_of(tokenizer.encode_batch_arrays(batch, **options, **COLUMNS)))
    assert arrays == rows
    ids = outcome(lambda: [row.tolist() for row in tokenizer.encode_batch_arrays(batch, **options)])
    assert ids == ([row["ids"] for row in rows] if isinstance(rows, list) else rows)

    def overflowing() -> list[tuple[int, Json]]:
        found = tokenizer.encode_batch_arrays(batch, return_overflowing=True, **options, **COLUMNS)
        return list(zip(found.sample_mapping.tolist(), rows_of(found), strict=True))

    assert outcome(overflowing) == (windows(expected) if isinstance(expected, list) else expected)


def check_files(tokenizer: Tokenizer, batch: Batch, special: bool, ids: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "texts.jsonl")
        path.write_text("".join(json.dumps({"text": text}) + "\n" for text in batch))
        source, options = [JsonLines(path)], {"add_special_tokens": special}
        found = outcome(lambda: [row.tolist() for row in tokenizer.encode_files_arrays(source, **options)])
        assert found == ids
        counts = outcome(lambda: tokenizer.count_tokens_files(source, **options).tolist())
        assert counts == ([len(row) for row in ids] if isinstance(ids, list) else ids)


def check_token_files(tokenizer: Tokenizer, batch: Batch, special: bool, expected: list[Json]) -> None:
    """Compares the files of a run, which leaves out texts that have no more tokens than an empty one."""
    special_tokens = len(tokenizer.encode("", add_special_tokens=special))
    kept = [(row["ids"], row["offsets"]) for row in expected if len(row["ids"]) > special_tokens]
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder, "texts.jsonl"), Path(folder, "out")
        path.write_text("".join(json.dumps({"text": text}) + "\n" for text in batch))
        source, options = JsonLines(path), {"add_special_tokens": special, "offsets": True, "num_threads": 1}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", EmptyCorpusWarning)
            tokenize_files(tokenizer, source, out, format="parquet", **options)
        tables = [pq.read_table(part).to_pylist() for part in sorted(out.rglob("*.parquet"))]
    rows = [row for table in tables for row in table]
    found = [(row["input_ids"], list(zip(row["offsets_start"], row["offsets_end"], strict=True))) for row in rows]
    assert found == kept


# A byte of visible space is unknown, so that its token has no text that its id tells.
UNKNOWN_SPACES: Json = {
    "version": "1.0",
    "truncation": None,
    "padding": None,
    "added_tokens": [],
    "normalizer": None,
    "pre_tokenizer": {"type": "Whitespace"},
    "post_processor": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
    "decoder": None,
    "model": {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0.0], ["x", -1.0]], "byte_fallback": False},
}


@settings(max_examples=CASES)
@given(case=batches("texts"))
@example(case=(UNKNOWN_SPACES, ["ĠĠx"], True))
@example(case=(UNKNOWN_SPACES, ["\u200cĠ", "ĠĠ", "xĠ Ġx"], True))
def test_of_texts_arrays_lists_counts_and_files_agree(case: tuple[Json, Batch, bool]) -> None:
    spec, batch, special = case
    note(json.dumps(spec, ensure_ascii=False))
    tokenizer, options = core(spec), {"add_special_tokens": special}
    expected = check_lists(tokenizer, spec, batch, options)
    check_arrays(tokenizer, batch, expected, **options)
    check_arrays(tokenizer, [text.encode() for text in batch], expected, **options)
    ids = [row["ids"] for row in expected] if isinstance(expected, list) else expected
    assert outcome(lambda: tokenizer.encode_batch_ids(batch, **options)) == ids
    counts = [len(row) for row in ids] if isinstance(ids, list) else ids
    assert outcome(lambda: tokenizer.count_tokens(batch, **options).tolist()) == counts
    check_files(tokenizer, batch, special, ids)
    if isinstance(expected, list) and spec["truncation"] is None and spec["padding"] is None:
        check_token_files(tokenizer, batch, special, expected)


@settings(max_examples=CASES)
@given(case=batches("pairs"))
def test_of_pairs_arrays_and_lists_agree(case: tuple[Json, Batch, bool]) -> None:
    spec, batch, special = case
    note(json.dumps(spec, ensure_ascii=False))
    tokenizer, options = core(spec), {"add_special_tokens": special}
    expected = check_lists(tokenizer, spec, batch, options)
    firsts, seconds = zip(*batch, strict=True)
    check_arrays(tokenizer, list(firsts), expected, pairs=list(seconds), **options)


@settings(max_examples=CASES)
@given(case=batches("words"))
def test_of_words_single_calls_and_batches_agree(case: tuple[Json, Batch, bool]) -> None:
    spec, batch, special = case
    note(json.dumps(spec, ensure_ascii=False))
    check_lists(core(spec), spec, batch, {"add_special_tokens": special, "is_pretokenized": True})
