"""Compares libraries at one job: rounds of fresh processes, one library after the other, and medians over rounds."""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from . import processes
from .adapters import REFERENCE
from .expected import texts_of_job
from .measure import is_training
from .passes import thread_environment
from .task import Task

OURS = "lexmill"
OK, DIFFERS, NOT_COMPARED = "ok", "differs", "not-compared"
# Why a library has no figure, by the key of its row.
REASONS = {
    "not_installed": "not-installed",
    "other_version": "other-version",
    "unsupported": "unsupported",
    "timed_out": "timed-out",
    "failed": "failed",
}
# The figures whose median over all rounds is reported; for the times of passes, also the least and the most.
_TIMES = ("seconds_cold", "seconds_warm")
_MEDIANS = (*_TIMES, "seconds_import", "seconds_load", "mb_before", "mb_peak")

Row = dict[str, Any]


class NoReferenceError(Exception):
    """Raised when no library gives a result that others can be compared with."""


@dataclass(frozen=True)
class Plan:
    """The libraries to compare, and the conditions.

    Attributes:
        tokenizer: a `tokenizer.json`, absolute.
        corpus: the folder of the prepared texts, absolute.
        libraries: names of adapters' modules.
        pythons: by such a name, the interpreter that runs a library with packages of its own.
        threads: threads of each process, which may use as many processors.
        rounds: processes of each library.
        warm: warm passes at most in each process.
        timeout: seconds that a process may take.
    """

    tokenizer: Path
    corpus: Path
    libraries: Sequence[str]
    pythons: Mapping[str, str]
    threads: int
    rounds: int
    warm: int
    timeout: float


def compare(plan: Plan, job: str, on_run: Callable[[int, int], None]) -> dict[str, Any]:
    """Measures a job; `on_run` is told how many processes of how many have run.

    Returns:
        The reference with its version, the order of each round, and a row a library.

    Raises:
        NoReferenceError: no library gives a result to compare with.
    """
    # One call a text has nothing to share among threads.
    threads = 1 if job == "encode-one" else plan.threads
    orders = list(processes.interleave(plan.libraries, plan.rounds))
    total = 1 + plan.rounds * len(plan.libraries)
    on_run(0, total)
    reference = _establish(plan, job, threads)
    runs: dict[str, list[Row]] = {library: [] for library in plan.libraries}
    done = 1
    for order in orders:
        for library in order:
            on_run(done, total)
            done += 1
            # A library without a figure would only take time.
            if status_of(runs[library]) in (OK, NOT_COMPARED):
                runs[library].append(_run_task(plan, job, library, threads))
    texts, is_whole = texts_of_job(job, plan.corpus), job == "encode-file" or is_training(job)
    rows = [summarise(library, rounds, has_own_python=library in plan.pythons) for library, rounds in runs.items()]
    return {
        "job": job,
        "threads": threads,
        "texts": 1 if is_whole else len(texts),
        "bytes": texts.path.stat().st_size if is_whole else texts.bytes,
        "reference": reference,
        "orders": [[name_of(library) for library in order] for order in orders],
        "fastest": _fastest(rows),
        "libraries": rows,
    }


def name_of(library: str) -> str:
    """A library's own name, from the name of its adapter's module."""
    return library.replace("_", "-")


def status_of(runs: Sequence[Row]) -> str:
    """The status of a library by its last run; `ok` before the first run."""
    last = runs[-1] if runs else {"correct": True}
    for key, status in REASONS.items():
        if key in last:
            return status
    return {True: OK, False: DIFFERS, None: NOT_COMPARED}[last["correct"]]


def summarise(library: str, runs: Sequence[Row], *, has_own_python: bool = False) -> Row:
    """The summary of a library's rounds: its status, and if that allows it, medians and spread.

    Args:
        library: the name of the adapter's module.
        runs: a row of each round.
        has_own_python: true if an interpreter of its own runs the library, whose packages are not seen here.
    """
    status = status_of(runs)
    version = next((str(run["version"]) for run in runs if "version" in run), None)
    if version is None and not has_own_python:
        version = _installed_version(library)
    row: Row = {"library": name_of(library), "version": version, "status": status, "rounds": len(runs)}
    if status not in (OK, NOT_COMPARED):
        last = runs[-1]
        reason = next((last[key] for key in REASONS if key in last), None)
        why = {"difference": last["difference"]} if reason is None else {"reason": reason}
        return row | why | {"samples": list(runs)}
    for name in _MEDIANS:
        row[name] = statistics.median(run[name] for run in runs)
    for name in _TIMES:
        row |= {f"{name}_min": min(run[name] for run in runs), f"{name}_max": max(run[name] for run in runs)}
    return row | {"samples": list(runs)}


def _fastest(rows: Sequence[Row]) -> str | None:
    """The library whose first pass is the shortest; of several, the first by name."""
    finished = [row for row in rows if "seconds_cold" in row]
    if not finished:
        return None
    return str(min(finished, key=lambda row: (row["seconds_cold"], row["library"]))["library"])


def _establish(plan: Plan, job: str, threads: int) -> dict[str, str]:
    """Has the reference write the expected results: Hugging Face's library if it is compared and can, else ours."""
    reasons = []
    for library in (REFERENCE, OURS):
        if library not in plan.libraries:
            continue
        row = _run_task(plan, job, library, threads, is_reference=True)
        reason = next((row[key] for key in REASONS if key in row), None)
        if reason is None:
            return {"library": library, "version": row["version"], "digest": row["digest"]}
        reasons.append(f"{library} {reason}")
    raise NoReferenceError(f"there is nothing to compare results with: {'; '.join(reasons)}")


def _run_task(plan: Plan, job: str, library: str, threads: int, *, is_reference: bool = False) -> Row:
    """One fresh process."""
    result = plan.corpus / "result.json"
    result.unlink(missing_ok=True)
    task = Task(
        library=library,
        job=job,
        tokenizer=str(plan.tokenizer),
        corpus=str(plan.corpus),
        threads=threads,
        warm=plan.warm,
        is_reference=is_reference,
        result=str(result),
    )
    own = plan.pythons.get(library)
    command = [own or sys.executable, str(Path(__file__).parent), task.to_json()]
    environment = processes.child_environment(thread_environment(threads), shares_packages=own is None)
    done = processes.run(command, plan.timeout, environment)
    if done.failure is not None:
        return {"timed_out" if done.timed_out else "failed": done.failure}
    if not result.is_file():
        # A library may end its process by itself.
        return {"failed": "ended without a result"}
    row: Row = json.loads(result.read_text(encoding="utf-8"))
    return row


def _installed_version(library: str) -> str | None:
    try:
        return metadata.version(name_of(library))
    except metadata.PackageNotFoundError:
        return None
