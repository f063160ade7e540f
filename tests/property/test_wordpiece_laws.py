"""WordPiece and word level: the reference and the core agree on whatever is drawn."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from engines import CoreEngine, ReferenceEngine

REFERENCE, CORE = ReferenceEngine(), CoreEngine()
WORDS = st.lists(
    st.tuples(st.text("abcé", min_size=1, max_size=8), st.integers(1, 9)), max_size=9, unique_by=lambda word: word[0]
)
OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "min_frequency": st.integers(0, 4),
        "min_pair_frequency": st.integers(0, 4),
        "special_tokens": st.lists(st.sampled_from(["[UNK]", "a", "##b", "ab"]), max_size=3),
        "limit_alphabet": st.integers(0, 5),
        "initial_alphabet": st.lists(st.sampled_from("adé"), max_size=2),
        "continuing_subword_prefix": st.sampled_from(["##", "", "a"]),
        "end_of_word_suffix": st.sampled_from(["</w>", "a"]),
        "score": st.sampled_from(["frequency", "likelihood", "likelihood-float64"]),
        "initial_tokens": st.lists(st.sampled_from(["ab", "##ab", "é", "zz", "[UNK]"]), max_size=3),
        "forbid": st.lists(st.sampled_from(["aa", "^b", "c$", "[bc]{2}", "^..$"]), max_size=2),
        "tie_break": st.sampled_from([None, "first-seen", "smallest-ids"]),
    },
)


@given(words=WORDS, options=OPTIONS, extra=st.integers(0, 20))
def test_reference_and_core_learn_the_same_pieces(words: Any, options: dict[str, Any], extra: int) -> None:
    initial = len(REFERENCE.train_wordpiece(words, **{**options, "min_frequency": 10_000})[0])
    options = {**options, "vocab_size": initial + extra}
    assert CORE.train_wordpiece(words, **options) == REFERENCE.train_wordpiece(words, **options)


@given(
    vocab=st.lists(st.from_regex(r"(##)?[ab#é]{1,4}", fullmatch=True), max_size=12, unique=True),
    word=st.text("ab#éc", max_size=12),
    options=st.fixed_dictionaries(
        {},
        optional={
            "continuing_subword_prefix": st.sampled_from(["##", "", "a"]),
            "max_input_chars_per_word": st.integers(0, 12),
        },
    ),
)
def test_reference_and_core_cut_words_alike(vocab: list[str], word: str, options: dict[str, Any]) -> None:
    vocab = ["[UNK]", *vocab]
    assert CORE.encode_wordpiece(vocab, word, **options) == REFERENCE.encode_wordpiece(vocab, word, **options)


@given(words=WORDS, vocab_size=st.integers(2, 9), min_frequency=st.integers(0, 9))
def test_reference_and_core_learn_the_same_words(words: Any, vocab_size: int, min_frequency: int) -> None:
    options = {"vocab_size": vocab_size, "min_frequency": min_frequency, "special_tokens": ["<unk>", "ab"]}
    assert CORE.train_wordlevel(words, **options) == REFERENCE.train_wordlevel(words, **options)
