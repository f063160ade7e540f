"""Counts of instructions: from the output of callgrind, in a file of records, and the jobs that grew."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

# A job grows if its count is more than this part over its record.
TOLERANCE = 0.03


@dataclass(frozen=True)
class Record:
    """Recorded counts, and the build that they were counted with.

    Attributes:
        rustc: the version of the compiler, as `1.95.0`.
        host: the compiler's own platform, as `x86_64-unknown-linux-gnu`.
        instructions: the number of instructions by job.
    """

    rustc: str
    host: str
    instructions: dict[str, int]

    @classmethod
    def read(cls, path: Path) -> Record:
        """The record in a file."""
        return cls(**json.loads(path.read_text(encoding="utf-8")))

    def write(self, path: Path) -> None:
        """Writes the record, a job a line."""
        path.write_text(json.dumps(vars(self), indent=2) + "\n", encoding="utf-8")


def total(output: str) -> int:
    """The instructions in an output file of callgrind; ValueError if the file has no count above 0."""
    found = re.search(r"^summary: (\d+)$", output, re.MULTILINE)
    if found is None or not int(found[1]):
        raise ValueError("callgrind counted no instruction, but the job must run in the function that switches it on")
    return int(found[1])


def changes(measured: Mapping[str, int], recorded: Mapping[str, int]) -> tuple[list[str], list[str]]:
    """Lines about jobs that are over the tolerance, and about jobs that are under it or have no record."""
    over, notes = [], []
    for job, count in measured.items():
        record = recorded.get(job)
        if record is None:
            notes.append(f"{job}: {count:,} instructions, not recorded")
            continue
        line = f"{job}: {count:,} instructions, {count / record - 1:+.1%} beside the recorded {record:,}"
        if count > record * (1 + TOLERANCE):
            over.append(line)
        elif count < record * (1 - TOLERANCE):
            notes.append(line)
    return over, notes
