"""The numbers of an evaluation, as plain data.

None stands for a number that is not defined, such as a share of nothing. `docs/algorithms/evaluation.md` has the
definitions.
"""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from typing import Any

from lexmill.evaluation.manifest import Manifest
from lexmill.evaluation.table import table_of

__all__ = [
    "Agreement",
    "Candidate",
    "CorpusNumbers",
    "CorpusTokens",
    "Evaluation",
    "Language",
    "Overlap",
    "Parallel",
    "ParallelTokens",
    "RoundTrip",
    "VocabularyNumbers",
    "WordShares",
]


@dataclass(frozen=True)
class WordShares:
    """How many words of the sampled texts are cut.

    Attributes:
        words: words of the texts.
        continued: words that two tokens or more touch.
        whole: words that one token alone touches, unless it is the unknown token. Words that are neither whole nor
            continued have no token, or the unknown token alone.
        continued_share, whole_share: the same as shares of all words.
        tokens_per_word: tokens of the texts divided by words (fertility).
    """

    words: int
    continued: int
    whole: int
    continued_share: float | None
    whole_share: float | None
    tokens_per_word: float | None


@dataclass(frozen=True)
class RoundTrip:
    """The sampled texts, decoded again.

    Attributes:
        texts: how many.
        equal: how many of them came back with the same characters.
        first_different: the number in the corpus, from 0, of the first text that did not.
    """

    texts: int
    equal: int
    first_different: int | None


@dataclass(frozen=True)
class CorpusTokens:
    """The numbers of one tokenizer for one corpus.

    Attributes:
        name: the tokenizer.
        tokens: tokens of the corpus, without special tokens of the post-processor.
        unknown: how many of them stand for unknown text.
        used: distinct tokens among them.
        bytes_per_token: bytes of the corpus divided by tokens.
        shannon_entropy: bits per token.
        shannon_efficiency: the entropy divided by the binary logarithm of the size of the vocabulary.
        renyi_entropy: bits per token, of the order `alpha` that the manifest names.
        renyi_efficiency: this entropy divided by the binary logarithm of the size of the vocabulary.
        renyi_efficiency_of_used: this entropy divided by the binary logarithm of `used`, as in `tokenization-scorer`.
        nsl: tokens divided by the tokens of the reference tokenizer that the manifest names (normalized sequence
            length).
        words: how many words are cut.
        round_trip: how many texts come back.
    """

    name: str
    tokens: int
    unknown: int
    used: int
    bytes_per_token: float | None
    shannon_entropy: float | None
    shannon_efficiency: float | None
    renyi_entropy: float | None
    renyi_efficiency: float | None
    renyi_efficiency_of_used: float | None
    nsl: float | None
    words: WordShares
    round_trip: RoundTrip


@dataclass(frozen=True)
class Agreement:
    """The boundaries between tokens that two tokenizers share in the sampled texts.

    Attributes:
        first, second: the tokenizers.
        first_boundaries, second_boundaries: places between two characters of a text at which a token ends.
        shared: places at which tokens of both end.
        agreement: the shared places as a share of all places of either.
    """

    first: str
    second: str
    first_boundaries: int
    second_boundaries: int
    shared: int
    agreement: float | None


@dataclass(frozen=True)
class CorpusNumbers:
    """The numbers of one corpus.

    Attributes:
        name: the corpus.
        texts, bytes, characters: its size; bytes are of UTF-8.
        sampled_texts: texts that were sampled for words, boundaries and round trips: all, or every n-th one.
        tokenizers: the numbers of each tokenizer.
        agreements: the shared boundaries of each two tokenizers.
    """

    name: str
    texts: int
    bytes: int
    characters: int
    sampled_texts: int
    tokenizers: tuple[CorpusTokens, ...]
    agreements: tuple[Agreement, ...]


@dataclass(frozen=True)
class Language:
    """The size of one file of parallel lines, without line ends."""

    name: str
    bytes: int
    characters: int


