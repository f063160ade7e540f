"""`lexmill.v1.Tokenizer` and `CompiledTokenizer`: options, inputs, errors, decoding, copies, threads."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from typing import Any

import numpy as np
import pytest

from lexmill.errors import IdRangeError, InputTypeError, OptionError, TruncationWarning
from lexmill.v1 import CompiledTokenizer, Encoding, Padding, Tokenizer, Truncation, _engine
from v1_small import plain, tokenizer

TEXT = "a b c d e f"


def ids(encodings: list[Encoding]) -> list[list[int]]:
    return [encoding.ids for encoding in encodings]


def test_an_option_that_is_left_out_is_the_tokenizers() -> None:
    own = tokenizer()
    own.padding, own.truncation = Padding(length=7, pad_id=2), Truncation(5)
    assert own.encode(TEXT).ids == [0, 4, 5, 6, 1, 2, 2]
    assert own.encode(TEXT, padding=None).ids == [0, 4, 5, 6, 1]
    assert own.encode(TEXT, truncation=None, padding=None).ids == [0, 4, 5, 6, 7, 8, 9, 1]
    assert own.encode(TEXT, truncation=Truncation(4, direction="left")).ids == [0, 8, 9, 1, 2, 2, 2]
    assert ids(own.encode_batch(["a", TEXT], padding=Padding("left"))) == [[0, 0, 0, 4, 1], [0, 4, 5, 6, 1]]
    assert own.encode(TEXT).ids == [0, 4, 5, 6, 1, 2, 2]
    assert own.tokenize("a") == ["[CLS]", "a", "[SEP]", *["[PAD]"] * 4]


def test_setters_take_values_or_none_alone() -> None:
    own = tokenizer()
    for name, wrong in product(["padding", "truncation"], [5, {"length": 3}, ...]):
        with pytest.raises(InputTypeError, match=f"{name} is {type(wrong).__name__} but must be"):
            setattr(own, name, wrong)
        if wrong is not ...:
            with pytest.raises(InputTypeError, match=f"{name} is"):
                own.encode("a", **{name: wrong})
    own.padding = None
    assert (own.padding, own.truncation) == (None, None)
    with pytest.raises(AttributeError):
        own.other = 5  # type: ignore[attr-defined]


def test_a_compiled_tokenizer_does_not_change() -> None:
    own = tokenizer()
    own.truncation = Truncation(4)
    compiled = own.compile()
    own.truncation = None
    assert isinstance(compiled, CompiledTokenizer)
    assert (own.encode(TEXT).ids, compiled.encode(TEXT).ids) == ([0, *range(4, 10), 1], [0, 4, 5, 1])
    for name in ("padding", "truncation"):
        with pytest.raises(AttributeError):
            setattr(compiled, name, None)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda made: pickle.loads(pickle.dumps(made))])
def test_copies_give_equal_results_and_are_independent(copied: Any) -> None:
    own = tokenizer()
    own.padding, own.truncation = Padding(length=9), Truncation(6)
    for made in (own, own.compile()):
        other = copied(made)
        assert type(other) is type(made)
        assert (other.padding, other.truncation) == (own.padding, own.truncation)
        assert other.encode_batch([TEXT, ("a <n>", "b")]) == made.encode_batch([TEXT, ("a <n>", "b")])
        assert repr(other) == repr(made)
    other = copied(own)
    other.padding = None
    assert own.padding == Padding(length=9)


@pytest.mark.parametrize("strategy", ["longest_first", "only_first", "only_second"])
@pytest.mark.parametrize("direction", ["left", "right"])
@pytest.mark.parametrize("special", [False, True])
@pytest.mark.filterwarnings("ignore::lexmill.errors.TruncationWarning")
def test_truncation_equals_the_other_interfaces(strategy: Any, direction: Any, special: bool) -> None:
    own = tokenizer()
    for max_length, item in product(range(12), [TEXT, "a", (TEXT, "g h i"), ("a b", TEXT)]):
        other = plain()
        other.enable_truncation(max_length, strategy=strategy, direction=direction)
        first, second = (item, None) if isinstance(item, str) else item
        truncation = Truncation(max_length, strategy, direction)
        try:
            expected = other.encode(first, second, add_special_tokens=special)
        except OptionError:
            for encode in (own.encode, lambda item, **options: own.encode_batch([item], **options)):
                with pytest.raises(OptionError, match="Truncation error"):
                    encode(item, truncation=truncation, add_special_tokens=special)
        else:
            options: Any = {"truncation": truncation, "add_special_tokens": special}
            for encoding in (own.encode(item, **options), *own.encode_batch([item], **options)):
                assert (encoding.ids, encoding.type_ids) == (expected.ids, expected.type_ids)
                assert (encoding.offsets, encoding.word_ids) == (expected.offsets, expected.word_ids)
            arrays = own.encode_batch_arrays([first], pairs=second and [second], **options)
            assert arrays.ids.tolist() == expected.ids


def test_a_text_stays_whole_if_special_tokens_alone_exceed_the_limit() -> None:
    own = tokenizer()
    for call in (own.encode, own.tokenize):
        with pytest.warns(TruncationWarning, match="max_length is 1 but the post-processor adds 2 special tokens"):
            assert len(call(TEXT, truncation=Truncation(1))) == 8
    with pytest.warns(TruncationWarning, match="max_length is 2 but the post-processor adds 3") as caught:
        assert ids(own.encode_batch(["a b", ("a", "b")], truncation=Truncation(2))) == [[0, 1], [0, 4, 1, 5, 1]]
    assert caught[0].filename == __file__


def test_limits_beyond_the_core_are_no_limits() -> None:
    own = tokenizer()
    for max_length in (2**63 - 1, 2**63, 2**64 - 1):
        assert ids(own.encode_batch([TEXT], truncation=Truncation(max_length))) == [own.encode(TEXT).ids]
    for length in (2**29, 2**63):
        padding = Padding(length=length)
        for call, given in ((own.encode, "a"), (own.encode_batch, ["a"])):
            with pytest.raises(OptionError, match=f"padded to {length} tokens but must have 268435456 at most"):
                call(given, padding=padding)
        assert own.encode_batch([], padding=padding) == []


def test_a_batch_is_a_call_of_the_core_for_texts_and_one_for_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    own, calls = tokenizer(), []
    encoder = _engine.Engine._encoder

    def counted(engine: Any, *arguments: Any, **options: Any) -> Any:
        call = encoder(engine, *arguments, **options)

        def counting(texts: list[str], **columns: Any) -> Any:
            calls.append(len(texts))
            return call(texts, **columns)

        return counting

    monkeypatch.setattr(_engine.Engine, "_encoder", counted)
    batch = own.encode_batch(["a", ("b", "c"), "d e", ["f", "g h"]] * 25, padding=Padding())
    assert calls == [50, 50]
    assert {len(encoding) for encoding in batch} == {6}
    assert ids(batch[:3]) == [[0, 4, 1, 0, 0, 0], [0, 5, 1, 6, 1, 0], [0, 7, 8, 1, 0, 0]]
    assert batch[:4] == batch[4:8]


def test_a_long_text_has_the_result_of_a_batch() -> None:
    own, text = tokenizer(), TEXT * _engine.SHORT
    assert own.encode(text).ids[:9] == [0, *range(4, 9), 3, *range(5, 7)]
    assert own.encode(text) == own.encode_batch([text])[0]
    assert own.encode((text, "a")).offsets == own.encode_batch([(text, "a")])[0].offsets


def test_special_tokens_in_a_text_may_be_left_to_the_model() -> None:
    own = tokenizer()
    options: Any = {"encode_special_tokens": True, "add_special_tokens": False}
    assert own.tokenize("a[SEP]<n>", add_special_tokens=False) == ["a", "[SEP]", "<n>"]
    # The word `SEP` is unknown, and so are the brackets; `<n>` is not special.
    assert own.tokenize("a[SEP]<n>", **options) == ["a", "?", "?", "?", "<n>"]
    assert ids(own.encode_batch(["a[SEP]", ("[CLS]", "<n>")], **options)) == [[4, 3, 3, 3], [3, 3, 3, 14]]
    assert own.tokenize("a[SEP]<n>", add_special_tokens=False) == ["a", "[SEP]", "<n>"]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (b"a", "input has 1 texts"),
        (None, "input is None but must be a str, or a pair"),
        (5, "input is int"),
        (["a"], "input has 1 texts but a pair has 2"),
        (("a", "b", "c"), "input has 3 texts"),
        (("a", None), "input is a pair of str and None but must be one of str"),
        ({"a": 1, "b": 2}, "input is dict"),
        ({"a", "b"}, "input is set"),
        ((text for text in "ab"), "input is generator"),
        ("a\ud800", "surrogate"),
    ],
)
def test_wrong_inputs_are_type_errors(wrong: Any, message: str) -> None:
    own = tokenizer()
    for call in (own.encode, own.tokenize):
        with pytest.raises(InputTypeError, match=message):
            call(wrong)
    with pytest.raises(InputTypeError, match=message.replace("input", "item 1 of the batch")):
        own.encode_batch(["a", wrong])


@pytest.mark.parametrize("wrong", ["ab", None, 5, {"a"}, {"a": 1}, (text for text in "ab")])
def test_a_batch_is_a_sequence(wrong: Any) -> None:
    with pytest.raises(InputTypeError, match=r"inputs is .* but must be a sequence of texts and pairs"):
        tokenizer().encode_batch(wrong)


def test_sequences_of_many_kinds_are_batches_and_pairs() -> None:
    own = tokenizer()
    expected = ids(own.encode_batch(["a", "b"]))
    for batch in (("a", "b"), np.array(["a", "b"]), np.array(["a", "b"], dtype=object)):
        assert ids(own.encode_batch(batch)) == expected  # type: ignore[arg-type]
        assert own.encode(batch) == own.encode(("a", "b"))  # type: ignore[arg-type]
    assert own.encode_batch([]) == []


def test_flags_are_bools() -> None:
    own = tokenizer()
    for name, wrong in product(["add_special_tokens", "encode_special_tokens"], [None, 1]):
        with pytest.raises(InputTypeError, match=f"{name} is .* but must be bool"):
            own.encode("a", **{name: wrong})
    for call, wrong in product([own.decode, own.decode_tokens], [None, 1]):
        with pytest.raises(TypeError):
            call([4], wrong)
    assert own.encode("a", add_special_tokens=np.False_).ids == [4]  # type: ignore[arg-type]


def test_ids_of_many_kinds_are_decoded() -> None:
    own = tokenizer()
    encoding = own.encode("a b <n>")
    kinds = [encoding, encoding.ids, tuple(encoding.ids), encoding.ids_array, encoding.ids_dlpack, bytes(encoding.ids)]
    for kind in kinds:
        assert (own.decode(kind), own.decode(kind, False)) == ("a b <n>", "[CLS] a b <n> [SEP]")
        assert own.decode_tokens(kind) == ["[CLS]", "a", "b", "<n>", "[SEP]"]
        assert own.decode_tokens(kind, skip_special_tokens=True) == ["a", "b", "<n>"]
    assert (own.decode([4, 999, 5]), own.decode_tokens([4, 999, 5])) == ("a b", ["a", "b"])
    assert (own.decode([]), own.decode_tokens([])) == ("", [])


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ("abc", InputTypeError),
        (None, InputTypeError),
        ({1, 2}, InputTypeError),
        ([1.0], InputTypeError),
        (["a"], InputTypeError),
        ([[1]], InputTypeError),
        ([4, -1], IdRangeError),
        ([2**32], IdRangeError),
        ([10**30], IdRangeError),
    ],
)
def test_wrong_ids_are_refused(wrong: Any, error: type[Exception]) -> None:
    own = tokenizer()
    for call in (own.decode, own.decode_tokens):
        with pytest.raises(error):
            call(wrong)


def test_padding_is_shown_as_the_token_of_its_id_or_left_out() -> None:
    own = tokenizer()
    padded: Any = {"add_special_tokens": False, "padding": Padding(length=3, pad_id=6, pad_token="[p]")}
    assert own.tokenize("a", **padded) == ["a", "c", "c"]
    assert own.encode("a", **padded).tokens == own.encode_batch(["a"], **padded)[0].tokens == ["a", "[p]", "[p]"]
    assert own.tokenize("a", add_special_tokens=False, padding=Padding(length=3, pad_id=999)) == ["a"]


def test_threads_share_a_compiled_tokenizer() -> None:
    compiled = tokenizer().compile()
    texts = [TEXT[: 2 * number] for number in range(7)] * 20

    def work(length: int) -> list[list[int]]:
        options: Any = {"truncation": Truncation(length), "padding": Padding(length=length)}
        return ids(compiled.encode_batch(texts, **options, encode_special_tokens=length % 2 == 0))

    lengths = list(range(3, 9)) * 10
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, lengths)) == [work(length) for length in lengths]


@pytest.mark.parametrize("direction", ["left", "right"])
def test_arrays_equal_the_lists_of_encodings(direction: Any) -> None:
    own, texts, pairs = tokenizer(), ["a", TEXT, ""], ["b c", "d", ""]
    padding = Padding(direction, pad_id=70_000, pad_type_id=5, length=7)
    everything: Any = {f"return_{name}": True for name in ("type_ids", "attention_mask", "offsets", "word_ids")}
    for seconds, limits in product([None, pairs], [{}, {"padding": padding, "truncation": Truncation(9)}]):
        options: Any = limits
        arrays = own.encode_batch_arrays(texts, pairs=seconds, **options, **everything, return_special_tokens_mask=True)
        batch = own.encode_batch(texts if seconds is None else list(zip(texts, pairs, strict=True)), **options)
        for row, encoding in enumerate(batch):
            at = slice(arrays.row_splits[row], arrays.row_splits[row + 1])
            columns: Any = [arrays.ids, arrays.type_ids, arrays.attention_mask, arrays.offsets, arrays.word_ids]
            assert columns[0][at].tolist() == encoding.ids
            assert columns[1][at].tolist() == encoding.type_ids
            assert columns[2][at].tolist() == encoding.attention_mask
            assert list(map(tuple, columns[3][at].tolist())) == encoding.offsets
            assert [None if word < 0 else word for word in columns[4][at].tolist()] == encoding.word_ids
            assert arrays.special_tokens_mask is not None
            assert arrays.special_tokens_mask[at].tolist() == [int(word is None) for word in encoding.word_ids]
    alone = own.encode_batch_arrays(texts, padding=Padding())
    assert (alone.attention_mask, alone.type_ids, len(alone.matrices()["ids"])) == (None, None, 3)
    assert own.encode_batch_arrays([b"a\xff"], errors="replace").ids.tolist() == [0, 4, 3, 1]


def test_constructors_are_refused() -> None:
    for cls in (Tokenizer, CompiledTokenizer):
        with pytest.raises(TypeError, match=f"cannot create {cls.__name__}: read a file"):
            cls()


def test_a_file_without_roles_has_none() -> None:
    assert tokenizer().role_to_token is None
