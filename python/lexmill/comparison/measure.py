"""Measures one library at one job in this process.

The order is: load the library and the tokenizer (timed apart), bring the texts into memory, one cold pass, warm passes;
only then are the results read and compared with the reference library's results. A pass holds the library's own
call: neither the reading of its results nor the freeing of the pass before is in it.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .adapters import NO_CALL, Adapter, NotInstalled, OtherVersion, Unsupported, load_adapter
from .digests import TRAINING_JOBS
from .passes import limit_threads, peak_megabytes, reset_peak_memory, time_passes


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


def measure(
    library: str,
    job: str,
    threads: int,
    warm: int,
    tokenizer: Path | None,
    work_of: Callable[[Adapter], Any],
) -> tuple[dict[str, Any], Adapter, Any]:
    """Times the passes; answers the figures, the adapter, and the result of the last pass.

    Raises:
        Unsupported: the library is not installed, cannot load the tokenizer or has no such call.
    """
    started = time.perf_counter()
    adapter = load_adapter(library, threads)
    imported = time.perf_counter()
    call = getattr(adapter, job.replace("-", "_"), None)
    if call is None:
        raise Unsupported(NO_CALL)
    if tokenizer is not None:
        adapter.load(tokenizer)
    loaded = time.perf_counter()

    work = work_of(adapter)
    many = isinstance(work, list)
    start_memory = reset_peak_memory()
    (cold, *later), result = time_passes(call, work, warm)
    row = {
        "version": adapter.version,
        "bytes": sum(len(text.encode()) for text in work) if many else Path(work).stat().st_size,
        "texts": len(work) if many else 1,
        "seconds_import": round(imported - started, 4),
        "seconds_load": round(loaded - imported, 4),
        "seconds_cold": round(cold.clock, 6),
        "seconds_warm": round(statistics.median(each.clock for each in later), 6),
        "seconds_processor_cold": round(cold.processor, 6),
        "seconds_processor_warm": round(statistics.median(each.processor for each in later), 6),
        "passes_warm": len(later),
        "mb_before": round(start_memory, 1),
        "mb_peak": round(peak_megabytes(), 1),
    }
    return row, adapter, result


def is_training(job: str) -> bool:
    """True if a job learns a tokenizer instead of running one."""
    return job in TRAINING_JOBS
