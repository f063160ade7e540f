"""The work that `lexmill.evaluate` and `lexmill.report` share: sums over corpora and lines, then the numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from numbers import Integral

import numpy as np

from lexmill._data.source_names import OneSource
from lexmill.errors import EmptyCorpusError, OptionError
from lexmill.evaluation.formulas import check_alpha
from lexmill.evaluation.manifest import Manifest, ManifestFile, ManifestTokenizer, versions
from lexmill.evaluation.numbers import CorpusNumbers, Evaluation
from lexmill.evaluation.parallel import ParallelFiles
from lexmill.evaluation.sample import Sample
from lexmill.evaluation.tally import CorpusTally
from lexmill.evaluation.vocabulary import overlap, vocabulary_numbers
from lexmill.evaluation.words import Rule, check_rule
from lexmill.reports.given import Given
from lexmill.reports.texts import CorpusFile, Progress
from lexmill.reports.vocabulary import Reach, Vocabulary, reach_of

__all__ = ["Evaluator", "Parameters"]


@dataclass(frozen=True)
class Parameters:
    """The arguments that change numbers, as `lexmill.evaluate` has them."""

    alpha: float = 2.5
    words: Rule = "whitespace"
    reference: str | None = None
    base: str | None = None
    sample_every: int = 16

    def check(self, names: Sequence[str], *, has_parallel: bool) -> None:
        """Checks the arguments for tokenizers of these names.

        Raises:
            OptionError: one is outside its range.
            LexmillError: words are divided by Unicode's rule and `regex` is not installed.
        """
        check_alpha(self.alpha)
        check_rule(self.words)
        if self.reference is not None and self.reference not in names:
            message = f"reference is {self.reference!r} but must be the name of a tokenizer: {', '.join(names)}"
            raise OptionError(message)
        if self.base is not None and not has_parallel:
            message = f"base is {self.base!r} but there are no parallel files, which have the languages"
            raise OptionError(message)
        # Integers of numpy are Integral, not int.
        if not isinstance(self.sample_every, Integral) or self.sample_every < 1:
            message = f"sample_every is {self.sample_every!r} but must be an integer of at least 1"
            raise OptionError(message)


class Evaluator:
    """Measures tokenizers on corpora, one after the other, and on parallel lines."""

    def __init__(
        self,
        given: Sequence[Given],
        vocabularies: Sequence[Vocabulary],
        parameters: Parameters,
        parallel: OneSource | Iterable[OneSource] | None,
    ) -> None:
        """Checks the parameters and finds the files of parallel lines.

        Raises:
            FileError, OptionError, LexmillError: as `lexmill.evaluate` does.
        """
        names = [one.name for one in given]
        parameters.check(names, has_parallel=parallel is not None)
        self.parameters = parameters
        self.parallel = None if parallel is None else ParallelFiles(parallel, parameters.base)
        self._given = given
        self._vocabularies = vocabularies
        self._reference = 0 if parameters.reference is None else names.index(parameters.reference)
        self._corpora: list[CorpusNumbers] = []
        self._files: list[ManifestFile] = []
        self._counts = [np.zeros(len(vocabulary.tokens), np.int64) for vocabulary in vocabularies]

    def begin(self, files: Sequence[CorpusFile], num_threads: int | None) -> CorpusTally:
        """The sums for the next corpus, which has these files."""
        own = self.parameters
        sample = Sample(self._given, self._vocabularies, own.words, own.sample_every)
        return CorpusTally(self._given, self._vocabularies, len(files), sample, num_threads)

    def end(self, corpus: str, files: Sequence[CorpusFile], tally: CorpusTally) -> None:
        """Takes the sums of a corpus, which is read.

        Raises:
            EmptyCorpusError: it has no character.
        """
        if not tally.characters:
            name = "the corpus" if corpus == "corpus" else f"the corpus {corpus!r}"
            message = f"{name} has nothing to measure: {tally.texts} texts without a character in {len(files)} files"
            raise EmptyCorpusError(message)
        self._corpora.append(tally.numbers(corpus, self.parameters.alpha, self._reference))
        self._files += tally.files(corpus, files)
        for counts, more in zip(self._counts, tally.counts, strict=True):
            counts += more

    def reaches(self) -> list[Reach]:
        """For each tokenizer, which tokens texts can give; takes as long as encoding the vocabulary a few times."""
        return [
            reach_of(one.tokenizer, vocabulary, np.flatnonzero(counts).tolist())
            for one, vocabulary, counts in zip(self._given, self._vocabularies, self._counts, strict=True)
        ]

    def finish(self, reaches: Sequence[Reach], num_threads: int | None, progress: Progress) -> Evaluation:
        """Reads the parallel lines, and answers all numbers.

        Raises:
            EmptyCorpusError, FileError, FormatError, InvalidUtf8Error: as `lexmill.evaluate` does.
        """
        parallel = None
        if self.parallel is not None:
            parallel, files = self.parallel.measure(self._given, self._vocabularies, num_threads, progress)
            self._files += files
        vocabularies = [
            vocabulary_numbers(one.name, one.tokenizer, vocabulary, counts if self._corpora else None, reach)
            for one, vocabulary, counts, reach in zip(
                self._given, self._vocabularies, self._counts, reaches, strict=True
            )
        ]
        pairs = combinations(zip(self._given, self._vocabularies, strict=True), 2)
        return Evaluation(
            corpora=tuple(self._corpora),
            parallel=parallel,
            vocabularies=tuple(vocabularies),
            overlaps=tuple(overlap(one.name, other.name, own, others) for (one, own), (other, others) in pairs),
            manifest=self._manifest(),
        )

    def _manifest(self) -> Manifest:
        own = self.parameters
        parameters: dict[str, str | float | None] = {
            # JSON has no infinity.
            "alpha": "infinity" if math.isinf(own.alpha) else own.alpha,
            "words": own.words,
            "reference": self._given[self._reference].name,
            "base": own.base,
            "sample_every": int(own.sample_every),
        }
        tokenizers = [
            ManifestTokenizer(one.name, one.sha256, one.tokenizer.encode_special_tokens) for one in self._given
        ]
        return Manifest(tuple(tokenizers), tuple(self._files), parameters, versions(own.words))
