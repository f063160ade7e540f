"""Python objects that programs hand to both libraries: functions, stages written in Python, odd values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np


class Odd:
    """An object that no call expects."""

    def __repr__(self) -> str:
        return "Odd()"


class Text(str):
    """A string of a class of its own."""

    __slots__ = ()


class Number(int):
    """An integer of a class of its own."""


class Indexed:
    """No integer, but stands for one."""

    def __index__(self) -> int:
        return 1


class Upper:
    """A normalizer in Python."""

    def normalize(self, text: Any) -> None:
        text.uppercase()


class Halves:
    """A pre-tokenizer in Python."""

    def pre_tokenize(self, text: Any) -> None:
        text.split(lambda _, part: part.split(" ", "removed"))


class Joined:
    """A decoder in Python."""

    def decode_chain(self, tokens: list[str]) -> list[str]:
        return ["+".join(tokens)]


def raising(*_: Any) -> None:
    """A function that raises."""
    raise KeyError("from a script")


def generated(*items: Any) -> Iterator[Any]:
    """An iterator without a length."""
    yield from items


def broken() -> Iterator[str]:
    """An iterator that raises after its first item."""
    yield "a b"
    raise KeyError("from an iterator")


def assembled(library: ModuleType) -> Callable[..., Any]:
    """A function that makes a tokenizer of its parts, with tokens added and options set."""

    def build(model: Any, stages: dict[str, Any], options: dict[str, dict[str, Any]], added: list[Any]) -> Any:
        tokenizer = library.Tokenizer(model)
        for name, stage in stages.items():
            setattr(tokenizer, name, stage)
        for name, tokens in added:
            getattr(tokenizer, name)(tokens)
        for name, given in options.items():
            getattr(tokenizer, f"enable_{name}")(**given)
        return tokenizer

    return build


SCRIPTS: dict[str, Callable[[ModuleType], Any]] = {
    "Odd": lambda _: Odd(),
    "Text": lambda _: Text("a"),
    "Number": lambda _: Number(1),
    "Indexed": lambda _: Indexed(),
    "raising": lambda _: raising,
    "identity": lambda _: lambda item: item,
    "no arguments": lambda _: lambda: None,
    "upper": lambda _: str.upper,
    "is a letter": lambda _: str.isalpha,
    "is a": lambda _: lambda char: char == "a",
    "number of": lambda _: ord,
    "none": lambda _: lambda *_: None,
    "lowercase": lambda _: lambda text: text.lowercase(),
    "prepend x": lambda _: lambda text: text.prepend("x"),
    "split blanks": lambda _: lambda _, part: part.split(" ", "removed"),
    "split words": lambda library: lambda _, part: part.split(library.Regex(r"\w+"), "isolated"),
    "twice": lambda _: lambda _, part: [part, part],
    "not a split": lambda _: lambda _, part: ["a"],
    "one token": lambda library: lambda text: [library.Token(1, text, (0, len(text)))],
    "two tokens": lambda library: lambda text: [library.Token(1, text[:1], (0, 1)), library.Token(2, text[1:], (1, 2))],
    "no tokens": lambda _: lambda _: [],
    "Upper": lambda _: Upper(),
    "Halves": lambda _: Halves(),
    "Joined": lambda _: Joined(),
    "generator": lambda _: generated("a b", "ab"),
    "generator of lists": lambda _: generated(["a", "b"], ["ab"]),
    "broken": lambda _: broken(),
    "array of texts": lambda _: np.array(["a b", "ab"]),
    "array of ids": lambda _: np.array([0, 1, 2], dtype=np.uint32),
    "array of objects": lambda _: np.array(["a", "ab"], dtype=object),
    "range": lambda _: range(3),
    "set": lambda _: {"a"},
    "int": lambda _: np.int64(1),
    "bytearray": lambda _: bytearray(b"a"),
    "slice": lambda _: slice(0, 2),
    "slice from": lambda _: slice(1, None),
    "slice negative": lambda _: slice(-2, -1),
    "slice step": lambda _: slice(0, 4, 2),
    "slice back": lambda _: slice(3, 1),
    "surrogate": lambda _: "\ud800",
    "assembled": assembled,
    "tuple": lambda _: tuple,
    "nan": lambda _: float("nan"),
    "inf": lambda _: float("inf"),
}
"""Each is made anew for each library and use, as iterators are used up."""
