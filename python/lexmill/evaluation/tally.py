"""The sums of an evaluation over the blocks of one corpus."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lexmill.evaluation.formulas import efficiency, ratio, renyi_entropy, shannon_entropy
from lexmill.evaluation.manifest import ManifestFile, Seal
from lexmill.evaluation.numbers import CorpusNumbers, CorpusTokens
from lexmill.evaluation.portions import Portion, encode_portion
from lexmill.evaluation.sample import Sample, Sums
from lexmill.reports.characters import Bools, Ints
from lexmill.reports.given import Given
from lexmill.reports.texts import CorpusFile
from lexmill.reports.vocabulary import Vocabulary

__all__ = ["CorpusTally"]


class CorpusTally:
    """The sums of all tokenizers for the blocks of a corpus so far."""

    def __init__(
        self,
        given: Sequence[Given],
        vocabularies: Sequence[Vocabulary],
        files: int,
        sample: Sample,
        num_threads: int | None,
    ) -> None:
        """Has no text yet."""
        self.counts: list[Ints] = [np.zeros(len(vocabulary.tokens), np.int64) for vocabulary in vocabularies]
        self.texts = self.characters = 0
        self._bytes = 0
        self._given = given
        self._vocabularies = vocabularies
        self._seals = [Seal() for _ in range(files)]
        self._sample = sample
        self._num_threads = num_threads

    def encode(self, texts: Sequence[str], located: Bools | None = None) -> list[Portion]:
        """Encodes the next block, each text once: with offsets if it is sampled, or `located` is true for it.

        Raises:
            VocabError: a model has no token for a word and no unknown token.
        """
        chosen, others = self._sample.choose(texts)
        rest = ~(chosen | others)
        located = np.zeros_like(rest) if located is None else located & rest
        tokenizers = [one.tokenizer for one in self._given]
        return [
            encode_portion(tokenizers, texts, own, return_offsets=with_offsets, num_threads=self._num_threads)
            for own, with_offsets in ((chosen, True), (others, True), (located, True), (rest & ~located, False))
        ]

    def add(self, file: int, texts: Sequence[str], portions: Sequence[Portion]) -> int:
        """Adds a block of texts of one file, encoded by `encode`; answers their bytes in UTF-8."""
        size = self._seals[file].add(texts)
        for at, counts in enumerate(self.counts):
            ids = np.concatenate([portion.encoded[at].ids for portion in portions])
            counts += np.bincount(ids, minlength=len(counts))
        self._sample.add(*portions[:2])
        self.texts += len(texts)
        self.characters += sum(map(len, texts))
        self._bytes += size
        return size

    def files(self, corpus: str, files: Sequence[CorpusFile]) -> list[ManifestFile]:
        """The files, for the manifest."""
        return [seal.file(corpus, file.name) for seal, file in zip(self._seals, files, strict=True)]

    def numbers(self, corpus: str, alpha: float, reference: int) -> CorpusNumbers:
        """The numbers; `reference` is the tokenizer that lengths are compared with."""
        sums = self._sample.sums
        of = int(self.counts[reference].sum())
        return CorpusNumbers(
            name=corpus,
            texts=self.texts,
            bytes=self._bytes,
            characters=self.characters,
            sampled_texts=sums.texts,
            tokenizers=tuple(self._tokens(at, alpha, of, sums) for at in range(len(self._given))),
            agreements=sums.agreements([one.name for one in self._given]),
        )

    def _tokens(self, at: int, alpha: float, of: int, sums: Sums) -> CorpusTokens:
        counts, vocabulary = self.counts[at], self._vocabularies[at]
        tokens, used, size = int(counts.sum()), int(np.count_nonzero(counts)), len(vocabulary.ids)
        shannon, renyi = shannon_entropy(counts), renyi_entropy(counts, alpha)
        return CorpusTokens(
            name=self._given[at].name,
            tokens=tokens,
            unknown=0 if vocabulary.unknown is None else int(counts[vocabulary.unknown]),
            used=used,
            bytes_per_token=ratio(self._bytes, tokens),
            shannon_entropy=shannon,
            shannon_efficiency=efficiency(shannon, size),
            renyi_entropy=renyi,
            renyi_efficiency=efficiency(renyi, size),
            renyi_efficiency_of_used=efficiency(renyi, used),
            nsl=ratio(tokens, of),
            words=sums.words(at),
            round_trip=sums.round_trip(at),
        )
