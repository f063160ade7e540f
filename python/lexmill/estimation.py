"""Estimates the time to count the words of a corpus and the memory to train on them, from a sample."""

from __future__ import annotations

import heapq
import itertools
import math
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lexmill._data.corpus_warnings import warn_of_skipped
from lexmill._data.file_names import is_compressed, size_of
from lexmill._data.source_names import OneSource, Reading, sources_of
from lexmill._data.word_counts import count_words
from lexmill.decoders import ByteLevel
from lexmill.errors import EmptyCorpusError, FileError, OptionError
from lexmill.sources import Files, JsonLines, Lines

if TYPE_CHECKING:
    from lexmill._core import WordCounts
    from lexmill.normalizers import Normalizer
    from lexmill.pre_tokenizers import PreTokenizer
    from lexmill.trainers import Trainer

__all__ = ["Estimate", "estimate"]

# Places of the corpus from which the sample comes, at most, and the least distance between two: one read.
_PLACES = 64
_DISTANCE = 1 << 18
# Of compressed files fewer are read, since more is read of each: several of the blocks of up to 2 MiB that xz and bzip2
# decompress at once.
_PACKED_STEP = 8
_LEAST_PACKED = 6 << 20
# Of the longest words, this many are shown.
_LONGEST = 10


@dataclass(frozen=True)
class Estimate:
    """The size of a corpus and its cost; all but `bytes` is extrapolated from a sample.

    Attributes:
        bytes: bytes of the files, as they lie on the disk.
        sampled_bytes: bytes of text in the sample.
        words: words of the corpus.
        distinct_words: distinct words of the corpus. Small samples overstate this number, most of all for mixed
            corpora.
        exponent: distinct words grow as this power of the words read (Heaps' law).
        training_memory: bytes that training takes at most, beside the process's other memory.
        counting_seconds: seconds for counting without a limit of memory, on as many threads as the sample was counted.
        longest: the longest words of the sample, as text, with their lengths in bytes. Where a byte-level pre-tokenizer
            cuts characters, bytes that are no text are U+FFFD.
    """

    bytes: int
    sampled_bytes: int
    words: int
    distinct_words: int
    exponent: float
    training_memory: int
    counting_seconds: float
    longest: tuple[tuple[str, int], ...]


def estimate(
    files: OneSource | Iterable[OneSource],
    *,
    normalizer: Normalizer | None = None,
    pre_tokenizer: PreTokenizer | None = None,
    trainer: Trainer | None = None,
    sample: int = 16 << 20,
    num_threads: int | None = None,
) -> Estimate:
    """Estimates the time to count the words of files and the memory to train on them, from a sample of the files.

    Of plain text and JSON lines the sample comes from places spread evenly over all files; of other files it is their
    beginning. For a compressed file, or a file with other fields and columns, the amount of text is estimated from the
    bytes of the file that the sample took.

    Args:
        files: paths of text files in UTF-8, whose lines are texts, plain or compressed; paths whose names say that the
            files hold records, with texts in the field or column `text`; folders and patterns; and sources of
            `lexmill.sources`.
        normalizer: the normalizer that texts go through.
        pre_tokenizer: the pre-tokenizer that cuts texts into words; without one each text is a word.
        trainer: the trainer that will learn; by default a `BpeTrainer` with default options.
        sample: bytes of text in the sample, about.
        num_threads: threads to count on; by default one for each core, or the number in `RAYON_NUM_THREADS`.

    Raises:
        OptionError: a source does not read files.
        FileError: a file cannot be read.
        FormatError: a file that should be text is of another format.
        EmptyCorpusError: there are no words in the sample.
    """
    parts = [part for source in sources_of(files, Reading(errors="replace")) for part in _files_in(source)]
    size = sum(_size(path) for path, _ in parts)
    texts, total = _sample(parts, sample)
    # Every other one of every other one: each half of the sample is spread as the whole.
    halves = [texts[:: 2**power] for power in (3, 2, 1, 0)]

    def counted(some: list[str]) -> WordCounts:
        return count_words(iterator=some, normalizer=normalizer, pre_tokenizer=pre_tokenizer, num_threads=num_threads)

    counts = [counted(half) for half in halves[:-1]]
    started = time.perf_counter()
    counts.append(counted(halves[-1]))
    seconds = time.perf_counter() - started
    whole = counts[-1]
    sampled = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
    if not len(whole):
        message = f"the sample holds no words: {len(texts)} texts, {sampled} bytes were read"
        raise EmptyCorpusError(message)
    exponent = _exponent([(one.total, len(one)) for one in counts])
    times = max(1.0, total / sampled)
    distinct = int(len(whole) * times**exponent)
    # The memory that training takes however few words there are.
    fixed = count_words().training_memory(trainer, num_threads)
    # The counts spell such words by the byte-level alphabet, a character for each byte.
    is_byte_level = '"ByteLevel"' in whole.stages
    longest = heapq.nlargest(
        _LONGEST, ((len(word) if is_byte_level else len(word.encode()), word) for word, *_ in whole)
    )
    text_of = ByteLevel().decode if is_byte_level else "".join
    return Estimate(
        bytes=size,
        sampled_bytes=sampled,
        words=int(whole.total * times),
        distinct_words=distinct,
        exponent=exponent,
        training_memory=fixed + int((whole.training_memory(trainer, num_threads) - fixed) * distinct / len(whole)),
        counting_seconds=seconds * times,
        longest=tuple((text_of([word]), length) for length, word in longest),
    )


