"""docs/drop-in.md: the names and signatures of the peer, compared with ours."""

from __future__ import annotations

import re
import sys
from enum import Enum
from pathlib import Path
from typing import Any

import pytest

import lexmill

sys.path.append(str(Path(__file__).parents[2] / "docs"))

import drop_in_names
import drop_in_table

peer = pytest.importorskip("tokenizers")
pytestmark = pytest.mark.external


def classes() -> dict[str, tuple[type, type]]:
    """The peer's compiled classes and ours, by the names from the package on."""
    found = {}
    for module in ["", "decoders", "models", "normalizers", "pre_tokenizers", "processors", "trainers"]:
        theirs, ours = drop_in_names.load("tokenizers", module), drop_in_names.load("lexmill", module)
        for name, value in vars(theirs).items():
            is_class = isinstance(value, type) and not issubclass(value, Enum)
            if is_class and hasattr(ours, name) and drop_in_names.home_of(value) == module:
                found[f"{module}.{name}".lstrip(".")] = (value, getattr(ours, name))
    return found


CLASSES = classes()


def most_by_position(cls: Any) -> int:
    """How many arguments a compiled class takes by position, from what it says of too many; 0 for an abstract class."""
    with pytest.raises(TypeError, match=r"positional arguments? but 40 were given|cannot create") as raised:
        cls(*range(40))
    counts = re.findall(r"(\d+) positional", str(raised.value))
    return int(counts[0]) if counts else 0


def test_the_page_is_what_both_packages_give() -> None:
    page = drop_in_table.PAGE.read_text(encoding="utf-8")
    assert page == drop_in_table.rendered(page), "run docs/drop_in_table.py"


def test_every_name_is_there_or_has_its_reason() -> None:
    rows = drop_in_table.all_rows()
    drop_in_table.refuse_wrong_reasons(rows)
    assert len({row.path for row in rows}) == len(rows) > 400
    missing = [row.path for row in rows if row.here.startswith("missing:")]
    assert missing == []


@pytest.mark.parametrize("name", CLASSES)
def test_constructors_take_as_many_arguments_by_position_as_the_tables_say(name: str) -> None:
    theirs, ours = CLASSES[name]
    signature = drop_in_names.peer_signature(name, theirs)
    assert signature is not None
    assert len(signature.names(by_keyword=False)) == most_by_position(theirs) == most_by_position(ours)


def test_a_name_without_a_reason_stops_the_rendering(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(lexmill.models, "BPE")
    with pytest.raises(SystemExit, match=r"(?m)^models\.BPE: missing: no reason; -$"):
        drop_in_table.refuse_wrong_reasons(drop_in_table.all_rows())


def test_a_signature_without_a_reason_stops_the_rendering(monkeypatch: pytest.MonkeyPatch) -> None:
    def other(name: str, *, strict: bool) -> None:
        raise NotImplementedError

    monkeypatch.setattr(lexmill.normalizers, "unicode_normalizer_from_str", other)
    with pytest.raises(SystemExit, match="`name`, there `normalizer`; needs `strict`: no reason"):
        drop_in_table.refuse_wrong_reasons(drop_in_table.all_rows())


@pytest.mark.parametrize("reasons", ["MISSING", "LEFT_OUT", "BEHAVIOUR", "SIGNATURES"])
def test_a_reason_without_a_difference_stops_the_rendering(reasons: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = "models.Model.nothing" if reasons == "BEHAVIOUR" else "models.Model"
    monkeypatch.setitem(getattr(drop_in_table, reasons), path, "some reason")
    with pytest.raises(SystemExit, match=f"reasons without a difference: {re.escape(path)}"):
        drop_in_table.refuse_wrong_reasons(drop_in_table.all_rows())
