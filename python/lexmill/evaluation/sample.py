"""The numbers that need single texts: words that are cut, boundaries of tokens, round trips.

Small corpora are measured whole, others by every n-th text: offsets and decoding take several times as long as
encoding.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from lexmill._core import TokenArrays, Tokenizer
from lexmill.evaluation.formulas import ratio
from lexmill.evaluation.numbers import Agreement, RoundTrip, WordShares
from lexmill.evaluation.portions import Portion
from lexmill.evaluation.words import Rule, count_words, words_by
from lexmill.reports.characters import Bools, Characters, Ints, Words, characters_of
from lexmill.reports.given import Given
from lexmill.reports.texts import Block
from lexmill.reports.vocabulary import Vocabulary

__all__ = ["Sample", "Sums"]

# Characters up to which a corpus is measured whole.
_WHOLE = 1 << 20


class Sample:
    """Every n-th text of a corpus, or all if there are few."""

    def __init__(
        self,
        given: Sequence[Given],
        vocabularies: Sequence[Vocabulary],
        rule: Rule,
        every: int,
    ) -> None:
        """Has no text yet."""
        self._every = every
        # Texts before the block that was chosen from last, texts with this block, and their characters.
        self._first = self._texts = self._characters = 0
        # The sums of each n-th text, and of the texts between them until there are too many.
        unknown = [vocabulary.unknown for vocabulary in vocabularies]
        tokenizers = [one.tokenizer for one in given]
        self._chosen = Sums(tokenizers, unknown, rule)
        self._others: Sums | None = Sums(tokenizers, unknown, rule)

    def choose(self, block: Block) -> tuple[Bools, Bools]:
        """For each text of the next block: is it an n-th one of the corpus; and is it another one to look at?"""
        self._first = self._texts
        texts = len(block.texts)
        self._texts += texts
        self._characters += block.characters
        if self._characters > _WHOLE:
            self._others = None
        chosen = np.zeros(texts, np.bool_)
        chosen[-self._first % self._every :: self._every] = True
        return chosen, ~chosen if self._others is not None else np.zeros(texts, np.bool_)

    def add(self, chosen: Portion, others: Portion) -> None:
        """Adds these texts, encoded with offsets."""
        self._chosen.add(chosen, self._first)
        if self._others is not None:
            self._others.add(others, self._first)

    @property
    def sums(self) -> Sums:
        """The sums, once all texts are there."""
        if self._others is not None:
            self._chosen.merge(self._others)
            self._others = None
        return self._chosen


class Sums:
    """The sums of all tokenizers over some texts.

    Attributes:
        texts: how many texts.
    """

    def __init__(self, tokenizers: Sequence[Tokenizer], unknown: Sequence[int | None], rule: Rule) -> None:
        """Has no text yet."""
        self.texts = 0
        self._tokenizers = tokenizers
        self._unknown = unknown
        self._rule: Rule = rule
        self._pairs = list(combinations(range(len(tokenizers)), 2))
        # For each tokenizer: tokens, words, words that are continued, that are whole, boundaries, texts that come back.
        self._sums = np.zeros((len(tokenizers), 6), np.int64)
        self._shared = np.zeros(len(self._pairs), np.int64)
        self._different: list[int | None] = [None] * len(tokenizers)

    def add(self, portion: Portion, first: int) -> None:
        """Adds texts of the block that begins with the text of the number `first` in the corpus."""
        texts = list(portion.texts)
        if not texts:
            return
        characters = characters_of(texts)
        words = words_by(self._rule, texts, characters)
        ends = []
        for at, (tokenizer, arrays) in enumerate(zip(self._tokenizers, portion.encoded, strict=True)):
            counted, ends_at = _look(characters, words, arrays, self._unknown[at])
            different = tokenizer._undecoded(portion.texts, arrays.ids, arrays.row_splits)
            self._sums[at] += [len(arrays.ids), *counted, np.count_nonzero(ends_at), len(texts) - len(different)]
            numbers = (first + int(portion.numbers[row]) for row in different[:1])
            self._different[at] = _least(self._different[at], *numbers)
            ends.append(ends_at)
        for at, (first, second) in enumerate(self._pairs):
            self._shared[at] += np.count_nonzero(ends[first] & ends[second])
        self.texts += len(texts)

    def merge(self, others: Sums) -> None:
        """Adds the sums of other texts."""
        self.texts += others.texts
        self._sums += others._sums
        self._shared += others._shared
        self._different = [_least(*both) for both in zip(self._different, others._different, strict=True)]

    def words(self, at: int) -> WordShares:
        """How many words the tokenizer cuts."""
        tokens, words, continued, whole, *_ = self._sums[at].tolist()
        return WordShares(words, continued, whole, ratio(continued, words), ratio(whole, words), ratio(tokens, words))

    def round_trip(self, at: int) -> RoundTrip:
        """How many texts come back from the tokenizer."""
        return RoundTrip(self.texts, int(self._sums[at, 5]), self._different[at])

    def agreements(self, names: Sequence[str]) -> tuple[Agreement, ...]:
        """The boundaries that each two tokenizers share."""
        found = []
        for (first, second), shared in zip(self._pairs, self._shared.tolist(), strict=True):
            one, other = int(self._sums[first, 4]), int(self._sums[second, 4])
            both = ratio(shared, one + other - shared)
            found.append(Agreement(names[first], names[second], one, other, shared, both))
        return tuple(found)


def _look(
    characters: Characters, words: Words, arrays: TokenArrays, unknown: int | None
) -> tuple[tuple[int, int, int], Bools]:
    """The words that tokens cut, and for each place before a character, and the end, True if a token ends there.

    Borders of texts are no such places.
    """
    offsets = arrays.offsets
    assert offsets is not None
    shifts = np.repeat(characters.starts[:-1], np.diff(arrays.row_splits))
    begins: Ints = offsets[:, 0] + shifts
    ends: Ints = offsets[:, 1] + shifts
    is_unknown = None if unknown is None else arrays.ids == unknown
    has_text = begins < ends
    if not has_text.all():
        begins, ends = begins[has_text], ends[has_text]
        is_unknown = None if is_unknown is None else is_unknown[has_text]
    ends_at = np.zeros(len(characters.codes) + 1, np.bool_)
    ends_at[ends] = True
    ends_at[characters.starts] = False
    return count_words(words, begins, ends, is_unknown), ends_at


def _least(*numbers: int | None) -> int | None:
    return min((number for number in numbers if number is not None), default=None)
