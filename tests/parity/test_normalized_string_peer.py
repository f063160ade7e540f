"""`NormalizedString` and `PreTokenizedString` do what Hugging Face's do, one random step after the other."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lexmill

pytestmark = pytest.mark.external
peer = pytest.importorskip("tokenizers")

TEXTS = st.text(st.sampled_from("ab cÉé\u0301ßİ①日🙂\n-▁"), max_size=10)
SHORT = st.sampled_from(["", "a", "é", "e\u0301", "日本", " ", "xy"])
BEHAVIORS = ["removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"]
PLAIN = ["nfd", "nfkd", "nfc", "nfkc", "lowercase", "uppercase", "lstrip", "rstrip", "strip", "clear"]
INDICES = st.integers(-12, 12)


def regex(pattern: str) -> Any:
    """The pattern as an object of either library."""
    return lambda library: library.Regex(pattern)


FOUND = st.sampled_from(["a", "é", " ", "日", *map(regex, [r"\s+", r"[ab]", r"\w"])])
PATTERNS = st.one_of(FOUND, st.sampled_from([regex(r"$"), regex(r"a*")]))


def of(library: ModuleType, argument: Any) -> Any:
    """An argument, made by the library if it is a pattern."""
    return argument(library) if callable(argument) else argument


STEPS = st.one_of(
    st.tuples(st.sampled_from(PLAIN)),
    st.tuples(st.sampled_from(["prepend", "append"]), SHORT),
    st.tuples(st.just("replace"), FOUND, SHORT),
    st.tuples(st.just("filter"), st.sampled_from("ab é")),
    st.tuples(st.just("map"), st.sampled_from("xé日")),
    st.tuples(st.just("slice"), st.tuples(st.integers(0, 9), st.integers(0, 9))),
    st.tuples(st.just("slice"), INDICES),
    st.tuples(st.just("slice"), st.builds(slice, st.none() | INDICES, st.none() | INDICES)),
    st.tuples(st.just("split"), PATTERNS, st.sampled_from(BEHAVIORS)),
)


def run(library: ModuleType, text: str, steps: list[tuple[Any, ...]]) -> list[Any]:
    """What each step answers, and the text after it; a part that a step gives is the text from then on."""
    current = library.NormalizedString(text)
    seen: list[Any] = []
    for name, *arguments in steps:
        if name == "append" and not current.normalized:
            continue
        try:
            if name == "filter":
                current.filter(lambda c, kept=arguments[0]: c != kept)
            elif name == "map":
                current.map(lambda c, made=arguments[0]: made if c == "a" else c)
            else:
                answer = getattr(current, name)(*(of(library, argument) for argument in arguments))
                parts = answer if isinstance(answer, list) else [answer]
                seen.append([repr(part) for part in parts])
                current = next((part for part in reversed(parts) if part is not None), current)
        except Exception:
            seen.append("raised")
        except BaseException as panic:
            if type(panic).__name__ != "PanicException":
                raise
            break
        seen.append(repr(current))
        whole = library.PreTokenizedString(text)
        whole.split(lambda _, __, part=current: [part])
        for step in ("original", "normalized"):
            seen += [(step, kind, whole.get_splits(step, kind)) for kind in ("byte", "char")]
        # What stands for no character of the original, the peer repeats in the next step, or panics.
        if name == "prepend":
            break
    return seen


@given(text=TEXTS, steps=st.lists(STEPS, min_size=1, max_size=5))
def test_a_text_changes_as_in_the_peer(text: str, steps: list[tuple[Any, ...]]) -> None:
    # What the peer answers before it panics, if it does.
    expected = run(peer, text, steps)
    assert run(lexmill, text, steps)[: len(expected)] == expected


def change(library: ModuleType, splits: Any, name: str, argument: Any) -> None:
    """One step of cutting."""
    if name == "split":
        pattern, behavior = argument
        splits.split(lambda _, part: part.split(of(library, pattern), behavior))
    elif name == "normalize":
        splits.normalize(lambda part: getattr(part, argument)())
    else:
        splits.tokenize(
            lambda part: [
                library.Token(number, part[:1], (at, at + argument))
                for number, at in enumerate(range(0, len(part) + 1, 2))
            ]
        )


def shown(splits: Any, referential: str, kind: str) -> list[Any]:
    """The splits, their tokens as tuples."""
    return [
        (text, offsets, tokens and [token.as_tuple() for token in tokens])
        for text, offsets, tokens in splits.get_splits(referential, kind)
    ]


def cut(library: ModuleType, text: str, steps: list[tuple[str, Any]]) -> Any:
    """The splits and the encoding of a text that is cut and changed."""
    splits = library.PreTokenizedString(text)
    for name, argument in steps:
        change(library, splits, name, argument)
    seen = [shown(splits, a, b) for a in ("original", "normalized") for b in ("byte", "char")]
    try:
        encoding = splits.to_encoding(3)
    except Exception:
        return seen, "raised"
    fields = ("ids", "tokens", "offsets", "word_ids", "type_ids", "special_tokens_mask", "attention_mask")
    return seen, [getattr(encoding, field) for field in fields], splits.to_encoding(word_idx=7).word_ids


CUTS = st.one_of(
    st.tuples(st.just("split"), st.tuples(PATTERNS, st.sampled_from(BEHAVIORS))),
    st.tuples(st.just("normalize"), st.sampled_from(PLAIN[:-1])),
    st.tuples(st.just("tokenize"), st.integers(0, 3)),
)


@given(text=TEXTS, steps=st.lists(CUTS, min_size=1, max_size=5))
def test_a_text_is_cut_as_in_the_peer(text: str, steps: list[tuple[str, Any]]) -> None:
    assert cut(lexmill, text, steps) == cut(peer, text, steps)
