"""Measures one call: the first pass and later ones, in both kinds of time, and peak memory. Imports no library."""

from __future__ import annotations

import contextlib
import gc
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

# Read by thread pools once, so a process gets them before it imports a library.
THREAD_VARIABLES = ("LEXMILL_NUM_THREADS", "RAYON_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
# Warm passes stop after this time, so that a slow library does not hold up the round.
WARM_SECONDS = 20.0


class Pass(NamedTuple):
    """Seconds of one pass: by the clock, and on processors by all threads of the process together."""

    clock: float
    processor: float


def thread_environment(threads: int) -> dict[str, str]:
    """The environment variables by which libraries take a number of threads."""
    return dict.fromkeys(THREAD_VARIABLES, str(threads)) | {"TOKENIZERS_PARALLELISM": "true"}


def processors() -> list[int]:
    """The processors that this process may use, by number."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def limit_threads(threads: int) -> None:
    """Holds every library to the same number of threads: by its own setting, and by the processors it may use."""
    os.environ |= thread_environment(threads)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, processors()[:threads])


def time_passes(call: Callable[[Any], Any], work: Any, warm: int) -> tuple[list[Pass], Any]:
    """The cold pass and each warm one, of which there is at least one, and the last result."""
    passes: list[Pass] = []
    result = None
    while len(passes) < 2 or (len(passes) <= warm and sum(each.clock for each in passes[1:]) < WARM_SECONDS):
        # Freed here, so that no pass pays for the one before and the peak holds one result.
        result = None
        gc.collect()
        clock, processor = time.perf_counter(), time.process_time()
        result = call(work)
        passes.append(Pass(time.perf_counter() - clock, time.process_time() - processor))
    return passes, result


def reset_peak_memory() -> float:
    """Forgets the peak so far, which is the corpus being read, and returns the megabytes in use."""
    gc.collect()
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return peak_megabytes()


def peak_megabytes() -> float:
    """Peak resident memory; from Linux's own counter if there is one, since `ru_maxrss` cannot be reset."""
    with contextlib.suppress(OSError, IndexError):
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="ignore")
        return int(status.split("VmHWM:")[1].split()[0]) * 1024 / 1e6
    with contextlib.suppress(ImportError):
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak / 1e6 if sys.platform == "darwin" else peak * 1024 / 1e6
    # Windows tells neither.
    return 0.0
