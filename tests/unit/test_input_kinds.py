"""Every call takes every kind of sequence that Python knows: lists, arrays, columns, classes of a caller's own."""

from __future__ import annotations

import array
import asyncio
import collections
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from lexmill import Tokenizer, decoders, models, trainers
from lexmill.errors import InputTypeError, LexmillError
from small import letters


class Items:
    """A sequence by `__getitem__` alone, as `torch.utils.data.Dataset` is one."""

    def __init__(self, items: list[Any]) -> None:
        self.items = items

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, at: int) -> Any:
        return self.items[at]


class Registered(Items, collections.abc.Sequence[Any]):
    """A sequence by its base class."""


class Index:
    """An integer of another library, such as the scalars of torch."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __index__(self) -> int:
        return self.value


def objects(items: list[Any]) -> Any:
    made = np.empty(len(items), object)
    made[:] = items
    return made


def labelled(items: list[Any]) -> Any:
    """A column whose labels are not the places of its items."""
    return pytest.importorskip("pandas").Series(items, index=range(7, 7 + len(items)))


Kind = Callable[[list[Any]], Any]

# By name: what makes a sequence of texts, or of integers, of a list.
KINDS: dict[str, Kind] = {
    "list": list,
    "tuple": tuple,
    "deque": collections.deque,
    "UserList": collections.UserList,
    "class with __getitem__": Items,
    "class of Sequence": Registered,
    "numpy": np.array,
    "numpy of objects": objects,
    "every second of numpy": lambda items: np.array([part for item in items for part in (item, item)])[::2],
    "masked array": lambda items: np.ma.array(np.array(items)),
    "pandas Series": labelled,
    "pandas Series of objects": lambda items: labelled(items).astype(object),
    "pandas array": lambda items: labelled(items).array,
    "pandas values": lambda items: labelled(items).values,
    "pandas Index": lambda items: pytest.importorskip("pandas").Index(items),
    "pandas categories": lambda items: labelled(items).astype("category"),
    "polars": lambda items: pytest.importorskip("polars").Series(items),
    "pyarrow": lambda items: pytest.importorskip("pyarrow").array(items),
    "pyarrow in chunks": lambda items: pytest.importorskip("pyarrow").chunked_array([items[:1], items[1:]]),
}
# The items of pyarrow's arrays are no `str`: they are texts as columns alone.
OF_STR = {name: kind for name, kind in KINDS.items() if not name.startswith("pyarrow")}
OF_INTEGERS: dict[str, Kind] = {
    **KINDS,
    "range": lambda items: range(items[0], items[-1] + 1),
    "bytes": bytes,
    "bytearray": bytearray,
    "array": lambda items: array.array("I", items),
    "memoryview": lambda items: memoryview(array.array("I", items)),
    "integers of numpy": lambda items: [np.int64(items[0]), *map(np.uint8, items[1:])],
    "other integers": lambda items: list(map(Index, items)),
    "big endian": lambda items: np.array(items, ">u4"),
    "pandas integers with gaps": lambda items: labelled(items).astype("Int64"),
    "scalars of pyarrow": lambda items: [pytest.importorskip("pyarrow").scalar(item) for item in items],
    **{
        f"numpy {kind}": lambda items, kind=kind: np.array(items, kind) for kind in ("u1", "u2", "u4", "u8", "i1", "i4")
    },
}

TEXTS = ["ab", "c a", "a"]
IDS = [0, 1, 2]


def ids(encodings: Any) -> list[Any]:
    return [(encoding.ids, encoding.type_ids) for encoding in encodings]


def trained(texts: Any) -> dict[str, int]:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.train_from_iterator(texts, trainers.BpeTrainer(show_progress=False))
    return tokenizer.get_vocab()


async def awaited(call: Callable[[], Any]) -> Any:
    return await call()


Call = Callable[[Tokenizer, Any], Any]
PAIRS = "encode_batch_arrays of pairs"

OF_TEXTS: dict[str, Call] = {
    "encode_batch": lambda made, texts: ids(made.encode_batch(texts)),
    "encode_batch_fast": lambda made, texts: ids(made.encode_batch_fast(texts)),
    "async_encode_batch": lambda made, texts: ids(asyncio.run(awaited(lambda: made.async_encode_batch(texts)))),
    "encode_batch_ids": lambda made, texts: made.encode_batch_ids(texts),
    "encode_batch_arrays": lambda made, texts: [row.tolist() for row in made.encode_batch_arrays(texts)],
    PAIRS: lambda made, texts: [row.tolist() for row in made.encode_batch_arrays(TEXTS, pairs=texts)],
    "count_tokens": lambda made, texts: made.count_tokens(texts).tolist(),
    "train_from_iterator": lambda _, texts: trained(texts),
}
OF_WORDS: dict[str, Call] = {
    "encode": lambda made, words: made.encode(words, is_pretokenized=True).ids,
    "encode, second": lambda made, words: made.encode(["a"], words, is_pretokenized=True).ids,
    "encode_batch": lambda made, words: ids(made.encode_batch([words, ["a"]], is_pretokenized=True)),
    "encode_batch of pairs": lambda made, words: ids(made.encode_batch([(words, words)], is_pretokenized=True)),
    "Decoder.decode": lambda _, words: decoders.Fuse().decode(words),
}
OF_IDS: dict[str, Call] = {
    "decode": lambda made, given: made.decode(given),
    "decode_batch": lambda made, given: made.decode_batch([given, [0]]),
    "DecodeStream": lambda made, given: decoders.DecodeStream(given).step(made, 1),
    "DecodeStream.step": lambda made, given: decoders.DecodeStream().step(made, given),
}
INTEGERS: dict[str, Callable[[], Any]] = {
    "int": lambda: 1,
    "numpy": lambda: np.int64(1),
    "numpy, 8 bits": lambda: np.uint8(1),
    "numpy without dimensions": lambda: np.array(1),
    "of a class": lambda: Index(1),
    "pyarrow": lambda: pytest.importorskip("pyarrow").scalar(1),
}
OF_ONE_ID: dict[str, Call] = {
    "id_to_token": lambda made, given: made.id_to_token(given),
    "DecodeStream.step": lambda made, given: decoders.DecodeStream().step(made, given),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("call", OF_TEXTS)
def test_texts(call: str, kind: str) -> None:
    expected = OF_TEXTS[call](letters(), TEXTS)
    assert OF_TEXTS[call](letters(), KINDS[kind](TEXTS)) == expected


@pytest.mark.parametrize("kind", OF_STR)
@pytest.mark.parametrize("call", OF_WORDS)
def test_words(call: str, kind: str) -> None:
    assert OF_WORDS[call](letters(), OF_STR[kind](TEXTS)) == OF_WORDS[call](letters(), TEXTS)


@pytest.mark.parametrize("kind", OF_INTEGERS)
@pytest.mark.parametrize("call", OF_IDS)
def test_ids(call: str, kind: str) -> None:
    assert OF_IDS[call](letters(), OF_INTEGERS[kind](IDS)) == OF_IDS[call](letters(), IDS)


@pytest.mark.parametrize("kind", INTEGERS)
@pytest.mark.parametrize("call", OF_ONE_ID)
def test_one_id(call: str, kind: str) -> None:
    assert OF_ONE_ID[call](letters(), INTEGERS[kind]()) == "b"


@pytest.mark.parametrize("kind", OF_STR)
def test_pairs(kind: str) -> None:
    made = letters()
    expected = ids(made.encode_batch([("ab", "c"), ("a", "b")]))
    assert ids(made.encode_batch([OF_STR[kind](["ab", "c"]), OF_STR[kind](["a", "b"])])) == expected


@pytest.mark.parametrize("kind", ["list", "tuple", "numpy of objects", "pandas Series", "polars"])
def test_columns_of_pairs_and_of_lists(kind: str) -> None:
    made = letters()
    pairs, rows = [["ab", "c"], ["a", "b"]], [[0, 1], [2]]
    assert ids(made.encode_batch(KINDS[kind](pairs))) == ids(made.encode_batch(pairs))
    assert made.decode_batch(KINDS[kind](rows)) == made.decode_batch(rows)


@pytest.mark.parametrize("dtype", [str, object])
def test_rows_of_an_array(dtype: type) -> None:
    made = letters()
    rows = [["ab", "c"], ["a", "b"]]
    assert ids(made.encode_batch(np.array(rows, dtype))) == ids(made.encode_batch([("ab", "c"), ("a", "b")]))
    words = made.encode_batch(rows, is_pretokenized=True)
    assert ids(made.encode_batch(np.array(rows, dtype), is_pretokenized=True)) == ids(words)
    pairs = made.encode_batch([(["ab", "c"], ["a", "b"])], is_pretokenized=True)
    assert ids(made.encode_batch(np.array([rows], dtype), is_pretokenized=True)) == ids(pairs)
    assert made.decode_batch(np.array([[0, 1], [1, 2]])) == made.decode_batch([[0, 1], [1, 2]])


def numbered() -> Iterator[int]:
    yield from IDS


NO_BATCH: dict[str, Callable[[], Any]] = {
    "dict": lambda: {"ab": 1},
    "UserDict": lambda: collections.UserDict({"ab": 1}),
    "mapping": lambda: types.MappingProxyType({"ab": 1}),
    "set": lambda: {"ab"},
    "frozenset": lambda: frozenset({"ab"}),
    "str": lambda: "ab",
    "None": lambda: None,
    "int": lambda: 5,
    "without dimensions": lambda: np.array("ab"),
    "table of pandas": lambda: pytest.importorskip("pandas").DataFrame({"ab": ["a"]}),
    "table of polars": lambda: pytest.importorskip("polars").DataFrame({"ab": ["a"]}),
    "table of pyarrow": lambda: pytest.importorskip("pyarrow").table({"ab": ["a"]}),
}
REFUSING: dict[str, Call] = {
    # Pairs may be None, and training takes any iterable.
    **{name: call for name, call in OF_TEXTS.items() if name not in ("train_from_iterator", PAIRS)},
    "decode": OF_IDS["decode"],
    "decode_batch": OF_IDS["decode_batch"],
    "decode_batch of all": lambda made, given: made.decode_batch(given),
    "encode of words": lambda made, given: made.encode(given, is_pretokenized=True),
    "encode_batch of words": lambda made, given: made.encode_batch(given, is_pretokenized=True),
    "encode_batch of an item": lambda made, given: made.encode_batch(["a", given], is_pretokenized=True),
}


@pytest.mark.parametrize("kind", NO_BATCH)
@pytest.mark.parametrize("call", REFUSING)
def test_what_is_no_sequence_is_refused(call: str, kind: str) -> None:
    with pytest.raises(InputTypeError):
        REFUSING[call](letters(), NO_BATCH[kind]())


@pytest.mark.parametrize("text", [b"ab", bytearray(b"ab"), memoryview(b"ab")])
@pytest.mark.parametrize("call", ["encode_batch", "encode_batch_fast"])
def test_bytes_are_no_batch(call: str, text: Any) -> None:
    with pytest.raises(InputTypeError, match="TextEncodeInput must be Union"):
        OF_TEXTS[call](letters(), text)


@pytest.mark.parametrize(
    "item", [None, 5, b"a", ["a"], ["a", "b", "a"], ["a", 1], [b"a", b"b"], {"a", "b"}, {"a": "b"}]
)
@pytest.mark.parametrize("kind", ["list", "numpy of objects", "class with __getitem__"])
def test_items_that_are_no_texts_are_refused(kind: str, item: Any) -> None:
    for is_pretokenized in (False, True):
        if is_pretokenized and item in (["a"], ["a", "b", "a"]):
            continue
        with pytest.raises(InputTypeError, match=r"must be (Union|str)"):
            letters().encode_batch(KINDS[kind](["a", item]), is_pretokenized=is_pretokenized)


@pytest.mark.parametrize("item", [None, "a", 0.5, [0], -1, 2**32, np.float64(1), np.array([1, 2])])
@pytest.mark.parametrize("call", OF_IDS)
def test_items_that_are_no_ids_are_refused(call: str, item: Any) -> None:
    with pytest.raises(LexmillError, match=r"id is|StreamInput must be"):
        OF_IDS[call](letters(), [0, item])


def test_what_a_sequence_raises_comes_through() -> None:
    class Broken(Items):
        def __getitem__(self, at: int) -> Any:
            raise ZeroDivisionError

    for call in (OF_TEXTS["encode_batch"], OF_IDS["decode"], OF_IDS["decode_batch"], OF_IDS["DecodeStream.step"]):
        with pytest.raises(ZeroDivisionError):
            call(letters(), Broken([1]))
    with pytest.raises(InputTypeError, match="'generator' object is not an instance of 'Sequence': make a list of it"):
        letters().decode(numbered())  # type: ignore[arg-type]
