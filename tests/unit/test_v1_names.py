"""docs/guides/tokenizers-1.0.md: the names of the stub of `tokenizers` 1.0, compared with lexmill.v1."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from lexmill import v1

sys.path.append(str(Path(__file__).parents[2] / "docs"))

import v1_table


def test_the_page_has_the_rendered_table() -> None:
    page = v1_table.PAGE.read_text(encoding="utf-8")
    assert page == v1_table.rendered(page), "run docs/v1_table.py"
    assert len(list(v1_table.all_rows())) == 50


@pytest.mark.parametrize(
    ("member", "changed", "message"),
    [
        ("encode", lambda self, input: None, r"Tokenizer\.encode: has no `add_special_tokens`"),
        ("padding", property(lambda self: None), r"Tokenizer\.padding is another kind of name"),
        ("decode", property(lambda self: None), r"Tokenizer\.decode is another kind of name"),
    ],
)
def test_a_difference_stops_the_rendering(
    member: str, changed: object, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(v1.Tokenizer, member, changed)
    with pytest.raises(SystemExit, match=message):
        list(v1_table.all_rows())


def test_a_missing_name_stops_the_rendering(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(v1.Tokenizer.__mro__[1], "tokenize")
    with pytest.raises(SystemExit, match=r"Tokenizer\.tokenize is missing"):
        list(v1_table.all_rows())


def test_a_reason_without_its_name_stops_the_rendering(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(v1_table.DIFFERENT, "Tokenizer.other", "some reason")
    with pytest.raises(SystemExit, match=r"reasons without a name: Tokenizer\.other"):
        v1_table.rendered(v1_table.PAGE.read_text(encoding="utf-8"))
