"""Texts and pairs of texts as the calls take them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lexmill.errors import InputTypeError


@dataclass(frozen=True)
class Inputs:
    """A batch of texts and pairs, each kind in the order of the batch."""

    texts: list[str] = field(default_factory=list)
    firsts: list[str] = field(default_factory=list)
    seconds: list[str] = field(default_factory=list)
    is_pair: list[bool] = field(default_factory=list)
    """For each item of the batch; empty if all are texts."""


def batch_of(inputs: object) -> Inputs:
    """Reads a sequence of texts and pairs.

    Raises:
        InputTypeError: no sequence, or an item that is neither a text nor a pair.
    """
    if isinstance(inputs, str) or not _has_items(inputs):
        raise InputTypeError(f"inputs is {_kind(inputs)} but must be a sequence of texts and pairs: put it into a list")
    items: list[object] = list(inputs)  # type: ignore[call-overload]
    # One pass in C for the common case.
    if set(map(type, items)) <= {str}:
        return Inputs(texts=items)  # type: ignore[arg-type]
    batch = Inputs()
    for number, item in enumerate(items):
        first, second = input_of(item, f"item {number} of the batch")
        batch.is_pair.append(second is not None)
        if second is None:
            batch.texts.append(first)
        else:
            batch.firsts.append(first)
            batch.seconds.append(second)
    return batch


def input_of(item: object, name: str = "input") -> tuple[str, str | None]:
    """Reads a text, or a pair of texts.

    Args:
        item: a `str`, or a sequence of two.
        name: the argument's name in messages.

    Raises:
        InputTypeError: anything else.
    """
    if isinstance(item, str):
        return item, None
    if not _has_items(item):
        raise InputTypeError(f"{name} is {_kind(item)} but must be a str, or a pair of str in a tuple or a list")
    texts: list[object] = list(item)  # type: ignore[call-overload]
    if len(texts) != 2:
        raise InputTypeError(f"{name} has {len(texts)} texts but a pair has 2")
    first, second = texts
    if not (isinstance(first, str) and isinstance(second, str)):
        raise InputTypeError(f"{name} is a pair of {_kind(first)} and {_kind(second)} but must be one of str")
    return first, second


def id_sequence(ids: object) -> Sequence[int]:
    """Checks that ids are a sequence; the caller checks the numbers.

    Raises:
        InputTypeError: no sequence.
    """
    if isinstance(ids, str) or not _has_items(ids):
        raise InputTypeError(f"ids is {_kind(ids)} but must be an Encoding or a sequence of integers")
    return ids  # type: ignore[return-value]


def _has_items(item: object) -> bool:
    """True for an object with a length and items: a list, an array, an Arrow column, but no set, mapping or table."""
    if isinstance(item, list | tuple):
        return True
    has_both = hasattr(item, "__getitem__") and hasattr(item, "__len__")
    return has_both and not isinstance(item, Mapping) and not hasattr(item, "columns")


def _kind(item: object) -> str:
    return "None" if item is None else type(item).__name__
