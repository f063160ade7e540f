"""Wrong and unusual arguments of calls, and files: equal results and classes of errors."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from both import PACKAGES, load, outcome

from peers import tokenizer_file

INPUTS = [
    b"a", None, 5, [], ["a"], ["a", "b", "c"], ("a", None), ("a", b"b"), {"a": 1, "b": 2}, {"a", "b"}, "a\ud800",
    ("a\ud800", "b"), np.array(["a", "b"]), np.str_("a"), [["a"], ["b"]], np.array([["a", "b"]]),
]  # fmt: skip
IDS = [
    [4, 5], (4,), range(5), [], b"ab", bytearray(b"ab"), [-1], [2**32], [10**30], ["a"], [1.0], [[1]], "abc", "", None,
    5, {1, 2}, {1: 2}, [True], np.array([4, 5]), np.array([4], "uint16"), np.array([-4]), np.array([4.0]),
    np.array([[4]]), np.array([], "int64"), np.array([4], object), [99_999_999], memoryview(b"ab"), np.int64(5),
]  # fmt: skip
FLAGS = [None, 1, "x", np.True_, False]
LIMITS = ["padding", "truncation"]


def calls(package: Any, tokenizer: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Calls with their names."""
    for item in INPUTS:
        yield f"encode {item!r}", lambda item=item: tokenizer.encode(item).ids
        yield f"tokenize {item!r}", lambda item=item: tokenizer.tokenize(item)
        yield f"encode_batch {item!r}", lambda item=item: [row.ids for row in tokenizer.encode_batch(item)]
        yield f"in a batch {item!r}", lambda item=item: [row.ids for row in tokenizer.encode_batch(["a", item])]
    for ids in IDS:
        yield f"decode {ids!r}", lambda ids=ids: tokenizer.decode(ids)
        yield f"decode_tokens {ids!r}", lambda ids=ids: tokenizer.decode_tokens(ids)
    for flag in FLAGS:
        for name in ("add_special_tokens", "encode_special_tokens"):
            yield f"{name} {flag!r}", lambda given={name: flag}: tokenizer.encode("a [SEP]", **given).ids
        yield f"skip {flag!r}", lambda flag=flag: tokenizer.decode([101, 4], flag)
        yield f"skip in tokens {flag!r}", lambda flag=flag: tokenizer.decode_tokens([101, 4], flag)
    for name, value in product(LIMITS, [5, {"length": 3}, package.Truncation(2), package.Padding(length=4), None]):
        yield f"{name}={value}", lambda given={name: value}: tokenizer.encode("a b", **given).ids
        yield f".{name}={value}", lambda name=name, value=value: setattr(tokenizer, name, value)
        yield f"after .{name}={value}", lambda: tokenizer.encode("a b").ids
    yield "other attribute", lambda: setattr(tokenizer, "other", 5)
    yield "deleted", lambda: delattr(tokenizer, "padding")
    yield "by position", lambda: tokenizer.encode("a", True)
    yield "other keyword", lambda: tokenizer.encode("a", other=5)
    yield "by keyword", lambda: tokenizer.decode(ids=tokenizer.encode(input="a"), skip_special_tokens=False)
    for name in ("Tokenizer", "Encoding"):
        yield f"a new {name}", getattr(package, name)
    encoding = tokenizer.encode("a")
    yield "hash", lambda: hash(encoding)
    yield "set ids", lambda: setattr(encoding, "ids", [])
    yield "order", lambda: encoding < encoding


def test_calls_give_equal_results_and_errors() -> None:
    both = load("bert-base-uncased")
    expected, found = (
        {name: outcome(call) for name, call in calls(package, tokenizer)}
        for package, tokenizer in zip(PACKAGES, both, strict=True)
    )
    assert found == expected
    kinds = {result for result in found.values() if isinstance(result, str) and result.startswith("raises")}
    assert kinds == {"raises AttributeError", "raises OverflowError", "raises TypeError"}
    assert len(found) > 150


def test_files_that_cannot_be_read_are_equal_errors(tmp_path: Path) -> None:
    (tmp_path / "cut.json").write_text('{"a":')
    (tmp_path / "empty.json").write_text("{}")
    paths: list[Any] = [tmp_path / name for name in ("none.json", "cut.json", "empty.json", ".")]
    paths += [5, None]
    expected, found = ([outcome(partial(package.Tokenizer.from_file, path)) for path in paths] for package in PACKAGES)
    assert found == expected
    missing, malformed, wrong = "raises FileNotFoundError", "raises ValueError", "raises TypeError"
    assert found == [missing, malformed, malformed, "raises OSError", wrong, wrong]


@pytest.mark.parametrize("direction", ["Left", "Right"])
@pytest.mark.parametrize("length", ["BatchLongest", {"Fixed": 9}])
def test_limits_of_files_are_equal(direction: str, length: Any, tmp_path: Path) -> None:
    file = json.loads(tokenizer_file("bert-base-uncased").read_text(encoding="utf-8"))
    file["truncation"] = {"max_length": 5, "strategy": "OnlyFirst", "stride": 2, "direction": direction}
    padding = {"strategy": length, "pad_to_multiple_of": 4, "pad_id": 3, "pad_type_id": 2, "pad_token": "x"}
    file["padding"] = {**padding, "direction": direction}
    (tmp_path / "tokenizer.json").write_text(json.dumps(file))
    results = []
    for package in PACKAGES:
        made = package.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
        rows = made.encode_batch(["a b c d e f g", "a"])
        results.append([repr(made.padding), repr(made.truncation), *((row.ids, row.type_ids) for row in rows)])
    assert results[0] == results[1]
