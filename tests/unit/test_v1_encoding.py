"""`lexmill.v1.Encoding`: lists, arrays, comparison and pickles, for one text and for batches."""

from __future__ import annotations

import json
import pickle
from itertools import product
from typing import Any, Literal

import numpy as np
import pytest

import lexmill
from lexmill import models, v1
from lexmill.errors import FormatError, LexmillError
from lexmill.v1 import Encoding, Padding
from v1_small import plain, tokenizer

LISTS = ["ids", "type_ids", "attention_mask", "tokens", "offsets", "word_ids"]
INPUTS: list[str | tuple[str, str]] = ["a b", "", ("a <n>", "x  [SEP]c"), "é ag", ("", "b"), ["c", "d"]]  # type: ignore[list-item]


def lists(encoding: Encoding | lexmill.Encoding) -> list[Any]:
    return [getattr(encoding, name) for name in LISTS]


@pytest.mark.parametrize("direction", ["left", "right"])
@pytest.mark.parametrize("length", [None, 4, 9])
def test_lists_equal_the_lists_of_the_other_interface(direction: Literal["left", "right"], length: int | None) -> None:
    other, own = plain(), tokenizer()
    other.enable_padding(direction=direction, length=length, pad_id=2, pad_type_id=5, pad_token="[p]")
    padding = Padding(direction, pad_id=2, pad_type_id=5, pad_token="[p]", length=length)
    batch = own.encode_batch(INPUTS, padding=padding)
    for encoding, expected in zip(batch, other.encode_batch(INPUTS), strict=True):
        assert lists(encoding) == lists(expected)
        assert len(encoding) == len(expected)
    for item in INPUTS:
        first, second = (item, None) if isinstance(item, str) else item
        assert lists(own.encode(item, padding=padding)) == lists(other.encode(first, second))


def test_arrays_are_new_and_hold_the_lists() -> None:
    for encoding in (tokenizer().encode("a b"), *tokenizer().encode_batch(["a", "a b"], padding=Padding(pad_id=9))):
        for name, (suffix, dtype) in product(LISTS[:3], [("array", np.uint32), ("dlpack", np.int64)]):
            array = getattr(encoding, f"{name}_{suffix}")
            assert (array.dtype, array.tolist()) == (dtype, getattr(encoding, name))
            array[0] = 77
            assert getattr(encoding, f"{name}_{suffix}")[0] != 77
        assert np.from_dlpack(encoding.ids_dlpack).tolist() == encoding.ids


def test_encodings_compare_by_three_lists() -> None:
    own = tokenizer()
    one, other = own.encode("a b"), own.encode_batch(["a  b"])[0]
    assert one == other
    assert one.offsets != other.offsets
    assert one != own.encode("a")
    assert one != own.encode("a b", padding=Padding(length=9))
    assert one != 5
    # Equal ids, but another attention mask or other type ids.
    bare: Any = {"add_special_tokens": False}
    assert own.encode("a [PAD]", **bare) != own.encode("a", **bare, padding=Padding(length=2, pad_id=2))
    assert own.encode("a b", **bare) != own.encode(("a", "b"), **bare)
    assert repr(other) == "Encoding(ids=[0, 4, 5, 1], type_ids=[0, 0, 0, 0], attention_mask=[1, 1, 1, 1])"


def test_encodings_are_made_by_tokenizers_alone_and_stay_as_they_are() -> None:
    encoding = tokenizer().encode("a b")
    with pytest.raises(TypeError, match="unhashable"):
        hash(encoding)
    with pytest.raises(AttributeError):
        encoding.ids = []  # type: ignore[misc]
    encoding.ids.clear()
    assert len(encoding.ids) == 4
    with pytest.raises(TypeError, match="cannot create Encoding"):
        Encoding()


def test_a_pickle_holds_all_lists() -> None:
    own = tokenizer()
    for encoding in (own.encode("a b"), *own.encode_batch(INPUTS, padding=Padding("left", pad_token="[p]"))):
        copied = pickle.loads(pickle.dumps(encoding))
        assert copied == encoding
        assert lists(copied) == lists(encoding)
        copied.ids.clear()
        assert copied.ids_array.tolist() == encoding.ids


def test_a_pickle_of_hugging_face_gives_three_lists() -> None:
    made = Encoding._unpickle([0, 4], [0, 0], [1, 1])
    assert (made.ids, len(made)) == ([0, 4], 2)
    with pytest.raises(LexmillError, match="has no offsets"):
        _ = made.offsets
    with pytest.raises(FormatError, match=r"columns of \[1, 2\] tokens"):
        Encoding._unpickle([0, 4], [0], [1, 1])


def test_a_caller_may_change_its_list_before_offsets_are_read() -> None:
    texts = ["a b", "c"]
    batch = tokenizer().encode_batch(texts)
    texts[:] = ["abc", "x y z"]
    assert [encoding.offsets for encoding in batch] == [[(0, 0), (0, 1), (2, 3), (0, 0)], [(0, 0), (0, 1), (0, 0)]]


def test_offsets_of_a_model_with_dropout_fit_its_tokens() -> None:
    merges = [("a", "b"), ("ab", "c"), ("d", "e")]
    vocab = {token: number for number, token in enumerate([*"abcde", "ab", "abc", "de"])}
    file = json.loads(lexmill.Tokenizer(models.BPE(vocab, merges)).to_str())
    file["model"]["dropout"] = 0.5
    own = v1.Tokenizer.from_str(json.dumps(file))
    text = "abcdeabcde"
    batch = own.encode_batch([text] * 50)
    assert len({tuple(encoding.ids) for encoding in batch}) > 1
    for encoding in batch:
        assert [text[start:end] for start, end in encoding.offsets] == encoding.tokens


def test_an_id_that_shares_its_token_has_the_token() -> None:
    own = v1.Tokenizer.from_str(lexmill.Tokenizer(models.Unigram([("x", -1.0), ("x", -2.0), ("b", -3.0)], 0)).to_str())
    assert own.encode_batch(["bq"])[0].tokens == own.tokenize("bq") == ["b", "x"]
