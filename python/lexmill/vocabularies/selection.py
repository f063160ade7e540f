"""The tokens that a user selects: by id, by their counts in a corpus, by script."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from lexmill import _core
from lexmill._core import Tokenizer
from lexmill._data.source_names import OneSource
from lexmill._types import OnProgress
from lexmill.errors import OptionError, OptionRangeError
from lexmill.reports.given import given_tokenizers
from lexmill.reports.texts import Progress, blocks_of, files_of
from lexmill.vocabularies.tables import Ids, Table

__all__ = ["Counts", "GivenIds", "by_count", "by_script", "corpus_counts", "known_ids"]

GivenIds: TypeAlias = "Iterable[int] | npt.NDArray[np.integer]"
Counts: TypeAlias = "Sequence[int] | npt.NDArray[np.integer] | Mapping[int, int]"

# Characters of these belong to all scripts, as digits, punctuation, blanks and marks do.
_SHARED = frozenset({"common", "inherited"})


def known_ids(table: Table, ids: GivenIds) -> set[int]:
    """The ids as a set.

    Raises:
        OptionError: an id has no token.
    """
    found = {int(id_) for id_ in ids}
    unknown = found - {id_ for _, id_ in table.entries} - set(table.added_only)
    if unknown:
        message = f"keep has the id {min(unknown)}, but the tokenizer has no token with this id"
        raise OptionError(message)
    return found


def by_count(table: Table, counts: Counts, min_count: int) -> set[int]:
    """The ids that occur at least `min_count` times; `counts` has the number of times by id.

    Raises:
        OptionError: an id that occurs has no token.
        OptionRangeError: `min_count` is negative.
    """
    if min_count < 0:
        message = f"min_count is {min_count} but must be at least 0"
        raise OptionRangeError(message)
    pairs = counts.items() if isinstance(counts, Mapping) else enumerate(np.asarray(counts).tolist())
    found = {int(id_): int(count) for id_, count in pairs}
    ids = {id_ for _, id_ in table.entries}.union(table.added_only)
    strange = sorted(id_ for id_, count in found.items() if count and id_ not in ids)
    if strange:
        message = f"counts has {found[strange[0]]} for the id {strange[0]}, but the tokenizer has no token with this id"
        raise OptionError(message)
    return {id_ for id_ in ids if found.get(id_, 0) >= min_count}


def by_script(table: Table, scripts: Iterable[str]) -> set[int]:
    """The ids of tokens of whole characters, each of which is of one of the scripts or of no script.

    Raises:
        OptionError: there is no script of this name.
    """
    ranges = _ranges()
    wanted = set(_SHARED)
    for script in scripts:
        name = script.replace(" ", "_").casefold()
        if name not in ranges:
            message = f"scripts has {script!r}, but must have names of Unicode, such as 'Latin', 'Cyrillic' or 'Han'"
            raise OptionError(message)
        wanted.add(name)
    is_wanted = np.zeros(0x110000, bool)
    for name in wanted:
        for first, last in ranges[name]:
            is_wanted[first : last + 1] = True
    vocabulary = table.vocabulary
    return {
        id_
        for id_ in vocabulary.ids
        if id_ not in vocabulary.partial and is_wanted[_codes(vocabulary.texts[id_])].all()
    }


def _codes(text: bytes) -> npt.NDArray[np.uint32]:
    return np.frombuffer(text.decode().encode("utf-32-le"), np.uint32)


@cache
def _ranges() -> dict[str, list[tuple[int, int]]]:
    """The ranges of code points of each script, by its name in lower case."""
    found: dict[str, list[tuple[int, int]]] = {}
    for first, last, script in _core.script_ranges():
        found.setdefault(script.casefold(), []).append((first, last))
    return found


def corpus_counts(
    tokenizer: Tokenizer,
    corpus: OneSource | Iterable[OneSource],
    *,
    num_threads: int | None = None,
    on_progress: OnProgress | None = None,
) -> Ids:
    """How often each id occurs in a corpus, `int64`, in one pass and in memory that does not grow with the corpus.

    Raises:
        FileError, FormatError, InvalidUtf8Error: as iterating over a source does.
        OptionError: the tokenizer samples.
    """
    own = given_tokenizers(tokenizer)[0].tokenizer
    bound = max(own.get_vocab().values(), default=-1) + 1
    counts = np.zeros(bound, np.int64)
    files = files_of(corpus, None)
    progress = Progress(files, on_progress)
    for block in blocks_of(files):
        arrays = own.encode_batch_arrays(block.texts, add_special_tokens=False, num_threads=num_threads)
        counts += np.bincount(arrays.ids, minlength=bound)
        progress.add(len(block.texts.utf8()))
    return counts
