"""Tokens of the same lines in several languages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import PurePath

import numpy as np

from lexmill._data.source_names import OneSource
from lexmill.errors import EmptyCorpusError, FormatError, OptionError
from lexmill.evaluation.formulas import gini, ratio
from lexmill.evaluation.manifest import ManifestFile, Seal
from lexmill.evaluation.numbers import Language, Parallel, ParallelTokens
from lexmill.reports.given import Given
from lexmill.reports.texts import CorpusFile, Progress, blocks_of, files_of
from lexmill.reports.vocabulary import Vocabulary

__all__ = ["ParallelFiles"]


class ParallelFiles:
    """Files of parallel lines, one a language."""

    def __init__(self, parallel: OneSource | Iterable[OneSource], base: str | None) -> None:
        """Finds the files. A language is named by its file, up to the first dot of the name.

        Raises:
            FileError: the folder has no files.
            OptionError: there is no file, two are of one language, or none is of the language `base`.
        """
        self.files: list[CorpusFile] = files_of(parallel, None)
        if not self.files:
            message = "parallel has no file but must have one for each language"
            raise OptionError(message)
        self.languages = [PurePath(file.name).name.partition(".")[0] for file in self.files]
        for at, language in enumerate(self.languages):
            if language in self.languages[:at]:
                first = self.files[self.languages.index(language)].name
                message = f"parallel has two files of the language {language}: {first} and {self.files[at].name}"
                raise OptionError(message)
        if base is not None and base not in self.languages:
            message = f"base is {base!r} but must be a language of parallel: {', '.join(self.languages)}"
            raise OptionError(message)
        self._base = base

    def measure(
        self,
        given: Sequence[Given],
        vocabularies: Sequence[Vocabulary],
        num_threads: int | None,
        progress: Progress,
    ) -> tuple[Parallel, list[ManifestFile]]:
        """Reads all files.

        Raises:
            EmptyCorpusError: no file has a line with a character.
            FormatError: the files have different numbers of lines.
        """
        unknown = [vocabulary.unknown for vocabulary in vocabularies]
        # For each language bytes and characters, then tokens and unknown ones by each tokenizer.
        sums = np.zeros((len(self.files), 2 + 2 * len(given)), np.int64)
        lines = [0] * len(self.files)
        seals = [Seal() for _ in self.files]
        for block in blocks_of(self.files):
            size = seals[block.file].add(block.texts)
            texts = [text.removesuffix("\n").removesuffix("\r") for text in block.texts]
            row = [len("".join(texts).encode()), sum(map(len, texts))]
            for one, id_ in zip(given, unknown, strict=True):
                ids = one.tokenizer.encode_batch_arrays(texts, add_special_tokens=False, num_threads=num_threads).ids
                row += [len(ids), 0 if id_ is None else int(np.count_nonzero(ids == id_))]
            sums[block.file] += row
            lines[block.file] += len(texts)
            progress.add(size)
        self._check(lines, int(sums[:, 1].sum()))
        sizes, counts = sums[:, :2].tolist(), sums[:, 2:]
        parallel = Parallel(
            lines=lines[0],
            languages=tuple(Language(name, *size) for name, size in zip(self.languages, sizes, strict=True)),
            tokenizers=tuple(
                self._tokens(one.name, counts[:, 2 * at].tolist(), counts[:, 2 * at + 1].tolist())
                for at, one in enumerate(given)
            ),
        )
        return parallel, [seal.file(None, file.name) for seal, file in zip(seals, self.files, strict=True)]

    def _check(self, lines: Sequence[int], characters: int) -> None:
        for file, count in zip(self.files, lines, strict=True):
            if count != lines[0]:
                message = (
                    f"{file.name} has {count} lines but must have {lines[0]} as {self.files[0].name}, since line n of "
                    "each file of parallel is the same sentence"
                )
                raise FormatError(message)
        if not characters:
            message = f"parallel has nothing to measure: {lines[0]} lines without a character in {len(lines)} files"
            raise EmptyCorpusError(message)

    def _tokens(self, name: str, tokens: list[int], unknown: list[int]) -> ParallelTokens:
        base = self.languages.index(self._base) if self._base is not None else tokens.index(min(tokens))
        return ParallelTokens(
            name=name,
            tokens=tuple(tokens),
            unknown=tuple(unknown),
            base=self.languages[base],
            premiums=tuple(ratio(count, tokens[base]) for count in tokens),
            parity=ratio(min(tokens), max(tokens)),
            gini=gini(tokens),
        )
