"""The sums of an evaluation over the blocks of one corpus."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lexmill.evaluation.formulas import efficiency, ratio, renyi_entropy, shannon_entropy
from lexmill.evaluation.manifest import ManifestFile, Seal
from lexmill.evaluation.numbers import CorpusNumbers, CorpusTokens
from lexmill.evaluation.portions import Portion, encode_portion, portion_by_ranges
from lexmill.evaluation.sample import Sample, Sums
from lexmill.reports.characters import Ints
from lexmill.reports.given import Given
from lexmill.reports.scripts import TextRanges
from lexmill.reports.texts import Block, CorpusFile
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

    def encode(self, block: Block, ranges: TextRanges | None = None) -> list[Portion]:
        """Encodes the next block, each text once: with offsets if it is sampled, else with `ranges` if there are any.

        Raises:
            VocabError: a model has no token for a word and no unknown token.
        """
        chosen, others = self._sample.choose(block)
        rest = ~(chosen | others)
        tokenizers, texts, threads = [one.tokenizer for one in self._given], block.texts, self._num_threads
        plain = [(chosen, True), (others, True), *([(rest, False)] if ranges is None else [])]
        portions = [
            encode_portion(tokenizers, texts, own, return_offsets=with_offsets, num_threads=threads)
            for own, with_offsets in plain
        ]
        if ranges is not None:
            unknown = [vocabulary.unknown for vocabulary in self._vocabularies]
            both = list(zip(tokenizers, unknown, strict=True))
            portions.append(portion_by_ranges(both, texts, rest, ranges, threads))
        return portions

    def add(self, block: Block, portions: Sequence[Portion]) -> int:
        """Adds a block of texts of one file, encoded by `encode`; answers their bytes in UTF-8."""
        size = self._seals[block.file].add(block.texts)
        for at, counts in enumerate(self.counts):
            ids = np.concatenate([portion.encoded[at].ids for portion in portions])
            counts += np.bincount(ids, minlength=len(counts))
        self._sample.add(*portions[:2])
        self.texts += len(block.texts)
        self.characters += block.characters
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
