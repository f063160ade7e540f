"""Measures one library at one job on one corpus in one fresh process, and prints one line of JSON.

The order is: load the library and the tokenizer (timed apart), bring the corpus into memory, one cold pass, warm
passes; only then are the results read, digested and compared with the reference library's. A pass holds the library's
own call: neither the reading of its results nor the freeing of the pass before is in it.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

# Set before any library is imported, since thread pools read it once.
THREAD_VARIABLES = ["LEXMILL_NUM_THREADS", "RAYON_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"]
# Warm passes stop after this time, so that a slow library does not hold up the round.
WARM_SECONDS = 20.0


def main() -> None:
    """Measures what the arguments say."""
    arguments = parse_arguments()
    limit_threads(arguments.threads)
    from adapters import Unsupported

    row = {name: getattr(arguments, name) for name in ("library", "job", "tokenizer", "corpus", "threads")}
    try:
        row |= measure(arguments)
    except Unsupported as reason:
        row |= {"unsupported": str(reason)}
    print(json.dumps(row))


def parse_arguments() -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", help="a module of adapters/")
    parser.add_argument("job", help="encode-arrays, train-bpe, ...: a method of an adapter with `-` for `_`")
    parser.add_argument("--corpus", default="stdlib")
    parser.add_argument("--tokenizer", default="gpt2", help="a published one, for the jobs that encode")
    parser.add_argument("--megabytes", type=float, help="take this much from the start of the corpus")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--warm", type=int, default=3, help="warm passes at most, at least one")
    return parser.parse_args()


def limit_threads(threads: int) -> None:
    """Holds every library to the same number of threads: by its own setting, and by the processors it may use."""
    os.environ |= dict.fromkeys(THREAD_VARIABLES, str(threads))
    os.environ["TOKENIZERS_PARALLELISM"] = "true"
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    """Times the passes, then digests the last result and compares it."""
    from adapters import NO_CALL, REFERENCE, Unsupported, load_adapter
    from corpora import SCRATCH, corpus_file, tokenizer_folder
    from digests import TRAINING_JOBS, digest, reference_digest

    training = arguments.job in TRAINING_JOBS
    corpus = corpus_file(arguments.corpus, arguments.megabytes)
    SCRATCH.mkdir(parents=True, exist_ok=True)

    started = time.perf_counter()
    adapter = load_adapter(arguments.library, arguments.threads)
    imported = time.perf_counter()
    call = getattr(adapter, arguments.job.replace("-", "_"), None)
    if call is None:
        raise Unsupported(NO_CALL)
    if not training:
        adapter.load(tokenizer_folder(arguments.tokenizer))
    loaded = time.perf_counter()

    work = adapter.prepare_training(corpus, SCRATCH) if training else texts_of(arguments.job, corpus)
    many = isinstance(work, list)
    start_memory = reset_peak_memory()
    seconds, result = time_passes(call, work, arguments.warm)
    row = {
        "version": metadata.version(adapter.distribution),
        "bytes": sum(len(text.encode()) for text in work) if many else corpus.stat().st_size,
        "texts": len(work) if many else 1,
        "seconds_import": round(imported - started, 4),
        "seconds_load": round(loaded - imported, 4),
        "seconds_cold": round(seconds[0], 6),
        "seconds_warm": round(statistics.median(seconds[1:]), 6),
        "passes_warm": len(seconds) - 1,
        "mb_before": round(start_memory, 1),
        "mb_peak": round(peak_megabytes(), 1),
    }
    own = digest(adapter, arguments.job, result)
    if own is None:
        return row | {"correct": None}
    correct = arguments.library == REFERENCE or own == reference_digest(arguments)
    return row | {"digest": own, "correct": correct}


def texts_of(job: str, corpus: Path) -> Any:
    """What an encoding job is called with."""
    from corpora import documents, short_texts

    if job == "encode-file":
        return corpus
    return short_texts(corpus) if job == "encode-one" else documents(corpus)


def time_passes(call: Callable[[Any], Any], work: Any, warm: int) -> tuple[list[float], Any]:
    """Seconds of the cold pass and of each warm one, and the last result."""
    seconds: list[float] = []
    result = None
    while len(seconds) < 2 or (len(seconds) <= warm and sum(seconds[1:]) < WARM_SECONDS):
        # Freed here, so that no pass pays for the one before and the peak holds one result.
        result = None
        gc.collect()
        started = time.perf_counter()
        result = call(work)
        seconds.append(time.perf_counter() - started)
    return seconds, result


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
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak * 1024 / 1e6


if __name__ == "__main__":
    main()
