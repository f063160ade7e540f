from __future__ import annotations

import gc
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lexmill import TokenArrays, processors
from lexmill.errors import InputTypeError, OptionError
from small import byte_level, letters

TEXTS = ["ab", "", "c", "def"]


def arrays() -> TokenArrays:
    return letters().encode_batch_arrays(TEXTS)


class TestContents:
    def test_rows_lie_end_to_end(self) -> None:
        rows = arrays()
        assert rows.ids.tolist() == [0, 1, 2, 3, 4, 5]
        assert rows.row_splits.tolist() == [0, 2, 2, 3, 6]
        assert len(rows) == 4
        assert [row.tolist() for row in rows] == [[0, 1], [], [2], [3, 4, 5]]

    def test_no_texts_make_no_rows(self) -> None:
        rows = letters().encode_batch_arrays([])
        assert (len(rows), rows.ids.tolist(), rows.row_splits.tolist()) == (0, [], [0])

    def test_same_as_lists_and_counts(self) -> None:
        tokenizer = byte_level(("a", "b"))
        tokenizer.post_processor = processors.TemplateProcessing(single="[C] $A", special_tokens=[("[C]", 500)])
        rows = tokenizer.encode_batch_arrays(TEXTS)
        assert [row.tolist() for row in rows] == tokenizer.encode_batch_ids(TEXTS)
        assert tokenizer.encode_batch_ids(TEXTS) == [tokenizer.encode(text).ids for text in TEXTS]
        assert tokenizer.count_tokens(TEXTS).tolist() == [len(row) for row in rows]

    def test_special_tokens_can_be_left_out(self) -> None:
        tokenizer = letters()
        tokenizer.post_processor = processors.TemplateProcessing(single="[C] $A", special_tokens=[("[C]", 9)])
        assert tokenizer.encode_batch_arrays(["a"], add_special_tokens=False).ids.tolist() == [0]

    def test_truncation_and_padding_hold_here_too(self) -> None:
        tokenizer = letters()
        tokenizer.enable_truncation(2)
        tokenizer.enable_padding(pad_id=9)
        assert tokenizer.encode_batch_arrays(["abc", "a"]).ids.tolist() == [0, 1, 0, 9]

    def test_files_are_rows_and_separators_cut_them(self, tmp_path: Path) -> None:
        paths = [tmp_path / "one", tmp_path / "two"]
        paths[0].write_text("ab|c", encoding="utf-8")
        paths[1].write_text("d", encoding="utf-8")
        tokenizer = letters()
        assert [row.tolist() for row in tokenizer.encode_files_arrays(paths)] == [[0, 1, 2], [3]]
        assert [row.tolist() for row in tokenizer.encode_files_arrays(paths, "|")] == [[0, 1], [2], [3]]


class TestOneText:
    LONG = "ab abc " * 60_000

    @pytest.mark.parametrize("text", ["", "ab", "ab abc d" * 40, "ab abc " * 1_000, LONG])
    @pytest.mark.parametrize("special", [True, False])
    def test_same_as_the_ids_of_the_encoding(self, text: str, special: bool) -> None:
        tokenizer = byte_level(("a", "b"))
        tokenizer.post_processor = processors.TemplateProcessing(
            single="[C] $A [S]", special_tokens=[("[C]", 9), ("[S]", 8)]
        )
        expected = tokenizer.encode(text, add_special_tokens=special).ids
        assert tokenizer.encode_ids(text, add_special_tokens=special) == expected
        assert tokenizer.encode_ids(text, add_special_tokens=special, num_threads=3) == expected

    def test_what_comes_after_the_model_may_change_between_calls(self) -> None:
        tokenizer = letters()
        assert tokenizer.encode_ids("abc") == [0, 1, 2]
        tokenizer.enable_truncation(2)
        assert tokenizer.encode_ids("abc") == [0, 1]
        tokenizer.enable_padding(length=4, pad_id=7)
        assert tokenizer.encode_ids("abc") == [0, 1, 7, 7]
        tokenizer.no_truncation()
        tokenizer.no_padding()
        tokenizer.post_processor = processors.TemplateProcessing(single="$A [S]", special_tokens=[("[S]", 8)])
        assert tokenizer.encode_ids("abc") == [0, 1, 2, 8]
        assert tokenizer.encode_ids("abc", add_special_tokens=False) == [0, 1, 2]

    @pytest.mark.parametrize("text", [None, 5, b"ab", ["ab"], "\ud800"])
    def test_it_must_be_str(self, text: Any) -> None:
        with pytest.raises(InputTypeError):
            letters().encode_ids(text)

    def test_an_error_leaves_the_tokenizer_as_it_was(self) -> None:
        tokenizer = letters("ab", unk_token="<u>")
        for _ in range(3):
            with pytest.raises(KeyError, match="<u>"):
                tokenizer.encode_ids("ax")
        assert tokenizer.encode_ids("ab") == [0, 1]

    def test_large_ids_are_made_anew(self) -> None:
        tokenizer = letters("a", unk_token=None)
        tokenizer.post_processor = processors.TemplateProcessing(
            single="$A [S] [T]", special_tokens=[("[S]", 2**18), ("[T]", 2**32 - 1)]
        )
        assert tokenizer.encode_ids("a") == [0, 2**18, 2**32 - 1]
        assert tokenizer.encode_batch_ids(["a", ""]) == [[0, 2**18, 2**32 - 1], [2**18, 2**32 - 1]]


