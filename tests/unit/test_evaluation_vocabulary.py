"""Numbers of vocabularies: intermediates of merging, damaged characters, candidates, overlaps."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lexmill
from evaluation_cases import word_level
from lexmill import AddedToken, Tokenizer, models, pre_tokenizers
from lexmill.evaluation.vocabulary import made_counts, overlap
from lexmill.reference import evaluation as reference
from lexmill.reports.vocabulary import vocabulary_of
from report_cases import ALL, byte_level, unigram, whitespace_bpe, without_pre_tokenizer, wordpiece, write_corpus
from small import byte_level as small_byte_level
from small import letters


def numbers_of(tokenizer: Tokenizer, folder: Path, text: str) -> Any:
    (folder / "corpus.txt").write_text(text, encoding="utf-8")
    return lexmill.evaluate(tokenizer, folder / "corpus.txt").vocabularies[0]


def listed(numbers: Any) -> list[tuple[str, str, int]]:
    return [(one.token, one.kind, one.made) for one in numbers.candidates]


def test_intermediates_that_never_remain(tmp_path: Path) -> None:
    # abc is made of ab, abcd of abc: ab and abc only serve as intermediates, until a text has one alone.
    tokenizer = letters("abcd", ("a", "b"), ("ab", "c"), ("abc", "d"), ("d", "a"))
    numbers = numbers_of(tokenizer, tmp_path, "abcd abcd a b\n")
    assert numbers.residue == 2
    assert listed(numbers) == [
        ("c", "unused", 0),
        ("d", "unused", 0),
        ("ab", "residue", 2),
        ("abc", "residue", 2),
        ("da", "unused", 0),
    ]
    assert numbers_of(tokenizer, tmp_path, "abcd abc ab a b c d da\n").residue == 0


def test_unreachable_tokens_come_first_and_say_why(tmp_path: Path) -> None:
    # `abc` is listed by a merge of `a` and `bc`, which no text has: `ab` is merged before.
    tokenizer = letters("abc", ("a", "b"), ("b", "c"), ("a", "bc"))
    numbers = numbers_of(tokenizer, tmp_path, "ab c a b\n")
    assert listed(numbers) == [("bc", "unused", 0), ("abc", "unreachable", 0)]
    assert numbers.candidates[1].reason == "merging makes other tokens of its text"


def test_special_and_unknown_tokens_are_no_candidates_and_other_added_ones_are(tmp_path: Path) -> None:
    tokenizer = word_level()
    tokenizer.add_special_tokens(["<s>"])
    tokenizer.add_tokens([AddedToken("<reserved>")])
    numbers = numbers_of(tokenizer, tmp_path, "the cat\n")
    assert (numbers.added, numbers.tokens, numbers.residue) == (2, 6, None)
    assert listed(numbers) == [("кот", "unused", 0), ("<reserved>", "unused", 0)]


@pytest.mark.parametrize("make", [unigram, wordpiece], ids=lambda make: make.__name__)
def test_models_without_ranks_have_no_residue(make: Any, tmp_path: Path) -> None:
    numbers = numbers_of(make(), tmp_path, "the cat\n")
    assert numbers.residue is None
    assert {one.kind for one in numbers.candidates} <= {"unused", "unreachable"}


@given(
    st.lists(
        st.tuples(st.text("ab", min_size=1, max_size=3), st.text("ab", min_size=1, max_size=3)), min_size=1, max_size=9
    ),
    st.lists(st.text("ab ", max_size=12), max_size=4),
)
def test_made_counts_match_reference(merges: list[tuple[str, str]], texts: list[str]) -> None:
    made = {left + right for left, right in merges}
    merges = [pair for pair in dict.fromkeys(merges) if all(part in made or len(part) == 1 for part in pair)]
    tokens = dict.fromkeys(["a", "b", *itertools.chain(*((left, right, left + right) for left, right in merges))])
    vocab = {token: id_ for id_, token in enumerate(tokens)}
    if any(part not in vocab for pair in merges for part in pair):
        return
    tokenizer = Tokenizer(models.BPE(vocab, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    counts = np.zeros(len(vocab), np.int64)
    for text in texts:
        np.add.at(counts, tokenizer.encode(text).ids, 1)
    expected = reference.made_counts({token: int(counts[id_]) for token, id_ in vocab.items()}, merges)
    found = made_counts(vocabulary_of(tokenizer), counts)
    assert found is not None
    assert {token: int(found[id_]) for token, id_ in vocab.items()} == {token: expected[token] for token in vocab}


def test_tokens_that_are_not_whole_characters() -> None:
    # é is C3 A9 and whole, E6 9D begins 東 (E6 9D B1), and `a` with C3 has a whole character and a part of another.
    tokenizer = small_byte_level(("Ã", "©"), ("æ", "Ŀ"), ("a", "Ã"))
    numbers = lexmill.evaluate(tokenizer).vocabularies[0]
    # Bytes 80 to FF are parts of characters, or in no text of UTF-8.
    assert (numbers.tokens, numbers.partial, numbers.mixed) == (259, 128 + 2, 1)


@pytest.mark.parametrize("make", [*ALL, word_level], ids=lambda make: make.__name__)
def test_damaged_tokens_match_reference(make: Any) -> None:
    tokenizer = make()
    vocabulary = vocabulary_of(tokenizer)
    numbers = lexmill.evaluate(tokenizer).vocabularies[0]
    assert numbers.partial == reference.partial(vocabulary.texts)
    assert (numbers.partial > 0) == (make in (byte_level, without_pre_tokenizer))


def test_overlaps_compare_bytes(tmp_path: Path) -> None:
    write_corpus(tmp_path)
    # ▁the, Ġthe and the with a blank before it are the same bytes; ##the has no blank.
    one = Tokenizer(models.Unigram([("▁the", -1.0), ("cat", -1.0)], 0))
    one.pre_tokenizer = pre_tokenizers.Metaspace()
    other = Tokenizer(models.BPE({"Ġthe": 0, "c": 1, "a": 2}, []))
    other.pre_tokenizer = pre_tokenizers.ByteLevel()
    other.add_tokens(["cat"])
    found = overlap("one", "other", vocabulary_of(one), vocabulary_of(other))
    assert (found.first_tokens, found.second_tokens, found.shared, found.overlap) == (2, 3, 1, 1 / 4)
    same = lexmill.evaluate({"a": whitespace_bpe(), "b": whitespace_bpe()}).overlaps[0]
    assert same.overlap == 1
