from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from engines import CoreEngine, ReferenceEngine, Words

REFERENCE = ReferenceEngine()
CORE = CoreEngine()


@st.composite
def languages(draw: st.DrawFn) -> tuple[list[Words], list[Words] | None, list[float] | None]:
    def words() -> Words:
        letters = draw(st.sampled_from(["ab", "abc", "abcd", "aé日"]))
        distinct = draw(st.lists(st.text(letters, min_size=1, max_size=9), max_size=6, unique=True))
        return [(word, draw(st.integers(1, 9))) for word in distinct]

    count = draw(st.integers(1, 4))
    dev = [words() for _ in range(count)] if draw(st.booleans()) else None
    ratio = draw(st.none() | st.lists(st.sampled_from([0.5, 0.7, 1.0, 2.0]), min_size=count, max_size=count))
    return [words() for _ in range(count)], dev, ratio


OPTIONS = st.fixed_dictionaries(
    {"num_merges": st.integers(0, 40)},
    optional={
        "variant": st.sampled_from(["base", "window"]),
        "min_frequency": st.integers(0, 4),
        "global_merges": st.integers(0, 9),
        "window_size": st.integers(1, 6),
        "alpha": st.sampled_from([0.1, 0.3, 0.6, 1.0, 1.2, 2.0]),
        "total_symbols": st.booleans(),
        "special_tokens": st.lists(st.sampled_from(["<s>", "a", "ab", "ba", "abc"]), max_size=3),
        "initial_alphabet": st.lists(st.sampled_from(["a", "z", "é"]), max_size=2),
        "limit_alphabet": st.none() | st.integers(0, 4),
        "max_token_length": st.none() | st.integers(0, 7),
        "continuing_subword_prefix": st.sampled_from([None, "", "##", "a"]),
        "end_of_word_suffix": st.sampled_from([None, "", "</w>", "b"]),
    },
)


@given(languages(), OPTIONS, st.sampled_from([1, 2, 5]))
def test_core_learns_what_the_reference_learns(
    given_languages: tuple[list[Words], list[Words] | None, list[float] | None],
    options: dict[str, Any],
    threads: int,
) -> None:
    corpora, dev, ratio = given_languages
    expected = REFERENCE.train_parity_bpe(corpora, dev, ratio=ratio, **options)
    assert CORE.train_parity_bpe(corpora, dev, ratio=ratio, num_threads=threads, **options) == expected


WINDOWS = st.fixed_dictionaries(
    {
        "variant": st.just("window"),
        "num_merges": st.just(40),
        "window_size": st.integers(1, 5),
        "alpha": st.sampled_from([0.2, 0.5, 0.6, 1.0, 1.2, 1.5]),
    },
    optional={"min_frequency": st.integers(0, 3), "global_merges": st.integers(0, 5)},
)


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(1, 3), st.integers(1, 9)), min_size=2, max_size=5), WINDOWS)
def test_core_takes_the_turns_of_the_reference(sizes: list[tuple[int, int, int]], options: dict[str, Any]) -> None:
    # Languages of letters of their own: the merges tell whose turn it was, and each runs out after its own number.
    letters = ["abcdefghijkl", "ABCDEFGHIJKL", "αβγδεζηθικλμ", "АБВГДЕЖЗИКЛМ", "あいうえおかきくけこさし"]
    corpora = [[(word[:length], count)] for word, (length, count, _) in zip(letters, sizes, strict=False)]
    dev = [[("z", size)] for *_, size in sizes]
    assert CORE.train_parity_bpe(corpora, dev, **options) == REFERENCE.train_parity_bpe(corpora, dev, **options)
