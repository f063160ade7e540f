"""The measurements of each machine: `latest.csv` holds the newest row of each key.

A key is a case (job, tokenizer, corpus, bytes, threads) and a library. Each row names its origin: the
commit, whether the tree had changes, date, rustc, Python, processor, and the run. `runs/`, which git ignores, has every
row of the runs made on this checkout.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from corpora import ROOT

RESULTS = ROOT / "benches" / "results"
LATEST, RUNS = "latest.csv", "runs"
CASE = ("job", "tokenizer", "corpus", "bytes", "threads")
KEY = (*CASE, "library")
MEASURED = [
    *("job", "tokenizer", "corpus", "bytes", "texts", "threads", "library", "version", "status", "rounds"),
    *("seconds_cold", "seconds_cold_min", "seconds_cold_max", "seconds_warm", "seconds_load"),
    *("mb_per_second_cold", "mb_per_second_warm", "mb_before", "mb_peak"),
]
ORIGIN = ["commit", "dirty", "date", "rustc", "python", "cpu", "run"]
COLUMNS = [*MEASURED, *ORIGIN]
# Said of what no record tells; never replaced by a guess.
UNKNOWN = "unknown"
# How the circumstances of a run say that the tree had changes.
CHANGED = " with changes"
# How the status of a library begins that could not be imported.
NOT_INSTALLED = "unsupported: not installed"
# Values stay the text that the file has, so that reading and writing alters none.
Row = dict[str, str]


def machines() -> list[str]:
    """The names of the machines that have results."""
    return sorted(path.parent.name for path in RESULTS.glob(f"*/{LATEST}"))


def machine_folder(machine: str) -> Path:
    """The folder of a machine that has results."""
    if machine not in machines():
        raise SystemExit(f"no results of a machine '{machine}'; there are: {', '.join(machines())}")
    return RESULTS / machine


def merge(old: Iterable[Row], new: Iterable[Row]) -> list[Row]:
    """All rows, of each key the newest; of two with one date, the one in `new`.

    A library that was not installed was not measured: it takes no row, and the figure of an earlier run stays.
    """
    rows = {tuple(row[name] for name in KEY): row for row in old}
    for row in new:
        key = tuple(row[name] for name in KEY)
        if row["status"].startswith(NOT_INSTALLED):
            continue
        if key not in rows or date_of(row) >= date_of(rows[key]):
            rows[key] = row
    return sorted(rows.values(), key=order)


def date_of(row: Row) -> str:
    """The date as a text that sorts; an unknown one is older than any."""
    return "" if row["date"] == UNKNOWN else row["date"]


def order(row: Mapping[str, str]) -> tuple[Any, ...]:
    """By key, numbers by their value."""
    return tuple(int(row[name] or 0) if name in ("bytes", "threads") else row[name] for name in KEY)


def complete(rows: Iterable[Mapping[str, Any]], origin: Mapping[str, str]) -> list[Row]:
    """The rows of one run with their origin.

    A library without a figure has read no bytes; it takes the number from the others of its case, so that a later
    figure replaces the row.
    """
    texts = [{name: "" if row.get(name) is None else str(row[name]) for name in MEASURED} for row in rows]
    sizes = {_case_without_bytes(row): row["bytes"] for row in texts if row["bytes"]}
    return [row | {"bytes": row["bytes"] or sizes.get(_case_without_bytes(row), "")} | dict(origin) for row in texts]


def _case_without_bytes(row: Row) -> tuple[str, ...]:
    return tuple(row[name] for name in CASE if name != "bytes")


def read(path: Path) -> list[Row]:
    """The rows of a CSV file; none if there is no file."""
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write(path: Path, rows: Iterable[Row]) -> None:
    """Writes rows with all columns."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def origin_of(circumstances: Mapping[str, str], run: str) -> Row:
    """The columns of origin from a run's circumstances."""
    commit = circumstances.get("commit") or UNKNOWN
    dirty = UNKNOWN if commit == UNKNOWN else "yes" if commit.endswith(CHANGED) else "no"
    same = {name: circumstances.get(name) or UNKNOWN for name in ("date", "rustc", "python", "cpu")}
    return {**same, "commit": commit.removesuffix(CHANGED), "dirty": dirty, "run": run}


def new_run(folder: Path, name: str) -> str:
    """The name of a run that neither `runs/` nor `latest.csv` has; a number tells runs of one day apart."""
    taken = {path.stem for path in (folder / RUNS).glob("*")} | {row["run"] for row in read(folder / LATEST)}
    number = 1
    while (run := name if number == 1 else f"{name}-{number}") in taken:
        number += 1
    return run
