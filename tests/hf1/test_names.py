"""The stored list of names and signatures against the stub of the installed package."""

from __future__ import annotations

import inspect
import sys
from typing import Any

import pytest
from both import PACKAGES

from peers import ROOT

sys.path.append(str(ROOT / "docs"))

import drop_in_names
import v1_table


def test_the_list_equals_the_stub() -> None:
    assert v1_table.NAMES.read_text(encoding="utf-8") == v1_table.peer_names(), "run docs/v1_table.py --peer"


@pytest.mark.parametrize("name", ["Encoding", "Padding", "Tokenizer", "Truncation"])
def test_the_stub_has_all_names_of_the_class(name: str) -> None:
    theirs, ours = (getattr(package, name) for package in PACKAGES)
    public = {member for member in vars(theirs) if not member.startswith("__")}
    listed = {path for path, _ in v1_table.all_rows()}
    assert {f"{name}.{member}" for member in public} <= listed
    assert all(drop_in_names.has_member(ours, member) for member in public)


CALLS = ["encode", "encode_batch", "tokenize", "decode", "decode_tokens", "from_file", "from_pretrained"]


@pytest.mark.parametrize("name", CALLS)
def test_signatures_are_equal_at_run_time(name: str) -> None:
    def parameters(package: Any) -> list[tuple[str, Any, Any]]:
        found = inspect.signature(getattr(package.Tokenizer, name)).parameters.values()
        return [(item.name, item.default, item.kind) for item in found if item.name != "self"]

    theirs, ours = map(parameters, PACKAGES)
    assert ours == theirs
