"""Counting words, which is where training begins."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from lexmill._core import AddedToken, Tokenizer, WordCounts
from lexmill._data.corpus_warnings import warn_of_repeated
from lexmill._data.sizes import bytes_of as _bytes_of
from lexmill._types import OnProgress
from lexmill.errors import OptionError
from lexmill.models import BPE

if TYPE_CHECKING:
    from lexmill._data.mixtures import Weight
    from lexmill.normalizers import Normalizer
    from lexmill.pre_tokenizers import PreTokenizer
    from lexmill.sources import Source
    from lexmill.trainers import SuperwordOptions

_Path: TypeAlias = "str | os.PathLike[str]"


def count_words(
    files: _Path | Source | Iterable[_Path | Source] = (),
    *,
    iterator: Iterable[Any] | None = None,
    normalizer: Normalizer | None = None,
    pre_tokenizer: PreTokenizer | None = None,
    added_tokens: Iterable[str | AddedToken] = (),
    superwords: SuperwordOptions | None = None,
    max_memory: int | str | None = None,
    folder: _Path | None = None,
    checkpoint: _Path | None = None,
    resume: bool = False,
    checkpoint_bytes: int | str = "4GB",
    first_source: int = 0,
    errors: Literal["strict", "replace"] = "strict",
    on_progress: OnProgress | None = None,
    num_threads: int | None = None,
) -> WordCounts:
    """Counts the distinct words of a corpus; trainers learn from these counts alone.

    Each file has a number, and each word the number of the file and the place in the file where it first appeared. So
    the counts of parts of a corpus, merged in any order, are the counts of the whole, if each part is counted with the
    `first_source` that its first file has in the whole.

    Args:
        files: paths of text files in UTF-8, whose lines are texts, plain or compressed; paths whose names say that the
            files hold records, such as `.jsonl` or `.parquet`, with texts in the field or column `text`; folders and
            patterns; and sources of `lexmill.sources`.
        iterator: texts that come before the texts of the files: `str`, lists of `str` or Arrow columns.
        normalizer: the normalizer that texts go through.
        pre_tokenizer: the pre-tokenizer that cuts texts into words; without one each text is a word.
        added_tokens: the added tokens of the tokenizer that will be trained: each is a word of its own where it stands.
            A tokenizer that was not trained yet has none.
        superwords: the options of a trainer that is to learn superwords from the counts; then phrases are counted too.
            Of the options, `algorithm`, `joins` and `pattern` decide the phrases.
        max_memory: bytes that counting may take beside the process's other memory, such as `"1GB"` or `"512MiB"`: full
            tables are written to `folder` and merged. By default there is no limit.
        folder: the folder for counts that are not saved yet; by default the system's folder for temporary files.
        checkpoint: a folder of its own for finished parts of the corpus, so that counting may be killed and resumed.
            The parts stay there; remove the folder once the counts are saved. An iterator cannot have one, nor can
            standard input or an Arrow stream.
        resume: if true, continues with the parts that the folder holds, if any. Other stages are refused, and so are
            files that were modified since a finished part has read them.
        checkpoint_bytes: bytes of a part, decompressed.
        first_source: the number of the first file, or of the iterator.
        errors: `strict`, or `replace` to read bytes that are not UTF-8 as U+FFFD; sources have an option of their own.
        on_progress: called with the stage, the work done, the total, the seconds left and the bytes of memory taken,
            see `lexmill.OnProgress`; an exception that it raises ends the counting.
        num_threads: threads to work on; by default one for each core, or the number in `RAYON_NUM_THREADS`.

    Raises:
        FileError: a file cannot be read, a folder or pattern has no files, or the folder cannot be written to.
        FormatError: a file that should be text is of another format, or a record holds no text.
        InputTypeError: the iterator gives something else than texts, such as dictionaries.
        InvalidUtf8Error: bytes are not UTF-8, with `errors="strict"`.
        OptionError: there is less memory than counting needs, or an iterator with a checkpoint.
        LexmillError: a stage is written in Python, or superwords cannot be learnt with the pre-tokenizer.
        OutputError: the folder of the checkpoint holds something else, or a checkpoint of other work, or one although
            `resume` is false; or another process writes to it.
    """
    if checkpoint is not None and iterator is not None:
        message = "an iterator can be read only once, so it cannot have a checkpoint"
        raise OptionError(message)
    bytes_of_part = _bytes_of(checkpoint_bytes, "checkpoint_bytes")
    if not bytes_of_part:
        # Parts without records would never end.
        message = f"checkpoint_bytes is {checkpoint_bytes!r} but must be at least 1"
        raise OptionError(message)
    tokenizer = _stages(normalizer, pre_tokenizer, added_tokens)
    # Not everybody who imports lexmill reads sources, and these take time to import.
    from lexmill.sources import Source

    given = [files] if isinstance(files, str | os.PathLike | Source) else files
    return tokenizer._count_words(
        given,
        iterator=iterator,
        superwords=superwords,
        max_memory=_bytes_of(max_memory),
        folder=folder,
        checkpoint=None if checkpoint is None else (checkpoint, bytes_of_part, resume),
        first_source=first_source,
        errors=errors,
        on_progress=on_progress,
        num_threads=num_threads,
    )


def _stages(
    normalizer: Normalizer | None, pre_tokenizer: PreTokenizer | None, added_tokens: Iterable[str | AddedToken]
) -> Tokenizer:
    """A tokenizer without a model; it cuts texts into words."""
    tokenizer = Tokenizer(BPE())
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    if pre_tokenizer is not None:
        tokenizer.pre_tokenizer = pre_tokenizer
    tokens = [AddedToken(token) if isinstance(token, str) else token for token in added_tokens]
    tokenizer.add_tokens([token for token in tokens if not token.special])
    tokenizer.add_special_tokens([token for token in tokens if token.special])
    return tokenizer


def merge_counts(
    counts: Iterable[WordCounts | _Path] | Mapping[str, WordCounts | _Path],
    *,
    weights: Mapping[str, Weight] | None = None,
    shares: Mapping[str, Weight] | None = None,
    max_memory: int | str | None = None,
    folder: _Path | None = None,
    on_progress: OnProgress | None = None,
) -> WordCounts:
    """The sum of several word counts of the same stages; their order does not matter, unless they are domains.

    Files are opened where they are read, 64 at a time, so any number of them may be merged.

    A dictionary names the domains of a mixture. It counts as if the domains were one corpus, in its order:
    sources are numbered again. With weights, each domain is counted as often as its weight tells.

    Args:
        counts: word counts, or paths of files that hold some; or a dictionary of these by the names of domains.
        weights: by domain, how often it is counted: an int, a `Fraction` or a float, which is the decimal number that
            Python prints for it; 0 leaves the domain out. A domain without a weight is counted once. If a weight is no
            integer, all are multiplied by their least common denominator.
        shares: by domain, its part of the bytes of the mixture; only the ratios matter. All counts are multiplied by
            integers, of which the least is 1000, so that the ratios are exact to 0.05 %. Bytes are bytes of words.
        max_memory: bytes that merging may take beside the process's other memory; by default 64 MiB.
        folder: the folder for the result until it is saved; by default the system's folder for temporary files.
        on_progress: called as in `count_words`; an exception that it raises ends the merging.

    Raises:
        LexmillError: there are no counts, or they are of different stages, or rare words were dropped.
        EmptyCorpusError: a domain has no words.
        OptionError: weights or shares are wrong, or all counts together would exceed 64 bits.
        FileError: a file cannot be read, or the folder cannot be written to.
        FormatError: a file does not hold word counts, or is damaged.
    """
    memory = _bytes_of(max_memory)
    if isinstance(counts, Mapping):
        from lexmill._data.mixtures import mix

        return mix(counts, weights=weights, shares=shares, max_memory=memory, folder=folder, on_progress=on_progress)
    if weights is not None or shares is not None:
        message = "weights and shares are for domains, but the counts have no names; pass a dictionary"
        raise OptionError(message)
    given = list(counts)
    warn_of_repeated(path for path in given if isinstance(path, str | os.PathLike))
    return WordCounts._merge(given, max_memory=memory, folder=folder, on_progress=on_progress)
