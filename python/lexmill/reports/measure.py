"""Measures tokenizers on a corpus: one pass over its texts, sums over arrays, memory that does not grow with it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from lexmill._core import Tokenizer, resident_bytes
from lexmill._data.source_names import OneSource
from lexmill._types import OnProgress
from lexmill.errors import EmptyCorpusError, OptionError
from lexmill.reports.curve import curve_of
from lexmill.reports.numbers import Coverage, Group, Lengths, Numbers, TokenCount, TokenizerNumbers
from lexmill.reports.samples import Sampler
from lexmill.reports.scripts import BlockScripts, script_names, scripts_of
from lexmill.reports.texts import Block, CorpusFile, blocks_of, files_of
from lexmill.reports.vocabulary import Vocabulary, reach_of, vocabulary_of

__all__ = ["measure"]

_Ints: TypeAlias = npt.NDArray[np.int64]
_OneTokenizer: TypeAlias = "Tokenizer | str | os.PathLike[str]"

# This many of the most frequent tokens are named, and this many of the tokens that never occur.
_NAMED = 200
# Languages that a report may have: more are rather the texts themselves.
_MOST_LANGUAGES = 10_000


def measure(
    tokenizers: _OneTokenizer | Mapping[str, _OneTokenizer],
    corpus: OneSource | Iterable[OneSource],
    *,
    group_by: str | None = None,
    num_threads: int | None = None,
    on_progress: OnProgress | None = None,
) -> Numbers:
    """Measures one tokenizer, or several of them by name, on a corpus; `lexmill.report` has the arguments."""
    given = tokenizers if isinstance(tokenizers, Mapping) else {_name_of(tokenizers): tokenizers}
    if not given:
        message = "there is no tokenizer to measure"
        raise OptionError(message)
    tallies = [_Tally(name, _plain(tokenizer)) for name, tokenizer in given.items()]
    files = files_of(corpus, group_by)
    groups = _Groups(len(files), len(tallies))
    sampler = Sampler()
    started = time.monotonic()
    total = sum(file.size for file in files) if all(file.size for file in files) else 0
    done = 0
    for block in blocks_of(files):
        scripts = scripts_of(block.texts)
        _sample(sampler, files, block)
        counted = [tally.add(block, scripts, num_threads) for tally in tallies]
        groups.add(block, scripts, counted)
        done += int(scripts.bytes.sum())
        if on_progress is not None:
            known = min(done, total) if total else done
            on_progress("read", known, total, _seconds_left(started, done, total), resident_bytes())
    whole = groups.whole()
    if not whole.bytes:
        message = f"the corpus has nothing to measure: {whole.texts} texts without a character in {len(files)} files"
        raise EmptyCorpusError(message)
    return Numbers(
        corpus=whole,
        files=groups.files([file.name for file in files]),
        languages=None if group_by is None else groups.languages(),
        scripts=groups.scripts([tally.scripts for tally in tallies]),
        tokenizers=tuple(tally.numbers() for tally in tallies),
        samples=sampler.samples([tally.tokenizer for tally in tallies]),
    )


def _seconds_left(started: float, done: int, total: int) -> float | None:
    """Seconds until all bytes are read, at the mean rate; None if the total is not known."""
    return (time.monotonic() - started) * max(0, total - done) / done if total and done else None


def _name_of(tokenizer: _OneTokenizer) -> str:
    return "tokenizer" if isinstance(tokenizer, Tokenizer) else os.fspath(tokenizer)


def _plain(given: _OneTokenizer) -> Tokenizer:
    """The tokenizer without post-processor, truncation and padding, whose offsets hold all of the text.

    Raises:
        OptionError: a stage is written in Python, or the model samples.
    """
    own = given if isinstance(given, Tokenizer) else Tokenizer.from_file(given)
    for option in ("dropout", "alpha"):
        value = getattr(own.model, option, None)
        if value:
            message = f"{option} is {value} but must be None or 0: another run would have other tokens"
            raise OptionError(message)
    if isinstance(given, Tokenizer):
        own = Tokenizer.from_str(given.to_str())
        # The one option that a file does not hold.
        own.encode_special_tokens = given.encode_special_tokens
    own.post_processor = None
    own.no_truncation()
    own.no_padding()
    return own


def _sample(sampler: Sampler, files: Sequence[CorpusFile], block: Block) -> None:
    if block.languages is None:
        sampler.offer(files[block.file].name, block.texts)
        return
    for language in dict.fromkeys(block.languages):
        own = (text for text, other in zip(block.texts, block.languages, strict=True) if other == language)
        sampler.offer(language, list(own)[:_NAMED])


class _Groups:
    """Texts, bytes, characters, words and tokens of files, languages and scripts."""

    def __init__(self, files: int, tokenizers: int) -> None:
        self._files = np.zeros((files, 4 + tokenizers), np.int64)
        self._languages = np.zeros((0, 4 + tokenizers), np.int64)
        self._numbers: dict[str, int] = {}
        self._scripts = np.zeros((len(script_names()), 3), np.int64)

    def add(self, block: Block, scripts: BlockScripts, tokens: Sequence[_Ints]) -> None:
        """Adds a block; `tokens` has the tokens of each text by each tokenizer."""
        ones = np.ones(len(block.texts), np.int64)
        columns = np.stack([ones, scripts.bytes, np.diff(scripts.starts), scripts.words, *tokens], axis=1)
        self._files[block.file] += columns.sum(axis=0)
        self._scripts += np.stack([scripts.script_bytes, scripts.script_characters, scripts.script_words], axis=1)
        if block.languages is None:
            return
        numbers = [self._numbers.setdefault(language, len(self._numbers)) for language in block.languages]
        more = len(self._numbers) - len(self._languages)
        if len(self._numbers) > _MOST_LANGUAGES:
            message = f"the corpus has more than {_MOST_LANGUAGES} languages, as the field given by group_by names them"
            raise OptionError(message)
        self._languages = np.pad(self._languages, ((0, more), (0, 0)))
        np.add.at(self._languages, np.array(numbers), columns)

    def whole(self) -> Group:
        return _group("corpus", self._files.sum(axis=0).tolist())

    def files(self, names: Sequence[str]) -> tuple[Group, ...]:
        return tuple(_group(name, row) for name, row in zip(names, self._files.tolist(), strict=True))

    def languages(self) -> tuple[Group, ...]:
        groups = [_group(name, row) for name, row in zip(self._numbers, self._languages.tolist(), strict=True)]
        return tuple(sorted(groups, key=lambda group: (-group.bytes, group.name)))

    def scripts(self, tokens: Sequence[_Ints]) -> tuple[Group, ...]:
        columns = np.stack([*self._scripts.T, *tokens], axis=1).tolist()
        groups = [
            Group(name, None, row[0], row[1], row[2], tuple(row[3:]))
            for name, row in zip(script_names(), columns, strict=True)
            if any(row)
        ]
        return tuple(sorted(groups, key=lambda group: (-group.bytes, group.name)))


def _group(name: str, row: list[int]) -> Group:
    texts, size, characters, words, *tokens = row
    return Group(name, texts, size, characters, words, tuple(tokens))


class _Tally:
    """The numbers of one tokenizer for the blocks so far."""

    def __init__(self, name: str, tokenizer: Tokenizer) -> None:
        self.name = name
        self.tokenizer = tokenizer
        self.vocabulary: Vocabulary = vocabulary_of(tokenizer)
        self.scripts: _Ints = np.zeros(len(script_names()), np.int64)
        self._counts = np.zeros(len(self.vocabulary.tokens), np.int64)
        self._lengths: dict[int, int] = {}
        self._unknown_characters = 0

    def add(self, block: Block, scripts: BlockScripts, num_threads: int | None) -> _Ints:
        """Encodes a block; answers the tokens of each text."""
        arrays = self.tokenizer.encode_batch_arrays(
            block.texts, add_special_tokens=False, return_offsets=True, num_threads=num_threads
        )
        offsets = arrays.offsets
        assert offsets is not None
        counts = np.diff(arrays.row_splits)
        self._counts += np.bincount(arrays.ids, minlength=len(self._counts))
        for length, count in zip(*np.unique(counts, return_counts=True), strict=True):
            self._lengths[int(length)] = self._lengths.get(int(length), 0) + int(count)
        if self.vocabulary.unknown is not None:
            unknown = offsets[arrays.ids == self.vocabulary.unknown].astype(np.int64)
            self._unknown_characters += int((unknown[:, 1] - unknown[:, 0]).sum())
        if len(scripts.labels):
            # A token belongs to the word of its last character, one without characters to where it stands.
            last = np.maximum(offsets[:, 1].astype(np.int64) - 1, offsets[:, 0])
            last += np.repeat(scripts.starts[:-1], counts)
            labels = scripts.labels[np.minimum(last, len(scripts.labels) - 1)]
            self.scripts += np.bincount(labels, minlength=len(self.scripts))
        return counts

    def numbers(self) -> TokenizerNumbers:
        vocabulary, counts = self.vocabulary, self._counts
        order = np.lexsort((np.arange(len(counts)), -counts))
        used = np.flatnonzero(counts)
        own = [id_ for id_ in vocabulary.ids if id_ not in vocabulary.added]
        reach = reach_of(self.tokenizer, vocabulary, used.tolist())
        sizes = np.array([len(text) for text in vocabulary.texts], np.int64)
        # Bytes 10xxxxxx go on with a character.
        characters = np.array([sum(byte & 0xC0 != 0x80 for byte in text) for text in vocabulary.texts], np.int64)
        ones = np.zeros(len(counts), np.int64)
        ones[own] = 1
        unknown = 0 if vocabulary.unknown is None else int(counts[vocabulary.unknown])
        model = self.tokenizer.model
        return TokenizerNumbers(
            name=self.name,
            model=type(model).__name__,
            vocabulary=len(vocabulary.ids),
            tokens=int(counts.sum()),
            unknown_tokens=unknown,
            unknown_characters=self._unknown_characters,
            byte_tokens=int(counts[sorted(vocabulary.byte_tokens)].sum()),
            part_tokens=sum(int(counts[id_]) for id_ in used.tolist() if vocabulary.is_part_of_character(id_)),
            text_lengths=_lengths(self._lengths),
            token_bytes=_weighted(sizes, ones),
            token_characters=_weighted(characters, ones),
            used_bytes=_weighted(sizes, counts),
            used_characters=_weighted(characters, counts),
            unused=self._named(id_ for id_ in vocabulary.ids if not counts[id_]),
            unreachable=reach.unreachable,
            undecided=self._named(reach.undecided),
            coverage=_coverage(counts[order]),
            most_frequent=self._named(id_ for id_ in order.tolist()[:_NAMED] if counts[id_]),
            curve=curve_of(self.tokenizer, counts),
        )

    def _named(self, ids: Iterable[int]) -> tuple[TokenCount, ...]:
        tokens = self.vocabulary.tokens
        return tuple(TokenCount(id_, tokens[id_] or "", int(self._counts[id_])) for id_ in ids)


def _lengths(counts: Mapping[int, int]) -> Lengths:
    lengths = sorted(counts)
    return Lengths(tuple(lengths), tuple(counts[length] for length in lengths))


def _weighted(lengths: _Ints, counts: npt.NDArray[Any]) -> Lengths:
    """How often each length occurs, if each of `lengths` does `counts` times."""
    found: dict[int, int] = {}
    for length in np.unique(lengths[counts > 0]).tolist():
        found[length] = int(counts[lengths == length].sum())
    return _lengths(found)


def _coverage(counts: _Ints) -> Coverage:
    """The shares of the most frequent tokens, given counts from the highest on."""
    total, sums = int(counts.sum()), np.cumsum(counts)
    used = int((counts > 0).sum())
    ranks = sorted({rank for power in range(7) for step in (1, 2, 5) if (rank := step * 10**power) < used} | {used})
    return Coverage(tuple(ranks), tuple(int(sums[rank - 1]) / total for rank in ranks)) if used else Coverage((), ())
