"""`lexmill.v1.Padding` and `Truncation`: values with checked arguments."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from lexmill.errors import IdRangeError, InputTypeError, OptionError, OptionRangeError
from lexmill.v1 import Padding, Truncation
from v1_small import tokenizer

FULL = Padding("left", 1, 2, "x", 3, 4)


def test_defaults_equal_hugging_faces() -> None:
    made = Padding()
    assert (made.direction, made.pad_id, made.pad_type_id, made.pad_token) == ("right", 0, 0, "[PAD]")
    assert (made.length, made.pad_to_multiple_of) == (None, None)
    assert (Truncation(5).strategy, Truncation(5).direction) == ("longest_first", "right")


def test_repr_is_the_call() -> None:
    assert repr(Truncation(5, "only_first")) == 'Truncation(max_length=5, strategy="only_first", direction="right")'
    made = Padding(pad_token="a\"b\n'é")
    assert repr(made).splitlines() == [
        "Padding(",
        '    direction="right",',
        "    pad_id=0,",
        "    pad_type_id=0,",
        '    pad_token="a\\"b\\n\'é",',
        "    length=None,",
        "    pad_to_multiple_of=None,",
        ")",
    ]
    for value in (made, FULL, Truncation(5, "only_second", "left")):
        assert eval(repr(value)) == value


@pytest.mark.parametrize("value", [FULL, Truncation(5, "only_second", "left")])
def test_values_are_equal_hashable_and_immutable(value: Padding | Truncation) -> None:
    for other in (copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value))):
        assert (other, hash(other)) == (value, hash(value))
    assert value not in (Padding(), Truncation(5), 5)
    with pytest.raises(AttributeError):
        value.direction = "right"  # type: ignore[misc]
    with pytest.raises(TypeError):
        _ = value < value  # type: ignore[operator]


def test_numbers_of_numpy_become_plain() -> None:
    made = Padding(pad_id=np.int64(3), length=np.uint8(4))  # type: ignore[arg-type]
    assert (type(made.pad_id), type(made.length), made) == (int, int, Padding(pad_id=3, length=4))
    assert type(Truncation(True).max_length) is int


def test_the_least_and_the_largest_numbers_are_valid() -> None:
    assert Padding(pad_id=2**32 - 1, length=2**64 - 1, pad_to_multiple_of=0).length == 2**64 - 1
    assert Truncation(0).max_length == 0


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"direction": "up"}, OptionError, 'padding direction must be "left" or "right", not "up"'),
        ({"direction": None}, InputTypeError, "padding direction is NoneType but must be str"),
        ({"pad_id": -1}, IdRangeError, "pad_id is -1 but must be from 0 to 4294967295"),
        ({"pad_id": 2**32}, IdRangeError, "pad_id is 4294967296 but must be"),
        ({"pad_id": 1.0}, InputTypeError, "pad_id is float but must be an integer"),
        ({"pad_id": None}, InputTypeError, "pad_id is NoneType but must be an integer"),
        ({"pad_type_id": 2**32}, IdRangeError, "pad_type_id is 4294967296"),
        ({"pad_token": b"x"}, InputTypeError, "pad_token is bytes but must be str"),
        ({"length": -1}, OptionRangeError, "length is -1 but must be from 0"),
        ({"length": 2**64}, OptionRangeError, "length is 18446744073709551616"),
        ({"pad_to_multiple_of": "8"}, InputTypeError, "pad_to_multiple_of is str but must be an integer"),
    ],
)
def test_wrong_padding_is_refused(arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Padding(**arguments)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ([-1], OptionRangeError, "max_length is -1 but must be from 0 to 18446744073709551615"),
        (["5"], InputTypeError, "max_length is str but must be an integer"),
        ([5, "x"], OptionError, 'strategy must be "longest_first", "only_first" or "only_second", not "x"'),
        ([5, None], InputTypeError, "truncation strategy is NoneType but must be str"),
        ([5, "only_first", "up"], OptionError, 'truncation direction must be "left" or "right", not "up"'),
    ],
)
def test_wrong_truncation_is_refused(arguments: list[Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Truncation(*arguments)


def test_the_rows_of_a_batch_share_one_limit() -> None:
    with pytest.raises(OptionError, match="padded to 17179869184 tokens but must have 268435456 at most"):
        tokenizer().encode_batch(["a"] * 64, padding=Padding(length=2**28))
