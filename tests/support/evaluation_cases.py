"""Compares the numbers of an evaluation with the reference, text by text."""

from __future__ import annotations

import collections
import itertools
from typing import Any

import pytest

from lexmill import Tokenizer, models, pre_tokenizers
from lexmill.evaluation import CorpusNumbers
from lexmill.reference import evaluation as reference
from lexmill.reports.vocabulary import vocabulary_of


def word_level() -> Tokenizer:
    tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0, "the": 1, "cat": 2, "кот": 3}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    return tokenizer


def plain(tokenizer: Tokenizer) -> Tokenizer:
    own = Tokenizer.from_str(tokenizer.to_str())
    own.encode_special_tokens = tokenizer.encode_special_tokens
    own.post_processor = None
    own.no_truncation()
    own.no_padding()
    return own


def approx(value: float | None) -> Any:
    return None if value is None else pytest.approx(value)


def check(numbers: CorpusNumbers, given: dict[str, Tokenizer], texts: list[str], rule: str) -> None:
    """Compares all numbers of a corpus with the reference; the first tokenizer is the one to compare with."""
    assert (numbers.texts, numbers.sampled_texts) == (len(texts), len(texts))
    assert (numbers.bytes, numbers.characters) == (sum(len(text.encode()) for text in texts), sum(map(len, texts)))
    words_of = reference.white_space_words if rule == "whitespace" else reference.unicode_words
    bounds = []
    totals = []
    for found, tokenizer in zip(numbers.tokenizers, given.values(), strict=True):
        own = plain(tokenizer)
        encodings = [own.encode(text, add_special_tokens=False) for text in texts]
        counts = collections.Counter(id_ for encoding in encodings for id_ in encoding.ids)
        unknown = vocabulary_of(own).unknown
        totals.append(sum(counts.values()))
        assert (found.tokens, found.unknown, found.used) == (
            totals[-1],
            counts[unknown or 0] if unknown is not None else 0,
            len(counts),
        )
        shannon, renyi = reference.shannon_entropy(counts.values()), reference.renyi_entropy(counts.values(), 2.5)
        size = len(set(own.get_vocab().values()))
        assert found.shannon_entropy == approx(shannon)
        assert found.shannon_efficiency == approx(reference.efficiency(shannon, size))
        assert found.renyi_entropy == approx(renyi)
        assert found.renyi_efficiency == approx(reference.efficiency(renyi, size))
        assert found.renyi_efficiency_of_used == approx(reference.efficiency(renyi, len(counts)))
        assert found.nsl == approx(totals[-1] / totals[0] if totals[0] else None)
        assert found.bytes_per_token == approx(numbers.bytes / totals[-1] if totals[-1] else None)
        rows = [
            reference.word_counts(words_of(text), encoding.offsets, [id_ == unknown for id_ in encoding.ids])
            for text, encoding in zip(texts, encodings, strict=True)
        ]
        words = found.words
        assert (words.words, words.continued, words.whole) == tuple(sum(row[at] for row in rows) for at in range(3))
        assert words.continued_share == approx(words.continued / words.words if words.words else None)
        assert words.whole_share == approx(words.whole / words.words if words.words else None)
        assert words.tokens_per_word == approx(totals[-1] / words.words if words.words else None)
        decoded = [own.decode(encoding.ids, skip_special_tokens=False) for encoding in encodings]
        equal = [one == other for one, other in zip(decoded, texts, strict=True)]
        first = equal.index(False) if False in equal else None
        assert (found.round_trip.texts, found.round_trip.equal, found.round_trip.first_different) == (
            len(texts),
            sum(equal),
            first,
        )
        bounds.append([reference.boundaries(text, one.offsets) for text, one in zip(texts, encodings, strict=True)])
    for found, (one, other) in zip(numbers.agreements, itertools.combinations(bounds, 2), strict=True):
        pairs = list(zip(one, other, strict=True))
        assert (found.first_boundaries, found.second_boundaries) == (sum(map(len, one)), sum(map(len, other)))
        assert found.shared == sum(len(left & right) for left, right in pairs)
        assert found.agreement == approx(reference.agreement(pairs))
