"""What a call takes as texts: lists, iterables, numpy arrays, Arrow columns; and what it says about other things."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from arrow_producer import ArrayColumn, StreamColumn, distant_view, inline_view, offsets
from lexmill import Tokenizer, trainers
from lexmill.errors import FormatError, InputTypeError, InvalidUtf8Error
from small import byte_level, letters

TEXTS = ["ab", "", "cdefghijabcdefghij", "a b"]
IDS = [[0, 1], [], [*range(2, 10), *range(10)], [0, 1]]
LONG = b"abcdefghijabcdefghij"

CALLS: dict[str, Callable[[Tokenizer, Any], list[list[int]]]] = {
    "encode_batch_ids": lambda tokenizer, texts: tokenizer.encode_batch_ids(texts),
    "encode_batch_arrays": lambda tokenizer, texts: [row.tolist() for row in tokenizer.encode_batch_arrays(texts)],
    "count_tokens": lambda tokenizer, texts: [list(range(count)) for count in tokenizer.count_tokens(texts)],
}


def as_bytes() -> list[bytes]:
    return [text.encode() for text in TEXTS]


def utf8() -> ArrayColumn:
    return ArrayColumn("u", 4, [None, offsets(0, 2, 2, 20, 23), b"abcdefghijabcdefghija b"])


KINDS: dict[str, Callable[[], Any]] = {
    "list": lambda: TEXTS,
    "tuple": lambda: tuple(TEXTS),
    "generator": lambda: (text for text in TEXTS),
    "list of bytes": as_bytes,
    "mixed": lambda: ["ab", b"", "cdefghijabcdefghij", b"a b"],
    "array of str": lambda: np.array(TEXTS),
    "array of bytes": lambda: np.array(as_bytes()),
    "array of objects": lambda: np.array(TEXTS, dtype=object),
    "every second of an array": lambda: np.array([part for text in TEXTS for part in (text, "x")])[::2],
    "Arrow array": utf8,
}


class TestKinds:
    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("call", CALLS)
    def test_every_kind_gives_the_same(self, kind: str, call: str) -> None:
        tokenizer = letters()
        assert CALLS[call](tokenizer, KINDS[kind]()) == CALLS[call](tokenizer, TEXTS)

    @pytest.mark.parametrize("kind", KINDS)
    def test_nothing_is_left_out(self, kind: str) -> None:
        assert letters(unk_token=None).encode_batch_ids(KINDS[kind]()) == IDS

    @pytest.mark.skipif(not hasattr(np, "dtypes") or not hasattr(np.dtypes, "StringDType"), reason="needs numpy 2")
    def test_numpy_string_dtype(self) -> None:
        array = np.array(TEXTS, dtype=np.dtypes.StringDType())
        assert letters().encode_batch_ids(array) == IDS

    def test_text_beyond_ascii(self) -> None:
        texts = ["é", "日本", "🐈a"]
        expected = [[byte_level().encode(text).ids] for text in texts]
        assert [byte_level().encode_batch_ids(np.array([text])) for text in texts] == expected
        joined = "".join(texts).encode()
        column = ArrayColumn("u", 3, [None, offsets(0, 2, 8, 13), joined])
        assert [[row] for row in byte_level().encode_batch_ids(column)] == expected

    @pytest.mark.parametrize("texts", ["ab", b"ab", bytearray(b"ab"), None, 5, object()])
    @pytest.mark.parametrize("call", CALLS)
    def test_what_is_no_collection_is_named(self, texts: Any, call: str) -> None:
        name = "None" if texts is None else f"of type {type(texts).__name__}"
        with pytest.raises(InputTypeError, match=f"^texts are {name} but must be a list, an array or a column"):
            CALLS[call](letters(), texts)

    @pytest.mark.parametrize("item", [None, 5, 1.5, ["a"], bytearray(b"a")])
    @pytest.mark.parametrize("collect", [list, tuple, iter])
    def test_the_row_that_is_no_text_is_named(self, item: Any, collect: Callable[[Any], Any]) -> None:
        with pytest.raises(InputTypeError, match=r"^text 2 is .* but must be str or bytes$"):
            letters().encode_batch_ids(collect(["a", "b", item]))

    def test_lone_surrogates_are_named(self) -> None:
        with pytest.raises(
            InputTypeError, match=r"^text 1: character 0 is the lone surrogate U\+D800, .* pass errors=\"replace\""
        ):
            letters().encode_batch_ids(["a", "\ud800"])

    @pytest.mark.parametrize("array", [np.array([1.0]), np.array([["a"]]), np.array("a"), np.array([True])])
    def test_arrays_of_other_things_are_refused(self, array: Any) -> None:
        with pytest.raises(InputTypeError, match="must be a one-dimensional array of str, bytes or object"):
            letters().encode_batch_ids(array)

    def test_what_an_iterator_raises_comes_through(self) -> None:
        with pytest.raises(ZeroDivisionError):
            letters().encode_batch_ids(1 // 0 for _ in range(1))


class TestUtf8:
    COLUMNS: tuple[Callable[[], Any], ...] = (
        lambda: [b"a", b"b\xffc"],
        lambda: np.array([b"a", b"b\xffc"]),
        lambda: ArrayColumn("z", 2, [None, offsets(0, 1, 4), b"ab\xffc"]),
        lambda: ArrayColumn("u", 2, [None, offsets(0, 1, 4), b"ab\xffc"]),
    )

    @pytest.mark.parametrize("make", COLUMNS)
    def test_row_and_byte_are_named(self, make: Callable[[], Any]) -> None:
        with pytest.raises(InvalidUtf8Error, match=r"^text 1 is not valid UTF-8 at byte 1; pass errors"):
            letters().encode_batch_ids(make())

    @pytest.mark.parametrize("make", COLUMNS)
    def test_such_bytes_can_be_replaced(self, make: Callable[[], Any]) -> None:
        tokenizer = letters("abc\ufffd")
        assert tokenizer.encode_batch_ids(make(), errors="replace") == [[0], [1, 3, 2]]
        assert tokenizer.encode_batch_arrays(make(), errors="replace").ids.tolist() == [0, 1, 3, 2]
        assert tokenizer.count_tokens(make(), errors="replace").tolist() == [1, 3]

    def test_a_character_cut_by_an_offset_is_not_utf8(self) -> None:
        column = ArrayColumn("u", 2, [None, offsets(0, 1, 2), "é".encode()])
        with pytest.raises(InvalidUtf8Error, match="text 0 is not valid UTF-8 at byte 0"):
            letters().encode_batch_ids(column)

    def test_errors_must_be_a_known_word(self) -> None:
        with pytest.raises(ValueError, match="errors is ignore but must be strict or replace"):
            letters().encode_batch_ids(["a"], errors="ignore")


class TestArrow:
    @pytest.mark.parametrize("format", ["u", "z"])
    def test_32_bit_offsets(self, format: str) -> None:
        column = ArrayColumn(format, 3, [None, offsets(0, 1, 1, 3), b"abc"])
        assert letters().encode_batch_ids(column) == [[0], [], [1, 2]]

    @pytest.mark.parametrize("format", ["U", "Z"])
    def test_64_bit_offsets(self, format: str) -> None:
        column = ArrayColumn(format, 3, [None, offsets(0, 1, 1, 3, size=8), b"abc"])
        assert letters().encode_batch_ids(column) == [[0], [], [1, 2]]

    @pytest.mark.parametrize("format", ["vu", "vz"])
    def test_views(self, format: str) -> None:
        views = inline_view(b"ab") + distant_view(13, 1, 2, LONG[2:6]) + inline_view(b"abcdefghijab") + inline_view(b"")
        column = ArrayColumn(format, 4, [None, views, b"x", LONG, offsets(1, 20, size=8)])
        assert letters().encode_batch_ids(column) == [[0, 1], [*range(2, 10), *range(5)], [*range(10), 0, 1], []]

    def test_views_without_data_buffers(self) -> None:
        assert letters().encode_batch_ids(ArrayColumn("vu", 1, [None, inline_view(b"ab"), b""])) == [[0, 1]]

    def test_a_slice_begins_at_its_offset(self) -> None:
        column = ArrayColumn("u", 2, [b"\xfe", offsets(9, 0, 1, 3), b"abc"], offset=1)
        assert letters().encode_batch_ids(column) == [[0], [1, 2]]
        views = ArrayColumn("vu", 1, [None, b"?" * 16 + inline_view(b"a"), b""], offset=1)
        assert letters().encode_batch_ids(views) == [[0]]

    def test_no_rows_need_no_buffers(self) -> None:
        assert letters().encode_batch_ids(ArrayColumn("u", 0, [None, None, None])) == []
        assert letters().encode_batch_ids(ArrayColumn("vu", 0, [None, None, None])) == []

    def test_empty_rows_need_no_data(self) -> None:
        assert letters().encode_batch_ids(ArrayColumn("u", 2, [None, offsets(0, 0, 0), None])) == [[], []]

    def test_chunks_follow_one_another(self) -> None:
        chunks = [
            (2, [None, offsets(0, 1, 2), b"ab"]),
            (0, [None, offsets(0), None]),
            (1, [None, offsets(1, 2), b"xc"]),
        ]
        column = StreamColumn("u", chunks)
        assert letters().encode_batch_ids(column) == [[0], [1], [2]]
        assert sorted(column.released) == ["array", "array", "array", "schema", "stream"]

    def test_a_stream_may_be_empty(self) -> None:
        assert letters().encode_batch_ids(StreamColumn("U", [])) == []

    def test_what_a_stream_says_of_its_failure_comes_through(self) -> None:
        column = StreamColumn("u", [(1, [None, offsets(0, 1), b"a"])], error=b"the disk is gone")
        with pytest.raises(FormatError, match="the disk is gone"):
            letters().encode_batch_ids(column)
        assert sorted(column.released) == ["array", "schema", "stream"]

    def test_everything_is_released_once_and_a_column_is_read_once(self) -> None:
        column = utf8()
        letters().encode_batch_ids(column)
        assert sorted(column.released) == ["array", "schema"]
        with pytest.raises(FormatError, match="arrow_array was released already"):
            letters().encode_batch_ids(column)

    @pytest.mark.parametrize(("validity", "row"), [(b"\x0d", 1), (b"\x07", 3), (b"\x0e", 0)])
    @pytest.mark.parametrize("null_count", [-1, 1])
    def test_nulls_are_named(self, validity: bytes, row: int, null_count: int) -> None:
        column = ArrayColumn("u", 4, [validity, offsets(0, 0, 0, 0, 0), b""], null_count=null_count)
        with pytest.raises(InputTypeError, match=f"^text {row} is null but must be a text"):
            letters().encode_batch_ids(column)

    def test_nulls_outside_a_slice_do_no_harm(self) -> None:
        column = ArrayColumn("u", 1, [b"\x02", offsets(0, 0, 1, 1), b"a"], offset=1, null_count=-1)
        assert letters().encode_batch_ids(column) == [[0]]

    def test_rows_are_counted_over_chunks(self) -> None:
        column = StreamColumn("u", [(1, [None, offsets(0, 1), b"a"]), (1, [b"\x00", offsets(0, 0), b""])])
        with pytest.raises(InputTypeError, match="text 1 is null"):
            letters().encode_batch_ids(column)

    @pytest.mark.parametrize(("format", "what"), [("l", "Int64"), ("+s", "structs, such as a table"), ("n", "Null")])
    def test_columns_of_other_things_are_refused(self, format: str, what: str) -> None:
        with pytest.raises(InputTypeError, match=f"texts are an Arrow column of {what}"):
            letters().encode_batch_ids(ArrayColumn(format, 1, [None, b"12345678"]))
        with pytest.raises(InputTypeError, match="dictionary indices"):
            letters().encode_batch_ids(ArrayColumn("i", 0, [None, None], dictionary=b"u"))

    def test_encode_batch_takes_columns(self) -> None:
        assert [encoding.ids for encoding in letters().encode_batch(utf8())] == IDS
        assert [encoding.offsets for encoding in letters().encode_batch(utf8())][3] == [(0, 1), (2, 3)]

    @pytest.mark.parametrize("wrap", [lambda column: column, lambda column: [column], lambda column: [[], column, ""]])
    def test_training_takes_columns(self, wrap: Callable[[Any], Any]) -> None:
        tokenizer, twin = letters(), letters()
        trainer = trainers.BpeTrainer(show_progress=False)
        tokenizer.train_from_iterator(wrap(utf8()), trainer)
        twin.train_from_iterator(TEXTS, trainer)
        assert tokenizer.to_str() == twin.to_str()

    @pytest.mark.parametrize("make", [lambda: ["ab " * 70_000], lambda: [b"ab " * 70_000]])
    def test_texts_live_while_another_thread_drops_them(self, make: Callable[[], list[Any]]) -> None:
        texts, tokenizer, counts = make(), letters(), list[int]()
        thread = threading.Thread(target=lambda: counts.extend(tokenizer.count_tokens(texts)))
        thread.start()
        texts.clear()
        gc.collect()
        thread.join()
        assert counts in ([], [140_000])


class TestBadProducers:
    @pytest.mark.parametrize(
        ("column", "message"),
        [
            (lambda: ArrayColumn("u", 1, [None, offsets(0, 1), b"a"], length=-1), "more than memory can hold"),
            (lambda: ArrayColumn("u", 1, [None, offsets(0, 1), b"a"], offset=-1), "more than memory can hold"),
            (lambda: ArrayColumn("u", 1, [None, offsets(0, 1), b"a"], length=2**62), "more than memory can hold"),
            (lambda: ArrayColumn("vu", 1, [None, inline_view(b""), b""], length=2**60), "more than memory can hold"),
            (lambda: ArrayColumn("u", 1, [None, offsets(0, 1)]), "there are 2 buffers"),
            (lambda: ArrayColumn("vu", 1, [None, b"?" * 16]), "there are 2 buffers"),
            (lambda: ArrayColumn("u", 1, [None, offsets(0, 1), b"a"], n_buffers=-3), "but must be 3 buffers"),
            (lambda: ArrayColumn("u", 1, [None, offsets(0, 1), b"a"], buffers=None), "damaged"),
            (lambda: ArrayColumn("u", 1, [None, offsets(0, 1), b"a"], n_children=1), "children"),
            (lambda: ArrayColumn("u", 1, [None, None, b"a"]), "the buffer of offsets or views is null"),
            (lambda: ArrayColumn("u", 1, [None, offsets(0, 1), None]), "buffer at position 2 is null"),
            (lambda: ArrayColumn("u", 2, [None, offsets(0, 2, 1), b"ab"]), "offset at position 1 out of bounds: 2 > 1"),
            (lambda: ArrayColumn("u", 1, [None, offsets(-1, 1), b"ab"]), r"offset.0. .-1. to usize"),
            (lambda: ArrayColumn("vu", 1, [None, None, b""]), "the buffer of offsets or views is null"),
            (lambda: ArrayColumn("vu", 1, [None, distant_view(-1, 0, 0), b""]), "only has 0 buffers"),
            (lambda: ArrayColumn("vu", 1, [None, distant_view(13, 0, 0), b""]), "only has 0 buffers"),
            (
                lambda: ArrayColumn("vu", 1, [None, distant_view(13, 0, 8), LONG, offsets(20, size=8)]),
                "8..21 but buffer 0 has length 20",
            ),
            (
                lambda: ArrayColumn("vu", 1, [None, distant_view(13, -1, 0), LONG, offsets(20, size=8)]),
                "index 4294967295 but only has 1 buffers",
            ),
            (
                lambda: ArrayColumn("vu", 1, [None, distant_view(13, 0, -1), LONG, offsets(20, size=8)]),
                "buffer 0 has length 20",
            ),
            (lambda: ArrayColumn("vu", 1, [None, inline_view(b""), LONG, None]), "the buffer of buffer sizes is null"),
            (lambda: ArrayColumn("u", 0, [None] * 3, format=None), "damaged"),
            (lambda: ArrayColumn("u", 0, [None] * 3, names=(b"arrow_array", b"arrow_schema")), "arrow_schema"),
            (lambda: ArrayColumn("u", 0, [None] * 3, release=None), "arrow_array was released already"),
        ],
    )
    def test_lies_are_found_out(self, column: Callable[[], ArrayColumn], message: str) -> None:
        made = column()
        with pytest.raises(FormatError, match=f"^arrow column: .*{message}"):
            letters().encode_batch_ids(made)
        assert len(made.released) == len(set(made.released))

    @pytest.mark.parametrize("capsules", [None, (), (1,), (1, 2), (1, 2, 3), "ab"])
    def test_capsules_must_be_capsules(self, capsules: Any) -> None:
        class Bad:
            def __arrow_c_array__(self) -> Any:
                return capsules

        with pytest.raises(FormatError, match="capsule"):
            letters().encode_batch_ids(Bad())

    def test_what_the_method_raises_comes_through(self) -> None:
        class Bad:
            def __arrow_c_stream__(self) -> Any:
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            letters().encode_batch_ids(Bad())

    def test_a_producer_that_lacks_its_library_is_iterated_over(self) -> None:
        class Series:
            def __arrow_c_stream__(self) -> Any:
                raise ImportError

            def __iter__(self) -> Any:
                return iter(TEXTS)

        assert letters().encode_batch_ids(Series()) == IDS


@pytest.mark.external
class TestLibraries:
    @pytest.mark.parametrize("kind", ["string", "large_string", "string_view", "binary", "large_binary", "binary_view"])
    def test_pyarrow(self, kind: str) -> None:
        pa = pytest.importorskip("pyarrow")
        texts = TEXTS if "string" in kind else as_bytes()
        column = pa.array(
            ["x" * 20, *texts, "y"] if "string" in kind else [b"x" * 20, *texts, b"y"], getattr(pa, kind)()
        )
        assert letters().encode_batch_ids(column.slice(1, 4)) == IDS
        assert letters().encode_batch_ids(pa.chunked_array([column.slice(1, 2), column.slice(3, 2)])) == IDS
        with pytest.raises(InputTypeError, match="text 1 is null"):
            letters().encode_batch_ids(pa.array([texts[0], None], getattr(pa, kind)()))
        with pytest.raises(InputTypeError, match="such as a table"):
            letters().encode_batch_ids(pa.table({"text": column}))

    def test_polars(self) -> None:
        pl = pytest.importorskip("polars")
        assert letters().encode_batch_ids(pl.Series(TEXTS)) == IDS
        assert letters().encode_batch_ids(pl.Series(["x", *TEXTS]).slice(1)) == IDS
        assert letters().encode_batch_ids(pl.concat([pl.Series(TEXTS[:1]), pl.Series(TEXTS[1:])], rechunk=False)) == IDS
        assert letters().encode_batch_ids(pl.Series(as_bytes())) == IDS

    def test_pandas(self) -> None:
        pd = pytest.importorskip("pandas")
        assert letters().encode_batch_ids(pd.Series(TEXTS)) == IDS
        assert letters().encode_batch_ids(pd.Series(TEXTS, dtype=object)) == IDS
        with pytest.raises(InputTypeError, match="text 1 is"):
            letters().encode_batch_ids(pd.Series(["a", None]))


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError, RuntimeError])
def test_what_an_iterable_raises_at_once_comes_through(error: type[BaseException]) -> None:
    class Raising:
        def __iter__(self) -> Iterator[str]:
            raise error

    with pytest.raises(error):
        byte_level().count_tokens(Raising())


class TestWidths:
    """Strings of one, two and four bytes a character, which threads write as UTF-8, long ones beforehand."""

    @pytest.mark.parametrize(
        "text", ["é", "ÿ1 ", "日本", "a日", "🐈a", "a🐈é日", "\x80", "\u07ff\u0800\uffff\U00010000"]
    )
    @pytest.mark.parametrize("times", [1, 9_000, 150_000])
    def test_all_widths_give_what_one_text_gives(self, text: str, times: int) -> None:
        tokenizer = byte_level()
        repeats = 20 if times < 100_000 else 2
        texts = [text * times, "", text, "ascii", text * 3] * repeats
        expected = [tokenizer.encode(one).ids for one in texts[:5]] * repeats
        assert tokenizer.encode_batch_ids(texts, num_threads=3) == expected
        assert tokenizer.count_tokens(iter(texts)).tolist() == [len(ids) for ids in expected]
        arrays = tokenizer.encode_batch_arrays(texts, num_threads=2)
        assert arrays.ids.tolist() == [id for ids in expected for id in ids]
        with_offsets = tokenizer.encode_batch_arrays(texts[:5], return_offsets=True)
        assert with_offsets.ids.tolist() == [id for ids in expected[:5] for id in ids]

    def test_empty_strings_of_a_subclass_share_a_thread(self) -> None:
        assert byte_level().encode_batch_ids([np.str_("")] * 20_000, num_threads=64) == [[]] * 20_000
        assert byte_level().encode_batch_ids([np.str_("ab")]) == [byte_level().encode("ab").ids]

    @pytest.mark.parametrize("bad", ["\ud800", "é\udfff", "\ud83d\ude00", "🐈\ud800"])
    @pytest.mark.parametrize("row", [0, 7, 39])
    def test_the_row_with_surrogates_is_named(self, bad: str, row: int) -> None:
        texts = ["日本" * 20_000] * 40
        texts[row] += bad
        with pytest.raises(InputTypeError, match=f"^text {row}: character [0-9]+ is the lone surrogate U.D"):
            byte_level().encode_batch_arrays(texts)

    @pytest.mark.parametrize("row", [0, 900])
    @pytest.mark.parametrize("long_first", [False, True])
    def test_the_first_of_several_rows_with_surrogates_is_named(self, row: int, long_first: bool) -> None:
        bad = ["\ud800", "日" * 100_000 + "\ud800"]
        texts = ["日本" * 500] * row + (bad[::-1] if long_first else bad) * 3
        for encode in (byte_level().encode_batch_arrays, byte_level().encode_batch_ids, byte_level().count_tokens):
            with pytest.raises(InputTypeError, match=f"^text {row}: character [0-9]+ is the lone surrogate U.D"):
                encode(texts, num_threads=3)

    def test_any_number_of_threads_gives_the_same_over_several_windows(self) -> None:
        texts = [f"слово{number} " * 50 for number in range(36_000)]
        tokenizer = byte_level()
        alone = tokenizer.encode_batch_arrays(texts, num_threads=1)
        assert len(alone.ids) == sum(len(text.encode()) for text in texts) > 24 << 20
        for threads in (2, 3):
            shared = tokenizer.encode_batch_arrays(texts, num_threads=threads)
            assert np.array_equal(shared.ids, alone.ids)
            assert np.array_equal(shared.row_splits, alone.row_splits)