def _files_in(source: object) -> list[tuple[str, Files]]:
    """The files of a source, each with a source of its own."""
    if not isinstance(source, Files):
        message = f"files is {source!r} but must be files: a stream can be read once only"
        raise OptionError(message)
    return [(path, replace(source, paths=path)) for path in source._files()]


def _size(path: str) -> int:
    try:
        size = size_of(path)
    except FileError:
        raise
    except OSError as error:
        message = f"cannot open {path}: {error.strerror}"
        raise FileError(error.errno, message, path) from error
    if size is None:
        message = f"files is {path!r} but must be files that can be read again"
        raise OptionError(message)
    return size


def _exponent(points: list[tuple[int, int]]) -> float:
    """The exponent of Heaps' law between the last two points with words; 1 where there is only one."""
    points = [(total, distinct) for total, distinct in points if distinct]
    slopes = [
        math.log(more[1] / less[1]) / math.log(more[0] / less[0])
        for less, more in itertools.pairwise(points)
        if more[0] > less[0]
    ]
    return min(1.0, max(0.0, slopes[-1])) if slopes else 1.0


def _sample(parts: list[tuple[str, Files]], sample: int) -> tuple[list[str], float]:
    """Texts of about `sample` bytes, and about how many bytes of text all files have.

    Places are spread evenly over the bytes of all files. Lines are read at each place; other files from their beginning
    on, as much as their share of the sample. A file without a place is not read, unless all files are small. Of the
    compressed files with a place, only some are.
    """
    sizes = [_size(path) for path, _ in parts]
    size = sum(sizes)
    count = min(_PLACES, max(1, size // _DISTANCE))
    share, places = max(1, sample // count), [size * number // count for number in range(count)]
    next_place, next_packed = 0, 0
    texts: list[str] = []
    # By the format: bytes of text in the samples, the bytes of files that these took, and bytes of files not read.
    of_text: Counter[str] = Counter()
    read: Counter[str] = Counter()
    unread: Counter[str] = Counter()
    total, begin = 0.0, 0
    for (path, source), length in zip(parts, sizes, strict=True):
        first = next_place
        while next_place < count and places[next_place] < begin + length:
            next_place += 1
        starts = [place - begin for place in places[first:next_place]]
        begin += length
        is_packed = is_compressed(path)
        kind = f"{type(source).__name__} {is_packed}"
        if size > sample and (not starts or (is_packed and next_place <= next_packed)):
            unread[kind] += length
            continue
        if is_packed:
            next_packed = next_place + _PACKED_STEP - 1
        # Places that the texts of one would reach into the next are no sample of the whole.
        wanted, gap = share, max(1, size // count)
        if size <= sample or is_packed or not isinstance(source, Lines | JsonLines):
            starts, gap = [0], length + 1
            wanted = max(_LEAST_PACKED if is_packed else share, sample * length // max(1, size))
        opened = source._open()
        found: Counter[str] = Counter()
        for start in starts:
            some, text_bytes, file_bytes = opened.sample(wanted, gap, start)
            texts += some
            found.update(text=text_bytes, file=file_bytes)
        warn_of_skipped(opened)
        of_text[kind] += found["text"]
        read[kind] += found["file"]
        total += length * found["text"] / max(1, found["file"])
    for kind, length in unread.items():
        is_known = read[kind] > 0
        text_bytes = of_text[kind] if is_known else sum(of_text.values())
        file_bytes = read[kind] if is_known else sum(read.values())
        total += length * text_bytes / max(1, file_bytes)
    return texts, total
