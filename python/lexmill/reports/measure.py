"""Measures tokenizers on a corpus: one pass over its texts, sums over arrays, memory that does not grow with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from lexmill._core import TokenArrays, Tokenizer
from lexmill._data.source_names import OneSource
from lexmill._types import OnProgress
from lexmill.errors import OptionError
from lexmill.reports.characters import Ints
from lexmill.reports.curve import curve_of
from lexmill.reports.given import OneTokenizer, given_tokenizers
from lexmill.reports.numbers import Coverage, Group, Lengths, Numbers, TokenCount, TokenizerNumbers
from lexmill.reports.samples import Sampler
from lexmill.reports.scripts import BlockScripts, TextRanges, script_names, scripts_of
from lexmill.reports.texts import Block, CorpusFile, Progress, blocks_of, files_of
from lexmill.reports.vocabulary import Reach, Vocabulary, vocabulary_of

if TYPE_CHECKING:
    from lexmill.evaluation.portions import Portion
    from lexmill.evaluation.words import Rule

__all__ = ["measure"]

# This many of the most frequent tokens are named, and this many of the tokens that never occur.
_NAMED = 200
# Languages that a report may have: a field with more values rather holds the texts themselves.
_MOST_LANGUAGES = 10_000
# Texts with fewer tokens are counted in an array.
_FEW_TOKENS = 1 << 12


def measure(
    tokenizers: OneTokenizer | Mapping[str, OneTokenizer],
    corpus: OneSource | Iterable[OneSource],
    *,
    group_by: str | None = None,
    parallel: OneSource | Iterable[OneSource] | None = None,
    base: str | None = None,
    alpha: float = 2.5,
    words: Rule = "whitespace",
    sample_every: int = 16,
    num_threads: int | None = None,
    on_progress: OnProgress | None = None,
) -> Numbers:
    """Measures one tokenizer, or several of them by name, on a corpus; `lexmill.report` has the arguments."""
    # Its modules import others of this package.
    from lexmill.evaluation.evaluator import Evaluator, Parameters

    given = given_tokenizers(tokenizers)
    tallies = [_Tally(at, one.name, one.tokenizer, num_threads) for at, one in enumerate(given)]
    files = files_of(corpus, group_by)
    parameters = Parameters(alpha=alpha, words=words, base=base, sample_every=sample_every)
    evaluator = Evaluator(given, [tally.vocabulary for tally in tallies], parameters, parallel)
    sums = evaluator.begin(files, num_threads)
    groups = _Groups(len(files), len(tallies))
    sampler = Sampler()
    progress = Progress([*files, *(evaluator.parallel.files if evaluator.parallel else [])], on_progress)
    for block in blocks_of(files):
        scripts = scripts_of(block.texts)
        _sample(sampler, files, block)
        portions = sums.encode(block, scripts.ranges)
        counted = [tally.add(portions, scripts) for tally in tallies]
        groups.add(block, scripts, counted)
        progress.add(sums.add(block, portions))
    evaluator.end("corpus", files, sums)
    reaches = evaluator.reaches()
    return Numbers(
        corpus=groups.whole(),
        files=groups.files([file.name for file in files]),
        languages=None if group_by is None else groups.languages(),
        scripts=groups.scripts([tally.scripts for tally in tallies]),
        tokenizers=tuple(
            tally.numbers(counts, reach) for tally, counts, reach in zip(tallies, sums.counts, reaches, strict=True)
        ),
        samples=sampler.samples([tally.tokenizer for tally in tallies]),
        evaluation=evaluator.finish(reaches, num_threads, progress),
    )


def _sample(sampler: Sampler, files: Sequence[CorpusFile], block: Block) -> None:
    languages = block.languages or [files[block.file].name] * len(block.texts)
    for language in filter(sampler.wants, dict.fromkeys(languages)):
        is_own = np.array([other == language for other in languages])
        sampler.offer(language, list(block.texts.chosen(is_own)))


class _Groups:
    """Texts, bytes, characters, words and tokens of files, languages and scripts."""

    def __init__(self, files: int, tokenizers: int) -> None:
        self._files = np.zeros((files, 4 + tokenizers), np.int64)
        self._languages = np.zeros((0, 4 + tokenizers), np.int64)
        self._numbers: dict[str, int] = {}
        self._scripts = np.zeros((len(script_names()), 3), np.int64)

    def add(self, block: Block, scripts: BlockScripts, tokens: Sequence[Ints]) -> None:
        """Adds a block; `tokens` has the tokens of each text by each tokenizer."""
        ones = np.ones(len(block.texts), np.int64)
        columns = np.stack([ones, scripts.bytes, scripts.characters, scripts.words, *tokens], axis=1)
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

    def scripts(self, tokens: Sequence[Ints]) -> tuple[Group, ...]:
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

    def __init__(self, at: int, name: str, tokenizer: Tokenizer, num_threads: int | None) -> None:
        self.name = name
        self.tokenizer = tokenizer
        # The place of the tokenizer among all.
        self._at = at
        self._num_threads = num_threads
        self.vocabulary: Vocabulary = vocabulary_of(tokenizer)
        self.scripts: Ints = np.zeros(len(script_names()), np.int64)
        # How many texts have each number of tokens; most have few.
        self._lengths: Ints = np.zeros(_FEW_TOKENS, np.int64)
        self._long_lengths: Counter[int] = Counter()
        self._unknown_characters = 0

    def add(self, portions: Sequence[Portion], scripts: BlockScripts) -> Ints:
        """Adds the tokens of a block; answers the tokens of each text."""
        counts = np.zeros(len(scripts.words), np.int64)
        for portion in portions:
            arrays = portion.encoded[self._at]
            counts[portion.numbers] = np.diff(arrays.row_splits)
            if portion.ranges is None:
                self._add_located(portion.numbers, arrays, scripts)
            else:
                self._add_ranges(portion, portion.ranges, scripts)
        is_long = counts >= len(self._lengths)
        self._lengths += np.bincount(counts[~is_long], minlength=len(self._lengths))
        self._long_lengths.update(counts[is_long].tolist())
        return counts

    def _add_ranges(self, portion: Portion, ranges: TextRanges, scripts: BlockScripts) -> None:
        """Adds the tokens of texts without offsets; locates the tokens of texts for which this is not enough."""
        arrays, (firsts, unknown) = portion.encoded[self._at], portion.told[self._at]
        sizes = np.diff(ranges.splits)
        is_located = unknown < 0
        is_located[np.searchsorted(ranges.splits, np.flatnonzero(firsts < 0), side="right") - 1] = True
        self._unknown_characters += int(unknown[~is_located].sum())
        ends = np.append(firsts[1:], 0)
        has_text = sizes > 0
        ends[ranges.splits[1:][has_text] - 1] = arrays.row_splits[1:][has_text]
        # Weights are float64, which holds the sums of a block exactly.
        counts = np.where(np.repeat(is_located, sizes), 0, ends - firsts)
        self.scripts += np.bincount(ranges.scripts, counts, len(self.scripts)).astype(np.int64)
        if is_located.any():
            located = self.tokenizer.encode_batch_arrays(
                portion.texts.chosen(is_located),
                add_special_tokens=False,
                return_offsets=True,
                num_threads=self._num_threads,
            )
            self._add_located(portion.numbers[is_located], located, scripts)

    def _add_located(self, numbers: Ints, arrays: TokenArrays, scripts: BlockScripts) -> None:
        """Adds the tokens of the texts of these numbers in the block to the scripts of their words."""
        assert arrays.offsets is not None
        counts = np.diff(arrays.row_splits)
        starts, ends = scripts.text_starts[numbers], scripts.text_starts[numbers + 1]
        # A token belongs to the word of its last character, a token without characters to the word at its place. Tokens
        # of a text without characters belong to no word.
        last = np.maximum(arrays.offsets[:, 1].astype(np.int64) - 1, arrays.offsets[:, 0])
        last = np.minimum(last + np.repeat(starts, counts), np.repeat(ends - 1, counts))
        ranges = np.searchsorted(scripts.starts, last[np.repeat(starts < ends, counts)], side="right") - 1
        self.scripts += np.bincount(scripts.ranges.scripts[ranges], minlength=len(self.scripts))
        if self.vocabulary.unknown is not None:
            places = np.flatnonzero(arrays.ids == self.vocabulary.unknown)
            begins, ends = arrays.offsets[places].astype(np.int64).T
            self._unknown_characters += int((ends - begins).sum())

    def numbers(self, counts: Ints, reach: Reach) -> TokenizerNumbers:
        """The numbers, given how often each id occurs."""
        vocabulary = self.vocabulary
        order = np.lexsort((np.arange(len(counts)), -counts))
        own = [id_ for id_ in vocabulary.ids if id_ not in vocabulary.added]
        sizes = np.array([len(text) for text in vocabulary.texts], np.int64)
        # Bytes 10xxxxxx continue a character.
        begins = (np.frombuffer(b"".join(vocabulary.texts), np.uint8) & 0xC0) != 0x80
        characters = np.diff(np.append(0, np.cumsum(begins))[np.append(0, np.cumsum(sizes))])
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
            part_tokens=int(counts[sorted(vocabulary.partial)].sum()),
            text_lengths=_lengths(self._long_lengths | Counter(dict(enumerate(self._lengths.tolist())))),
            token_bytes=_weighted(sizes, ones),
            token_characters=_weighted(characters, ones),
            used_bytes=_weighted(sizes, counts),
            used_characters=_weighted(characters, counts),
            unused=_named(vocabulary, counts, (id_ for id_ in vocabulary.ids if not counts[id_])),
            unreachable=reach.unreachable,
            undecided=_named(vocabulary, counts, reach.undecided),
            coverage=_coverage(counts[order]),
            most_frequent=_named(vocabulary, counts, (id_ for id_ in order.tolist()[:_NAMED] if counts[id_])),
            curve=curve_of(self.tokenizer, vocabulary, counts),
        )


def _named(vocabulary: Vocabulary, counts: Ints, ids: Iterable[int]) -> tuple[TokenCount, ...]:
    return tuple(TokenCount(id_, vocabulary.tokens[id_] or "", int(counts[id_])) for id_ in ids)


def _lengths(counts: Mapping[int, int]) -> Lengths:
    lengths = sorted(length for length, count in counts.items() if count)
    return Lengths(tuple(lengths), tuple(counts[length] for length in lengths))


def _weighted(lengths: Ints, counts: Ints) -> Lengths:
    """How often each length occurs, if each of `lengths` does `counts` times."""
    # Weights are float64, which is exact for sums below 2^53.
    sums = np.bincount(lengths, counts).astype(np.int64)
    found = np.flatnonzero(sums)
    return Lengths(tuple(found.tolist()), tuple(sums[found].tolist()))


def _coverage(counts: Ints) -> Coverage:
    """The shares of the most frequent tokens, given counts from the highest on."""
    total, sums = int(counts.sum()), np.cumsum(counts)
    used = int((counts > 0).sum())
    ranks = sorted({rank for power in range(7) for step in (1, 2, 5) if (rank := step * 10**power) < used} | {used})
    return Coverage(tuple(ranks), tuple(int(sums[rank - 1]) / total for rank in ranks)) if used else Coverage((), ())
