"""`Padding` and `Truncation`: equal values, representations and classes of errors."""

from __future__ import annotations

import copy
import pickle
from functools import partial
from typing import Any

import numpy as np
import pytest
from both import PACKAGES, outcome

TEXTS = ["", "[PAD]", "a\"b\n'é", "\\"]
NUMBERS = [-1, 0, 3, 2**32 - 1, 2**32, 2**64 - 1, 2**64, True, 1.0, "3", None, np.int64(7)]
WORDS = ["left", "right", "Left", "longest_first", "only_first", "only_second", "", None, 5, b"left"]
PADDINGS: list[dict[str, Any]] = [
    *({"direction": word} for word in WORDS),
    *({"pad_token": text} for text in [*TEXTS, None, 5, b"x"]),
    *({name: number} for name in ("pad_id", "pad_type_id", "length", "pad_to_multiple_of") for number in NUMBERS),
    {"other": 5},
]
TRUNCATIONS: list[dict[str, Any]] = [
    *({"max_length": number} for number in NUMBERS),
    *({"max_length": 5, name: word} for name in ("strategy", "direction") for word in WORDS),
    {},
    {"max_length": 5, "stride": 1},
]


def facts(value: Any) -> list[Any]:
    """The form in which two equal values are equal."""
    copies = [copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value))]
    return [repr(value), str(value), value.__reduce__()[1], *(made == value for made in copies), value == 5, value != 5]


def made(cls: Any, arguments: dict[str, Any]) -> list[Any]:
    return facts(cls(**arguments))


@pytest.mark.parametrize(("name", "cases"), [("Padding", PADDINGS), ("Truncation", TRUNCATIONS)])
def test_values_and_errors_are_equal(name: str, cases: list[dict[str, Any]]) -> None:
    expected, found = ([outcome(partial(made, getattr(package, name), case)) for case in cases] for package in PACKAGES)
    assert dict(zip(map(repr, cases), found, strict=True)) == dict(zip(map(repr, cases), expected, strict=True))
    assert {type(result) for result in found} == {list, str}


def test_arguments_go_by_position_and_attributes_are_read_only() -> None:
    for package in PACKAGES:
        padding, truncation = package.Padding("left", 1, 2, "x", 3, 4), package.Truncation(5, "only_first", "left")
        assert (padding.direction, padding.pad_id, padding.pad_type_id) == ("left", 1, 2)
        assert (padding.pad_token, padding.length, padding.pad_to_multiple_of) == ("x", 3, 4)
        assert len({padding, truncation, package.Padding("left", 1, 2, "x", 3, 4)}) == 2
        for value, name in ((padding, "pad_id"), (truncation, "max_length"), (padding, "other")):
            with pytest.raises(AttributeError):
                setattr(value, name, 5)
            with pytest.raises(AttributeError):
                delattr(value, name)
