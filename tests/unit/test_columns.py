"""Calls for columns: offsets, word ids, type ids and masks as arrays, with limits for one call."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from arrow_consumer import values
from lexmill import TokenArrays, Tokenizer, processors
from lexmill.errors import IdRangeError, InputTypeError, OptionError, OptionRangeError
from small import letters

ALL = dict.fromkeys(
    ["return_offsets", "return_word_ids", "return_type_ids", "return_attention_mask", "return_special_tokens_mask"],
    True,
)


def bert() -> Tokenizer:
    tokenizer = letters()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 101), ("[CLS]", 100))
    return tokenizer


def lists(arrays: dict[str, Any]) -> dict[str, Any]:
    return {name: array.tolist() for name, array in arrays.items()}


class TestColumns:
    def test_columns_that_nobody_asked_for_are_absent(self) -> None:
        rows = letters().encode_batch_arrays(["ab"], return_offsets=True)
        assert rows.offsets is not None
        assert rows.offsets.tolist() == [[0, 1], [1, 2]]
        assert (rows.word_ids, rows.type_ids, rows.attention_mask) == (None, None, None)
        assert (rows.special_tokens_mask, rows.sample_mapping) == (None, None)

    def test_types_are_the_stated_ones(self) -> None:
        rows = bert().encode_batch_arrays(["ab"], return_overflowing=True, **ALL)
        names = ("offsets", "word_ids", "type_ids", "attention_mask", "special_tokens_mask", "sample_mapping")
        types = {name: str(getattr(rows, name).dtype) for name in names}
        assert list(types.values()) == ["uint32", "int32", "uint32", "uint8", "uint8", "int64"]

    def test_padded_rows_of_pairs_are_matrices(self) -> None:
        rows = bert().encode_batch_arrays(["ab", "c"], pairs=["d", "ef"], max_length=6, padding="max_length", **ALL)
        assert lists(rows.matrices()) == {
            "ids": [[100, 0, 1, 101, 3, 101], [100, 2, 101, 4, 5, 101]],
            "offsets": [
                [[0, 0], [0, 1], [1, 2], [0, 0], [0, 1], [0, 0]],
                [[0, 0], [0, 1], [0, 0], [0, 1], [1, 2], [0, 0]],
            ],
            "word_ids": [[-1, 0, 0, -1, 0, -1], [-1, 0, -1, 0, 0, -1]],
            "type_ids": [[0, 0, 0, 0, 1, 1], [0, 0, 0, 1, 1, 1]],
            "attention_mask": [[1] * 6] * 2,
            "special_tokens_mask": [[1, 0, 0, 1, 0, 1], [1, 0, 1, 0, 0, 1]],
        }

    def test_matrices_are_views(self) -> None:
        rows = letters().encode_batch_arrays(["ab", "cd"], return_offsets=True)
        matrices = rows.matrices()
        assert np.shares_memory(matrices["ids"], rows.ids)
        assert matrices["offsets"].shape == (2, 2, 2)
        assert letters().encode_batch_arrays([]).matrices()["ids"].shape == (0, 0)

    def test_rows_of_different_lengths_are_no_matrix(self) -> None:
        with pytest.raises(OptionError, match="rows have 1 to 2 tokens but a matrix needs rows of one length"):
            letters().encode_batch_arrays(["ab", "c"]).matrices()

    def test_overflowing_rows_name_their_text(self) -> None:
        rows = bert().encode_batch_arrays(["abcdef", "a"], max_length=5, stride=1, return_overflowing=True)
        assert [row.tolist() for row in rows] == [
            [100, 0, 1, 2, 101],
            [100, 2, 3, 4, 101],
            [100, 4, 5, 101],
            [100, 0, 101],
        ]
        assert rows.sample_mapping is not None
        assert rows.sample_mapping.tolist() == [0, 0, 0, 1]

    def test_offsets_count_characters(self) -> None:
        tokenizer = letters()
        tokenizer.add_tokens(["é"])
        rows = tokenizer.encode_batch_arrays(["éaéb", "ab"], return_offsets=True)
        assert rows.offsets is not None
        assert rows.offsets.tolist() == [[0, 1], [1, 2], [2, 3], [3, 4], [0, 1], [1, 2]]

    def test_copies_keep_every_column(self) -> None:
        rows = bert().encode_batch_arrays(["ab"], return_overflowing=True, **ALL)
        for again in (pickle.loads(pickle.dumps(rows)), copy.copy(rows), copy.deepcopy(rows)):
            assert repr(again) == repr(rows)
            assert lists(again.matrices()) == lists(rows.matrices())

    def test_arrow_reads_a_struct(self) -> None:
        rows = bert().encode_batch_arrays(["ab", ""], return_overflowing=True, **ALL)
        first = {
            "ids": [100, 0, 1, 101],
            "offsets": [[0, 0], [0, 1], [1, 2], [0, 0]],
            "word_ids": [-1, 0, 0, -1],
            "type_ids": [0] * 4,
            "attention_mask": [1] * 4,
            "special_tokens_mask": [1, 0, 0, 1],
            "sample_mapping": 0,
        }
        assert values(rows)[0] == first
        assert values(rows)[1]["ids"] == [100, 101]
        assert values(letters().encode_batch_arrays(["ab", "c"])) == [[0, 1], [2]]


class TestLimits:
    def test_limits_of_a_call_leave_the_tokenizer_alone(self) -> None:
        tokenizer = letters()
        assert tokenizer.encode_batch_arrays(["abc"], max_length=2).ids.tolist() == [0, 1]
        assert tokenizer.truncation is None
        assert tokenizer.encode_batch_arrays(["abc"]).ids.tolist() == [0, 1, 2]

    def test_what_is_not_given_is_as_set(self) -> None:
        tokenizer = letters()
        tokenizer.enable_truncation(2, direction="left")
        tokenizer.enable_padding(pad_id=9, direction="left")
        rows = tokenizer.encode_batch_arrays(["abc", "a"], max_length=3)
        assert [row.tolist() for row in rows] == [[0, 1, 2], [9, 9, 0]]
        rows = tokenizer.encode_batch_arrays(["abc", "a"], padding=False)
        assert [row.tolist() for row in rows] == [[1, 2], [0]]
        rows = tokenizer.encode_batch_arrays(["abc", "a"], truncation=False, padding_side="right", pad_id=8)
        assert [row.tolist() for row in rows] == [[0, 1, 2], [0, 8, 8]]
        rows = tokenizer.encode_batch_arrays(["abc"], truncation_side="right", pad_to_multiple_of=4)
        assert rows.ids.tolist() == [9, 9, 0, 1]

    def test_files_have_limits_too(self, tmp_path: Any) -> None:
        (tmp_path / "a.txt").write_text("abc\nd", encoding="utf-8")
        rows = letters().encode_files_arrays([tmp_path / "a.txt"], "\n", max_length=2, padding=True, pad_id=9)
        assert [row.tolist() for row in rows] == [[0, 1], [3, 9]]

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"truncation": True}, "truncation is on but max_length is not given"),
            (
                {"truncation": "x", "max_length": 3},
                "Unknown `strategy`: `x`. Use one of `longest_first`, `only_first`, or `only_second`",
            ),
            ({"truncation_side": "up", "max_length": 3}, "Unknown `direction`: `up`"),
            ({"stride": 1}, "stride is given but truncation is neither given nor set"),
            ({"max_length": 3, "stride": 4}, "stride set to 4, .* effective max length of 3"),
            ({"max_length": 3, "stride": 3}, "stride is 3 but must be below the 3 tokens"),
            (
                {"max_length": 2, "truncation": "only_second"},
                "Truncation error: Second sequence not provided, which the strategy only_second cuts",
            ),
            ({"padding": "x"}, "padding is x but must be one of longest, max_length, do_not_pad"),
            ({"padding": "max_length"}, "padding is max_length but max_length is not given"),
            ({"pad_id": 1}, "pad_id is given but padding is neither given nor set"),
            ({"pad_to_multiple_of": 8}, "pad_to_multiple_of is given but padding is neither given nor set"),
            ({"pairs": ["a"]}, "number of pairs is 1 but must be 2, the number of texts"),
            ({"padding": "max_length", "max_length": 1 << 40}, "length to pad to is"),
        ],
    )
    @pytest.mark.parametrize("columns", [{}, ALL])
    def test_limits_that_do_not_fit_are_refused(
        self, options: dict[str, Any], message: str, columns: dict[str, bool]
    ) -> None:
        with pytest.raises(OptionError, match=message):
            letters().encode_batch_arrays(["abcdef", "ab"], **options, **columns)

    @pytest.mark.parametrize("option", ["truncation", "padding"])
    def test_switches_are_bools_or_names(self, option: str) -> None:
        with pytest.raises(InputTypeError, match=f"{option} is 3 but must be a bool or a str"):
            letters().encode_batch_arrays(["a"], max_length=2, **{option: 3})


class TestConstructor:
    def test_columns_must_fit_the_ids(self) -> None:
        ids, splits = np.array([1, 2], np.uint16), np.array([0, 2], np.int64)
        assert TokenArrays(ids, splits, word_ids=np.array([0, 1], np.int32)).word_ids is not None
        for name, array in [
            ("word_ids", np.array([0], np.int32)),
            ("word_ids", np.array([0, 1], np.int64)),
            ("offsets", np.array([0, 1], np.uint32)),
            ("sample_mapping", np.array([0, 1], np.int64)),
            ("attention_mask", [1, 1]),
        ]:
            with pytest.raises(OptionError, match=f"{name} must be an array of"):
                TokenArrays(ids, splits, **{name: array})
        with pytest.raises(TypeError, match="unexpected keyword argument 'words'"):
            TokenArrays(ids, splits, words=ids)


@pytest.mark.parametrize("name", ["max_length", "stride", "pad_to_multiple_of"])
def test_negative_limits_are_refused_by_name(name: str) -> None:
    tokenizer = letters("ab")
    with pytest.raises(OptionRangeError, match=f"^{name} is -1 but must be at least 0"):
        tokenizer.encode_batch_arrays(["a"], **{name: -1})


@pytest.mark.parametrize("pad_id", [-1, 2**32])
def test_a_pad_id_that_is_none_is_refused(pad_id: int) -> None:
    with pytest.raises(IdRangeError, match=f"^pad_id is {pad_id} but must be from 0 to 4294967295"):
        letters("ab").encode_batch_arrays(["a"], pad_id=pad_id)


def test_row_splits_that_were_written_to_are_not_exported() -> None:
    arrays = letters("ab").encode_batch_arrays(["a", "b"])
    arrays.row_splits[1] = 5000
    with pytest.raises(OptionError, match="row_splits must ascend from 0 to the 2 ids"):
        arrays.__arrow_c_array__()


def test_row_splits_of_another_type_are_refused() -> None:
    ids = np.array([1, 2], np.uint32)
    for splits in (np.array([0, 2], np.int32), np.array([[0, 2]]), [0, 2]):
        with pytest.raises(InputTypeError, match="row_splits must be a one-dimensional array of int64"):
            TokenArrays(ids, splits)  # type: ignore[arg-type]
    with pytest.raises(InputTypeError, match="ids must be a one-dimensional array"):
        TokenArrays(np.array([1, 2], np.int32), np.array([0, 2]))  # type: ignore[arg-type]
