"""The work of one process, as JSON, and the process that does it."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .adapters import NotInstalled, OtherVersion, Unsupported
from .passes import limit_threads


@dataclass(frozen=True)
class Task:
    """The work of one process.

    Attributes:
        library: the name of an adapter's module.
        job: a method of an adapter with `-` for `_`.
        tokenizer: a `tokenizer.json`, for the jobs that encode.
        corpus: the folder of the prepared texts and the expected results.
        threads: threads, and processors, at most.
        warm: warm passes at most.
        is_reference: if true, the process writes the expected results instead of measuring.
        result: where the row is written.
    """

    library: str
    job: str
    tokenizer: str
    corpus: str
    threads: int
    warm: int
    is_reference: bool
    result: str

    def to_json(self) -> str:
        """The task as an argument of the process."""
        return json.dumps(asdict(self))


def main() -> None:
    """Does the task of the first argument and writes a row."""
    task = Task(**json.loads(sys.argv[1]))
    limit_threads(task.threads)
    # Only now: numpy's own threads are limited too.
    from . import expected

    row: dict[str, Any]
    try:
        row = expected.write(task) if task.is_reference else expected.measure_and_compare(task)
    except OtherVersion as reason:
        row = {"other_version": str(reason)}
    except NotInstalled as reason:
        row = {"not_installed": str(reason)}
    except Unsupported as reason:
        row = {"unsupported": str(reason)}
    Path(task.result).write_text(json.dumps(row), encoding="utf-8")
