"""Groups of files to runs of word counts, and these to their sum."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from lexmill._core import AddedToken, WordCounts, __version__
from lexmill._data.sizes import bytes_of
from lexmill._data.source_names import OneSource
from lexmill._data.word_counts import _stages, merge_counts
from lexmill._engines.groups import Group, plan
from lexmill._engines.jobs import Execute, Job, TokenizerJson, finish_groups
from lexmill._engines.shared_folder import locked, made_folder
from lexmill._types import OnProgress
from lexmill.errors import FormatError

if TYPE_CHECKING:
    from lexmill.normalizers import Normalizer
    from lexmill.pre_tokenizers import PreTokenizer
    from lexmill.trainers import SuperwordOptions

__all__ = ["CountJob", "CountOptions", "count_groups", "merged"]


@dataclass(frozen=True)
class CountOptions:
    """The options that files and frames have in common.

    Attributes:
        stages: a tokenizer that has the stages and no model.
        superwords: the options by which phrases are counted too.
        max_memory: bytes that a task may take, and the merging.
        scratch: the folder of each machine for counts that do not fit into memory.
        errors: how plain text files are read.
    """

    stages: TokenizerJson
    superwords: SuperwordOptions | None
    max_memory: int | None
    scratch: str | os.PathLike[str] | None
    errors: Literal["strict", "replace"]

    @staticmethod
    def of(
        normalizer: Normalizer | None,
        pre_tokenizer: PreTokenizer | None,
        added_tokens: Iterable[str | AddedToken],
        superwords: SuperwordOptions | None,
        max_memory: int | str | None,
        scratch: str | os.PathLike[str] | None,
        errors: Literal["strict", "replace"],
    ) -> CountOptions:
        """The options of a call.

        Raises:
            OptionError: `max_memory` is no number of bytes.
            LexmillError: a stage is written in Python.
        """
        stages = TokenizerJson.of(_stages(normalizer, pre_tokenizer, added_tokens))
        return CountOptions(stages, superwords, bytes_of(max_memory), scratch, errors)


@dataclass(frozen=True)
class CountJob(Job):
    """Counts the words of a group to a run, which is named after all that it was made from."""

    options: CountOptions

    def name(self, group: Group) -> str:
        """The number of the first file, and a hash of all that decides the run."""
        entries = [file.entry() for file in group.files]
        made_from = [self.lexmill, self.options.stages.fingerprint, self.options.errors, group.first_source, entries]
        if self.options.superwords is not None:
            made_from.append(repr(self.options.superwords))
        return f"{group.first_source:08}-{sha256(json.dumps(made_from).encode()).hexdigest()[:16]}.counts"

    def write(self, group: Group, folder: Path) -> Path:
        """Counts as `lexmill.count_words` does."""
        counted = self.options.stages.tokenizer()._count_words(
            group.sources,
            superwords=self.options.superwords,
            max_memory=self.options.max_memory,
            folder=self.options.scratch,
            first_source=group.first_source,
            errors=self.options.errors,
            num_threads=self.num_threads,
        )
        made = folder / "counts"
        counted.save(made)
        return made

    def is_whole(self, path: Path) -> bool:
        """True if the end of the file is there, which is written last; removes the file if not."""
        try:
            WordCounts.load(path)
        except FormatError:
            path.unlink()
            return False
        return True


def count_groups(
    sources: OneSource | Iterable[OneSource],
    execute: Execute,
    *,
    options: CountOptions,
    folder: str | os.PathLike[str],
    first_source: int,
    group_bytes: int | str,
    num_threads: int,
    on_progress: OnProgress | None,
) -> WordCounts:
    """Counts the words of files by the tasks of an engine; see `lexmill.ray.count_words`."""
    groups = plan(sources, group_bytes=bytes_of(group_bytes, "group_bytes") or 0, first_source=first_source)
    job = CountJob(made_folder(folder), __version__, num_threads, options)
    with locked(job.folder):
        finish_groups(job, groups, execute, on_progress)
        return merged([job.target(group) for group in groups], options)


def merged(paths: Sequence[Path], options: CountOptions) -> WordCounts:
    """The sum of saved counts."""
    return merge_counts(paths, max_memory=options.max_memory, folder=options.scratch)