def test_making_lists_leaves_the_garbage_collector_as_it_was() -> None:
    assert gc.isenabled()
    tokenizer = letters()
    tokenizer.encode_batch_ids(TEXTS)
    assert gc.isenabled()
    gc.disable()
    try:
        tokenizer.encode_batch_ids(TEXTS)
        assert tokenizer.encode("ab").offsets == [(0, 1), (1, 2)]
        assert not gc.isenabled()
    finally:
        gc.enable()
    rows = tokenizer.encode_batch_ids(TEXTS)
    assert gc.is_tracked(rows)
    assert all(map(gc.is_tracked, rows))


def test_offsets_from_2_to_the_18_on_are_right() -> None:
    encoding = letters().encode("ab " * 100_000)
    assert encoding.offsets[-1] == (299_998, 299_999)
    assert encoding.offsets == [(3 * word + at, 3 * word + at + 1) for word in range(100_000) for at in (0, 1)]
    assert encoding.word_ids[-1] == 99_999


class TestWidth:
    @pytest.mark.parametrize(("largest", "dtype"), [(65_535, np.uint16), (65_536, np.uint32)])
    def test_two_bytes_as_long_as_every_id_fits(self, largest: int, dtype: type) -> None:
        tokenizer = letters()
        tokenizer.post_processor = processors.TemplateProcessing(single="$A [S]", special_tokens=[("[S]", largest)])
        rows = tokenizer.encode_batch_arrays(["a"])
        assert rows.ids.dtype == dtype
        assert rows.ids.tolist() == [0, largest]

    def test_padding_counts_among_the_ids(self) -> None:
        tokenizer = letters()
        tokenizer.enable_padding(pad_id=70_000, length=2)
        assert tokenizer.encode_batch_arrays(["a"]).ids.tolist() == [0, 70_000]

    def test_splits_are_64_bit(self) -> None:
        assert arrays().row_splits.dtype == np.int64


class TestAccess:
    def test_rows_are_views(self) -> None:
        rows = arrays()
        assert np.shares_memory(rows[3], rows.ids)
        assert rows.ids is rows.ids
        rows.ids[3] = 9
        assert rows[3].tolist() == [9, 4, 5]

    def test_rows_outlive_the_arrays(self) -> None:
        row = arrays()[3]
        assert row.tolist() == [3, 4, 5]

    def test_slices_are_lists_of_views(self) -> None:
        rows = arrays()
        assert [row.tolist() for row in rows[::-2]] == [[3, 4, 5], []]
        assert all(np.shares_memory(row, rows.ids) for row in rows[2:])

    def test_negative_places_count_from_the_end(self) -> None:
        assert arrays()[-1].tolist() == [3, 4, 5]

    @pytest.mark.parametrize("at", [4, -5])
    def test_places_outside_are_named(self, at: int) -> None:
        with pytest.raises(IndexError, match=f"row is {at} but there are 4"):
            arrays()[at]

    def test_places_must_be_integers(self) -> None:
        with pytest.raises(TypeError):
            arrays()["a"]


class TestMaking:
    @pytest.mark.parametrize("dtype", [np.uint16, np.uint32])
    def test_from_ids_and_splits(self, dtype: type) -> None:
        rows = TokenArrays(np.array([4, 5, 6], dtype=dtype), np.array([0, 1, 3]))
        assert [row.tolist() for row in rows] == [[4], [5, 6]]

    @pytest.mark.parametrize("splits", [[], [0], [1, 3], [0, 2], [0, 4], [0, 2, 1, 3]])
    def test_splits_must_ascend_from_0_to_the_number_of_ids(self, splits: list[int]) -> None:
        with pytest.raises(OptionError, match="row_splits must ascend from 0 to the 3 ids"):
            TokenArrays(np.array([4, 5, 6], dtype=np.uint32), np.array(splits, dtype=np.int64))

    def test_ids_must_be_unsigned(self) -> None:
        with pytest.raises(TypeError, match="uint16 or uint32"):
            TokenArrays(np.array([4, 5, 6]), np.array([0, 3]))

    def test_survive_pickling(self) -> None:
        rows = arrays()
        twin = pickle.loads(pickle.dumps(rows))
        assert (twin.ids.dtype, twin.ids.tolist()) == (rows.ids.dtype, rows.ids.tolist())
        assert twin.row_splits.tolist() == rows.row_splits.tolist()


class TestArrow:
    @pytest.mark.parametrize(("largest", "name"), [(9, "uint16"), (70_000, "uint32")])
    def test_a_large_list_over_the_same_memory(self, largest: int, name: str) -> None:
        pa = pytest.importorskip("pyarrow")
        tokenizer = letters()
        tokenizer.post_processor = processors.TemplateProcessing(single="$A [S]", special_tokens=[("[S]", largest)])
        rows = tokenizer.encode_batch_arrays(["ab", "", "c"])
        array = pa.array(rows)
        array.validate(full=True)
        assert str(array.type) == f"large_list<item: {name} not null>"
        assert array.to_pylist() == [[0, 1, largest], [largest], [2, largest]]
        assert array.values.buffers()[1].address == rows.ids.ctypes.data

    def test_memory_lives_as_long_as_arrow_needs_it(self) -> None:
        pa = pytest.importorskip("pyarrow")
        array = pa.array(letters().encode_batch_arrays(["abc"] * 10_000))
        assert array.flatten().slice(29_997).to_pylist() == [0, 1, 2]

    def test_no_rows(self) -> None:
        pa = pytest.importorskip("pyarrow")
        assert pa.array(letters().encode_batch_arrays([])).to_pylist() == []
