"""Strings that know their origins have the values of `str`, and the origins that their characters tell."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("jinja2")

from lexmill.messages._tracked import Lost, Origin, Tracked, concatenated, joined

# Characters that only messages have, in two cases of which one is the other's, and white space between them. The
# template's own are ASCII.
LETTERS = "\u03b1\u03b2\u03b3\u0391\u0392\u0393\u3000\u2003"
ORIGIN = Origin(0, "content")
own = st.text("ab \n<", max_size=4)
content = st.text(LETTERS, max_size=6)


def tracked(text: str) -> str:
    return Tracked(text, ((0, len(text), ORIGIN),))


@st.composite
def mixed(draw: st.DrawFn) -> str:
    """Texts of messages and of a template, in turn."""
    parts = draw(st.lists(st.tuples(own, content), max_size=4))
    return concatenated([Tracked(), *(part for before, text in parts for part in (before, tracked(text)))])


places = st.one_of(st.none(), st.integers(-8, 8))
some = st.one_of(own, content)
# Each takes a string and gives strings; a plain string gives the values.
OPERATIONS: dict[str, tuple[st.SearchStrategy[Any], Callable[[Any, Any], Any]]] = {
    "strip": (st.one_of(st.none(), some), lambda text, chars: text.strip(chars)),
    "lstrip": (st.one_of(st.none(), some), lambda text, chars: text.lstrip(chars)),
    "rstrip": (st.one_of(st.none(), some), lambda text, chars: text.rstrip(chars)),
    "slice": (st.tuples(places, places), lambda text, bounds: text[bounds[0] : bounds[1]]),
    "backwards": (st.none(), lambda text, _: text[::-1]),
    "index": (st.integers(-3, 3), lambda text, at: text[at] if -len(text) <= at < len(text) else ""),
    "characters": (st.none(), lambda text, _: list(text)),
    "split": (
        st.tuples(st.one_of(st.none(), some.filter(bool)), st.integers(-1, 3)),
        lambda text, given: text.split(*given),
    ),
    "rsplit": (
        st.tuples(st.one_of(st.none(), some.filter(bool)), st.integers(-1, 3)),
        lambda text, given: text.rsplit(*given),
    ),
    "splitlines": (st.booleans(), lambda text, keep: text.splitlines(keep)),
    "partition": (some.filter(bool), lambda text, sep: text.partition(sep)),
    "rpartition": (some.filter(bool), lambda text, sep: text.rpartition(sep)),
    "removeprefix": (some, lambda text, prefix: text.removeprefix(prefix)),
    "removesuffix": (some, lambda text, suffix: text.removesuffix(suffix)),
    "add": (own, lambda text, other: text + other),
    "radd": (own, lambda text, other: other + text),
    "times": (st.integers(0, 3), lambda text, times: text * times),
    "cut out": (some.filter(bool), lambda text, old: text.replace(old, "")),
    "center": (st.integers(0, 20), lambda text, width: text.center(width, "-")),
    "ljust": (st.integers(0, 20), lambda text, width: text.ljust(width)),
    "rjust": (st.integers(0, 20), lambda text, width: text.rjust(width)),
}


def check_origins(text: str) -> None:
    """Exactly the characters of messages have an origin."""
    known = [False] * len(text)
    for start, end, key in text.runs if isinstance(text, Tracked) else ():
        assert key == ORIGIN
        assert 0 <= start <= end <= len(text)
        known[start:end] = [True] * (end - start)
    assert known == [character in LETTERS for character in text]


@pytest.mark.parametrize("name", OPERATIONS)
@given(data=st.data(), text=mixed())
def test_values_are_those_of_str_and_origins_those_of_characters(name: str, data: st.DataObject, text: str) -> None:
    arguments, operation = OPERATIONS[name]
    given = data.draw(arguments)
    found, expected = operation(text, given), operation(str.__str__(text), given)
    assert found == expected
    for one in [found] if isinstance(found, str) else found:
        check_origins(one)


@given(text=mixed(), old=some.filter(bool), new=some, count=st.integers(-1, 2))
def test_replacements_have_the_origin_of_their_place(text: str, old: str, new: str, count: int) -> None:
    found = text.replace(old, new, count)
    assert found == str.__str__(text).replace(old, new, count)
    runs = found.runs if isinstance(found, Tracked) else ()
    if set(old) <= set(LETTERS) and set(new) <= set(LETTERS):
        check_origins(found)
    # A text that is in part the template's has no origin.
    if any(isinstance(key, Lost) for _, _, key in runs):
        assert {letter in LETTERS for letter in old} == {True, False}


@given(text=mixed(), name=st.sampled_from(["upper", "lower", "swapcase", "casefold", "capitalize", "title"]))
def test_cases_of_letters_keep_origins_or_lose_them(text: str, name: str) -> None:
    found = getattr(text, name)()
    assert found == getattr(str.__str__(text), name)()
    if not any(isinstance(key, Lost) for _, _, key in getattr(found, "runs", ())):
        check_origins(found)


@given(separator=own, texts=st.lists(st.one_of(mixed(), own), max_size=4))
def test_joined_texts_keep_their_origins(separator: str, texts: list[str]) -> None:
    for found in (joined(separator, texts), concatenated(texts)):
        check_origins(found)
    assert joined(separator, texts) == separator.join(texts)


@given(text=content, front=own, back=own)
def test_an_empty_text_keeps_its_place(text: str, front: str, back: str) -> None:
    empty = tracked(text)[len(text) :]
    found = front + empty + back
    assert isinstance(found, Tracked)
    assert found.runs == ((len(front), len(front), ORIGIN),)
