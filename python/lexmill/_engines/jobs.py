"""One task, from its group to its outcome, and all tasks of a job."""

from __future__ import annotations

import os
import socket
import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TypeAlias

from lexmill._core import Tokenizer, __version__
from lexmill._engines.groups import Group
from lexmill._engines.shared_folder import attempt, publish
from lexmill._types import OnProgress
from lexmill.errors import CorpusWarning, FileError, LexmillError, OptionError, SkippedRecordsWarning

__all__ = ["Execute", "Job", "Outcome", "TokenizerJson", "finish_groups", "run_group"]


@dataclass(frozen=True)
class TokenizerJson:
    """A tokenizer on its way to workers, each of which reads it once.

    Attributes:
        json: the contents of its file.
        fingerprint: a hash of those.
    """

    json: str
    fingerprint: str

    @staticmethod
    def of(tokenizer: Tokenizer | str | os.PathLike[str]) -> TokenizerJson:
        """The JSON of a tokenizer, given itself or by the path of its file.

        Raises:
            FileError: the file cannot be read.
            LexmillError: a stage is written in Python, which no file holds.
        """
        given = tokenizer if isinstance(tokenizer, Tokenizer) else Tokenizer.from_file(os.fspath(tokenizer))
        json = given.to_str()
        return TokenizerJson(json, sha256(json.encode()).hexdigest()[:16])

    def tokenizer(self) -> Tokenizer:
        """The tokenizer, which a process makes once."""
        return _tokenizer(self)

    def __hash__(self) -> int:
        """Of the fingerprint: hashing megabytes for each batch takes time."""
        return hash(self.fingerprint)

    def __eq__(self, other: object) -> bool:
        """True if the fingerprints are equal."""
        return isinstance(other, TokenizerJson) and self.fingerprint == other.fingerprint


@lru_cache(maxsize=4)
def _tokenizer(given: TokenizerJson) -> Tokenizer:
    return Tokenizer.from_str(given.json)


@dataclass(frozen=True)
class Outcome:
    """A task's answer.

    Attributes:
        number: the number of its group.
        failure: an error of lexmill, which would come again if the task was tried again.
        skipped: the texts of warnings about records that were left out.
        host: the machine.
        records: how many records were left out.
    """

    number: int
    failure: LexmillError | None
    skipped: tuple[str, ...]
    host: str
    records: int = 0


@dataclass(frozen=True)
class Job(ABC):
    """The work on each group; the object goes to the workers as a whole.

    Attributes:
        folder: the folder that all machines see.
        lexmill: the version of the driver.
        num_threads: threads of a task.
    """

    folder: Path
    lexmill: str
    num_threads: int

    @abstractmethod
    def name(self, group: Group) -> str:
        """The name of a group's result within the folder; it depends on the group and the job alone."""

    @abstractmethod
    def write(self, group: Group, folder: Path) -> Path:
        """Makes a group's result; returns its path within `folder`, which is removed after that."""

    @abstractmethod
    def is_whole(self, path: Path) -> bool:
        """True if a group's result is as it was written; removes the result if not."""

    def target(self, group: Group) -> Path:
        """The path of a group's result."""
        return self.folder / self.name(group)

    def run(self, group: Group) -> None:
        """Makes a group's result, unless another attempt has.

        Raises:
            LexmillError: a file is another one here, or cannot be read or written, or its texts are broken.
        """
        if self.lexmill != __version__:
            message = f"lexmill is {__version__} on {socket.gethostname()} but {self.lexmill} on the driver"
            raise OptionError(message)
        if self.target(group).exists():
            return
        group.check()
        with attempt(self.folder, self.name(group)) as folder:
            made = self.write(group, folder)
            # The result of files that were modified meanwhile must not be taken for the result of these files.
            group.check()
            publish(made, self.target(group))


Execute: TypeAlias = Callable[[Job, Sequence[Group]], Iterable[Outcome]]
"""Runs the tasks of groups on the machines of an engine, and answers their outcomes in any order."""


def run_group(job: Job, group: Group) -> Outcome:
    """A task. Errors of lexmill are its outcome, since engines would try again, or hide their types."""
    failure: LexmillError | None = None
    with warnings.catch_warnings(record=True) as caught:
        # The driver warns of whole corpora.
        warnings.simplefilter("ignore", CorpusWarning)
        warnings.simplefilter("always", SkippedRecordsWarning)
        try:
            job.run(group)
        except LexmillError as error:
            failure = error
    skipped = [warning.message for warning in caught if isinstance(warning.message, SkippedRecordsWarning)]
    for other in (warning for warning in caught if warning.message not in skipped):
        warnings.warn_explicit(other.message, other.category, other.filename, other.lineno)
    records = sum(warning.records for warning in skipped)
    return Outcome(group.number, failure, tuple(map(str, skipped)), socket.gethostname(), records)


def finish_groups(job: Job, groups: Sequence[Group], execute: Execute, on_progress: OnProgress | None) -> int:
    """Runs the tasks of the groups that are not finished, and warns of records that they left out; answers how many.

    Raises:
        LexmillError: a task failed.
    """
    total = sum(group.bytes for group in groups)
    left = [group for group in groups if not (job.target(group).exists() and job.is_whole(job.target(group)))]
    done = total - sum(group.bytes for group in left)
    started, before = time.monotonic(), done
    by_number = {group.number: group for group in left}
    skipped: dict[int, tuple[str, ...]] = {}
    records = 0
    # Closed at once if something is raised, since tasks must have ended before their attempts are removed.
    with closing(_outcomes(job, left, execute)) as outcomes:
        for outcome in outcomes:
            if outcome.failure is not None:
                raise outcome.failure
            group = by_number[outcome.number]
            if not job.target(group).exists():
                message = f"{job.target(group)} is not there, but {outcome.host} wrote it; the folder must be shared"
                raise FileError(message)
            skipped[outcome.number] = outcome.skipped
            records += outcome.records
            done += group.bytes
            if on_progress is not None:
                elapsed = time.monotonic() - started
                eta = elapsed * (total - done) / (done - before) if done > before else None
                # Memory is taken by the workers.
                on_progress("tasks", done, total, eta, None)
    for number in sorted(skipped):
        for message in skipped[number]:
            warnings.warn(message, SkippedRecordsWarning, stacklevel=4)
    return records


def _outcomes(job: Job, groups: Sequence[Group], execute: Execute) -> Generator[Outcome, None, None]:
    if groups:
        yield from execute(job, groups)