@dataclass(frozen=True)
class ParallelTokens:
    """The numbers of one tokenizer for parallel lines.

    Attributes:
        name: the tokenizer.
        tokens: tokens of each language, in their order.
        unknown: how many of them stand for unknown text, which makes a language seem cheap.
        base: the language that premiums compare with.
        premiums: tokens of each language divided by tokens of the base.
        parity: the fewest tokens of a language, divided by the most tokens of a language; 1 if all are equal.
        gini: the inequality of `tokens`, 0 if all are equal.
    """

    name: str
    tokens: tuple[int, ...]
    unknown: tuple[int, ...]
    base: str
    premiums: tuple[float | None, ...]
    parity: float | None
    gini: float | None


@dataclass(frozen=True)
class Parallel:
    """The numbers for the same lines in several languages.

    Attributes:
        lines: lines of each language.
        languages: the languages by name.
        tokenizers: the numbers of each tokenizer.
    """

    lines: int
    languages: tuple[Language, ...]
    tokenizers: tuple[ParallelTokens, ...]


@dataclass(frozen=True)
class Candidate:
    """A token that a model may have learned little of.

    Attributes:
        id: its id.
        token: its spelling.
        kind: `unreachable` if no text gives it, `residue` if it only serves as an intermediate, `unused` if it is just
            not in the corpora. The first of these that holds.
        made: how often merging makes it on the way to the tokens of the corpora; 0 where no merge does.
        reason: the reason why no text gives it, or nothing.
    """

    id: int
    token: str
    kind: str
    made: int
    reason: str


@dataclass(frozen=True)
class VocabularyNumbers:
    """The numbers of one vocabulary, over all corpora.

    Attributes:
        name: the tokenizer.
        model: the kind of its model.
        tokens: tokens of the vocabulary, added tokens included.
        added: added tokens among them.
        partial: tokens that are not whole characters, byte tokens included.
        mixed: tokens among these that have a whole character too.
        residue: tokens that merging makes on the way to tokens of the corpora, and that never remain; None if the model
            does not merge by rank alone, or there is no corpus.
        candidates: tokens that may be under-trained, by id; without special tokens and the unknown token. Without a
            corpus, the unreachable ones alone.
    """

    name: str
    model: str
    tokens: int
    added: int
    partial: int
    mixed: int
    residue: int | None
    candidates: tuple[Candidate, ...]


@dataclass(frozen=True)
class Overlap:
    """The tokens that two vocabularies share, compared by the bytes that they stand for; added tokens are left out.

    Attributes:
        first, second: the tokenizers.
        first_tokens, second_tokens: distinct tokens of each.
        shared: tokens of both.
        overlap: the shared tokens as a share of all tokens of either.
    """

    first: str
    second: str
    first_tokens: int
    second_tokens: int
    shared: int
    overlap: float | None


@dataclass(frozen=True)
class Evaluation:
    """All numbers of an evaluation.

    Attributes:
        corpora: the numbers of each corpus.
        parallel: the numbers for parallel lines; None if there are none.
        vocabularies: the numbers of each vocabulary.
        overlaps: the shared tokens of each two vocabularies.
        manifest: hashes, versions and parameters.
    """

    corpora: tuple[CorpusNumbers, ...]
    parallel: Parallel | None
    vocabularies: tuple[VocabularyNumbers, ...]
    overlaps: tuple[Overlap, ...]
    manifest: Manifest

    def to_dict(self, candidates: int | None = None) -> dict[str, Any]:
        """The numbers as values of JSON.

        Args:
            candidates: how many candidates of each vocabulary to keep at most, all if None; `candidate_count` tells
                how many there are.
        """
        counts = [len(vocabulary.candidates) for vocabulary in self.vocabularies]
        kept = tuple(
            dataclasses.replace(vocabulary, candidates=vocabulary.candidates[:candidates])
            for vocabulary in self.vocabularies
        )
        values = {"version": 1, **dataclasses.asdict(dataclasses.replace(self, vocabularies=kept))}
        for vocabulary, count in zip(values["vocabularies"], counts, strict=True):
            vocabulary["candidate_count"] = count
        return values

    def to_json(self) -> str:
        """The numbers as JSON; the same tokenizers, corpora and versions give the same text."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    def to_table(self) -> str:
        """The main numbers as tables in Markdown."""
        return table_of(self)
