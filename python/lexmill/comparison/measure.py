"""Measures one library at one job in this process.

The order is: load the library and the tokenizer (timed apart), bring the texts into memory, one cold pass, warm passes;
only then are the results read and compared with the reference library's results. A pass holds the library's own
call: neither the reading of its results nor the freeing of the pass before is in it.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .adapters import NO_CALL, Adapter, Unsupported, load_adapter
from .digests import TRAINING_JOBS
from .passes import peak_megabytes, reset_peak_memory, time_passes


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
