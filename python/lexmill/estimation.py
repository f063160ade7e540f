"""What counting and training on a corpus will take, told from a sample."""

from __future__ import annotations

import heapq
import io
import itertools
import math
import os
import stat
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from lexmill._word_counts import count_words
from lexmill.decoders import ByteLevel
from lexmill.errors import EmptyCorpusError, FileError, OptionError
from lexmill.sources import Files, Lines, Source, _files_of

if TYPE_CHECKING:
    from lexmill._core import WordCounts
    from lexmill.normalizers import Normalizer
    from lexmill.pre_tokenizers import PreTokenizer
    from lexmill.trainers import Trainer

__all__ = ["Estimate", "estimate"]

_Path: TypeAlias = "str | os.PathLike[str]"

# Places of the corpus from which the sample comes, and bytes that are read at each.
_PLACES = 64
# Of the longest words, this many are shown.
_LONGEST = 10


@dataclass(frozen=True)
class Estimate:
    """What a corpus will take; all but `bytes` are extrapolated from a sample.

    Attributes:
        bytes: bytes of the files, as they lie on the disk.
        sampled_bytes: bytes of text in the sample.
        words: words of the corpus.
        distinct_words: distinct words of the corpus. Small samples overstate this, and the more so the more the corpus
            is mixed.
        exponent: distinct words grow as this power of the words read (Heaps' law).
        training_memory: bytes that training takes at most, beside what the process holds.
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
    files: _Path | Source | Iterable[_Path | Source],
    *,
    normalizer: Normalizer | None = None,
    pre_tokenizer: PreTokenizer | None = None,
    trainer: Trainer | None = None,
    sample: int = 16 << 20,
    num_threads: int | None = None,
) -> Estimate:
    """Tells what counting and training on files will take, from a sample of them.

    Of plain text the sample comes from places spread evenly over all files; of other sources it is the beginning of
    files spread evenly over all.

    Args:
        files: paths of text files in UTF-8, whose lines are texts, and sources of `lexmill.sources`.
        normalizer: the normalizer that texts go through.
        pre_tokenizer: what cuts texts into words; without one each text is a word.
        trainer: what will learn; by default a `BpeTrainer` with default options.
        sample: bytes of text in the sample, about.
        num_threads: threads to count on; by default one for each core, or what `RAYON_NUM_THREADS` says.

    Raises:
        OptionError: a source is no files.
        FileError: a file cannot be read.
        EmptyCorpusError: there are no words in the sample.
    """
    given = [files] if isinstance(files, str | os.PathLike | Source) else list(files)
    sources = [_as_files(one) for one in given]
    parts = [(path, replace(source, paths=path)) for source in sources for path in _files_of(source.paths)]
    size = sum(_size(path) for path, _ in parts)
    share = max(1, sample // _PLACES)
    if size <= sample and not any(_is_compressed(path) for path, _ in parts):
        texts = [text for _, source in parts for text in source]
    else:
        texts = list(_sample(parts, size, share))
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
    # Compressed files hold more text than they have bytes; how much more, the sample does not tell.
    times = max(1.0, size / sampled)
    distinct = int(len(whole) * times**exponent)
    # What training takes however few words there are.
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


def _as_files(given: _Path | Source) -> Files:
    if isinstance(given, Files):
        return given
    if isinstance(given, Source):
        message = f"files is {given!r} but must be files: a stream can be read once only"
        raise OptionError(message)
    return Lines(given, errors="replace")


def _size(path: str) -> int:
    try:
        status = Path(path).stat()
        if not stat.S_ISREG(status.st_mode):
            message = f"files is {path!r} but must be files that can be read again"
            raise OptionError(message)
        return status.st_size  # noqa: TRY300 (the error is of the line before)
    except OSError as error:
        message = f"cannot open {path}: {error.strerror}"
        raise FileError(error.errno, message, path) from error


def _exponent(points: list[tuple[int, int]]) -> float:
    """The exponent of Heaps' law between the last two points with words; 1 where there is only one."""
    points = [(total, distinct) for total, distinct in points if distinct]
    slopes = [
        math.log(more[1] / less[1]) / math.log(more[0] / less[0])
        for less, more in itertools.pairwise(points)
        if more[0] > less[0]
    ]
    return min(1.0, max(0.0, slopes[-1])) if slopes else 1.0


def _sample(parts: list[tuple[str, Files]], size: int, share: int) -> Iterator[str]:
    """Texts from `_PLACES` places spread evenly over the files, of `share` bytes at each."""
    ends = list(itertools.accumulate(_size(path) for path, _ in parts))
    used: set[int] = set()
    for number in range(_PLACES):
        at = size * number // _PLACES
        index = next((index for index, end in enumerate(ends) if at < end), None)
        if index is None:
            return
        path, source = parts[index]
        if type(source) is Lines and not _is_compressed(path):
            yield from _lines(path, at - (ends[index] - _size(path)), share)
        elif index not in used:
            used.add(index)
            taken = 0
            for text in source:
                yield text
                taken += len(text)
                if taken >= share:
                    break


def _is_compressed(path: str) -> bool:
    with Path(path).open("rb") as file:
        return file.read(6).startswith((b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ\0", b"BZh"))


def _lines(path: str, start: int, share: int) -> list[str]:
    """Whole lines of a file from `start` on, about `share` bytes."""
    with Path(path).open("rb") as file:
        file.seek(start)
        if start:
            file.readline(share)
        lines = io.BytesIO(file.read(share)).readlines()
    return [line.decode(errors="replace") for line in lines]
