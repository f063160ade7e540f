"""Compares libraries: rounds of fresh processes, one library after the other in each round, and medians over rounds.

Interleaving spreads a busy moment of the machine over all libraries. A library whose result differs from the
reference's is not timed, and one that cannot do a job is named with its reason. Merges the rows of the run into
`benches/results/<machine>/latest.csv`, and writes all of them to `runs/<date>-<what>.csv` beside it, with a `.txt` of
the circumstances. Git ignores `runs/`.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.util
import itertools
import json
import os
import platform
import re
import statistics
import subprocess
import sys
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

import harness  # finds `comparison`
from comparison import processes
from comparison.adapters import NAMES, NO_CALL
from comparison.digests import file_digest
from comparison.machine import cpu_name, output_of
from corpora import ROOT, SCRATCH, STDLIB, TRAINED, available_corpora, available_tokenizers, corpus_file
from results import CHANGED, LATEST, RESULTS, RUNS, UNKNOWN, complete, merge, new_run, origin_of, read
from results import write as write_rows
from selected import SELECTED

# transformers calls `tokenizers`, which is there already.
LIBRARIES = [name for name in NAMES if name != "transformers"]
ENCODING = ["encode-arrays", "encode-lists", "encode-encodings", "encode-offsets", "encode-file", "encode-one"]
TOKENIZERS = ["gpt2", "cl100k_base", "o200k_base", "qwen2"]
# The preset of the cases in `selected.py`.
README = "readme"
# What to compare by name: jobs, tokenizers, corpora, megabytes of each corpus, rounds.
PRESETS: dict[str, tuple[list[str], list[str], list[str], float, int]] = {
    README: ([], [], ["english", "multilingual"], 20, 3),
    "quick": (["encode-arrays", "encode-lists", "encode-one"], ["gpt2"], ["english", "multilingual"], 8, 3),
    "encode": (ENCODING, TOKENIZERS, ["english", "german", "multilingual", "messy"], 20, 5),
    "train": (["train-bpe", "train-bpe-128k", "count-words"], [], ["english", "multilingual"], 60, 5),
    "train-others": (["train-wordpiece", "train-wordpiece-likelihood", "train-unigram"], [], ["english"], 20, 3),
}


@dataclass
class Case:
    """One job on one corpus with one number of threads: the rows of a result that may be compared."""

    job: str
    tokenizer: str
    corpus: str
    threads: int
    runs: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    def __str__(self) -> str:
        threads = "1 thread" if self.threads == 1 else f"{self.threads} threads"
        return ", ".join(filter(None, [self.job, self.tokenizer, self.corpus, threads]))


def main() -> None:
    """Runs the rounds and writes the results after each case."""
    arguments = parse_arguments()
    if not available_tokenizers():
        print(f"no data in LEXMILL_DATA: comparing on the tokenizer '{TRAINED}' and the corpus '{STDLIB}'")
        train_stand_in(SCRATCH / "tokenizers" / TRAINED / "tokenizer.json")
    cases = list(make_cases(arguments))
    if not cases:
        raise SystemExit(f"no case of '{arguments.what}' has its corpus and tokenizer at hand; set LEXMILL_DATA")
    folder = RESULTS / (arguments.machine or machine_name())
    before = read(folder / LATEST)
    refuse_another_processor(folder.name, before, cpu_name())
    (folder / RUNS).mkdir(parents=True, exist_ok=True)
    run = new_run(folder, f"{datetime.datetime.now(tz=datetime.timezone.utc).date()}-{arguments.what}")
    facts = describe(arguments)
    for number, case in enumerate(cases, 1):
        print(f"[{number}/{len(cases)}] {case}, {arguments.rounds} rounds", flush=True)
        measure_case(case, arguments)
        rows = [row for done in cases[:number] for row in summarise(done)]
        record(folder, run, rows, facts)
        write_rows(folder / LATEST, merge(before, complete(rows, origin_of(facts, run))))
        print(table(summarise(case)), flush=True)
    print(f"merged into {(folder / LATEST).relative_to(ROOT)}; all rows: {RUNS}/{run}.csv, circumstances: {run}.txt")


def refuse_another_processor(machine: str, rows: list[dict[str, str]], cpu: str) -> None:
    """Stops if a machine's rows are all of other processors: figures of two machines tell nothing side by side."""
    known = {row["cpu"] for row in rows}
    if known and cpu not in known:
        raise SystemExit(f"{machine} has figures of {', '.join(sorted(known))}; this is {cpu}: give another --machine")


def parse_arguments() -> argparse.Namespace:
    """Reads the command line; what is not given comes from the preset."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--what", default="quick", help=f"{', '.join(PRESETS)}, all, or a name for your own selection")
    parser.add_argument("--jobs", nargs="+")
    parser.add_argument("--tokenizers", nargs="+")
    parser.add_argument("--corpora", nargs="+")
    parser.add_argument("--libraries", nargs="+", default=LIBRARIES)
    parser.add_argument("--threads", nargs="+", type=int, help="1 2, quick: 2")
    parser.add_argument("--megabytes", type=float)
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--warm", type=int, default=3)
    parser.add_argument("--timeout", type=float, default=900, help="seconds that one process may take")
    parser.add_argument("--machine", help="name of the results' folder")
    arguments = parser.parse_args()
    first = PRESETS.get("train" if arguments.what == "train" else arguments.what, PRESETS["encode"])
    arguments.megabytes = arguments.megabytes or first[3]
    arguments.rounds = arguments.rounds or first[4]
    arguments.threads = arguments.threads or ([2] if arguments.what in ("quick", README) else [1, 2])
    return arguments


def make_cases(arguments: argparse.Namespace) -> itertools.chain[Case]:
    """All cases of the presets asked for, of which the corpora and tokenizers are at hand."""
    if arguments.what == README:
        return itertools.chain(selected_cases(arguments))
    names = ["encode", "train"] if arguments.what == "all" else [arguments.what]
    return itertools.chain.from_iterable(cases_of(PRESETS.get(name, PRESETS["encode"]), arguments) for name in names)


def selected_cases(arguments: argparse.Namespace) -> list[Case]:
    """The cases of README.md's table, of which the corpora and tokenizers are at hand."""
    corpora, tokenizers = available_corpora(), ["", *available_tokenizers()]
    return [
        Case(job, tokenizer, corpus, 1 if job == "encode-one" else threads)
        for threads in arguments.threads
        for job, tokenizer, corpus in SELECTED
        if corpus in corpora and tokenizer in tokenizers
    ]


def cases_of(preset: tuple[list[str], list[str], list[str], float, int], arguments: argparse.Namespace) -> list[Case]:
    """Jobs by tokenizers by corpora by threads; the standard library's sources stand in for absent corpora."""
    corpora = [name for name in arguments.corpora or preset[2] if name in [*available_corpora(), STDLIB]] or [STDLIB]
    tokenizers = [name for name in arguments.tokenizers or preset[1] if name in available_tokenizers()] or [TRAINED]
    cases = []
    for job, threads in itertools.product(arguments.jobs or preset[0], arguments.threads):
        # A trainer needs no published tokenizer, and one call a text has nothing to share among threads.
        trains = job.startswith("train-") or job == "count-words"
        if job == "encode-one" and threads != min(arguments.threads):
            continue
        for tokenizer, corpus in itertools.product([""] if trains else tokenizers, corpora):
            cases.append(Case(job, tokenizer, corpus, 1 if job == "encode-one" else threads))
    return cases


def train_stand_in(target: Path) -> None:
    """Has the reference train a tokenizer in a process of its own, which keeps this one small."""
    if target.is_file():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    here, corpus = Path(__file__).parent, corpus_file(STDLIB, 8)
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from pathlib import Path; import harness;"
        "from comparison.adapters import load_adapter;"
        "load_adapter('tokenizers', 1).train_bpe(Path(sys.argv[2])).save(sys.argv[3])"
    )
    subprocess.run([sys.executable, "-c", code, str(here), str(corpus), str(target)], check=True)


def measure_case(case: Case, arguments: argparse.Namespace) -> None:
    """Fills in the runs, each round beginning with another library."""
    for order in processes.interleave(arguments.libraries, arguments.rounds):
        for library in order:
            runs = case.runs.setdefault(library, [])
            if not runs or status(runs) == "ok":
                runs.append(measure(case, library, arguments))


def measure(case: Case, library: str, arguments: argparse.Namespace) -> dict[str, Any]:
    """One fresh process; its last line is the result, since some libraries print as they work."""
    command = [harness.python_of(library), str(Path(__file__).with_name("measure.py")), library, case.job]
    command += ["--reference-python", sys.executable]
    command += ["--corpus", case.corpus, "--threads", str(case.threads), "--megabytes", str(arguments.megabytes)]
    command += ["--warm", str(arguments.warm), *(["--tokenizer", case.tokenizer] if case.tokenizer else [])]
    done = processes.run(command, arguments.timeout)
    lines = done.output.strip().splitlines()
    if done.failure is not None or not lines:
        return {"failed": done.failure or "no result"}
    row: dict[str, Any] = json.loads(lines[-1])
    return row


def status(runs: list[dict[str, Any]]) -> str:
    """`ok`, `not compared` (another rule is documented), `differs`, or why there is no figure."""
    for run in runs:
        for reason in ("unsupported", "failed"):
            if reason in run:
                return f"{reason}: {run[reason]}"
    if any(run["correct"] is False for run in runs):
        return "differs"
    return "ok"


def summarise(case: Case) -> list[dict[str, Any]]:
    """One row a library, with the median over rounds of what was proven equal."""
    rows = []
    for library, runs in case.runs.items():
        row: dict[str, Any] = {name: getattr(case, name) for name in ("job", "tokenizer", "corpus", "threads")}
        row |= {"library": library, "status": status(runs), "rounds": len(runs)}
        row["version"] = runs[0].get("version") or installed_version(library)
        if row["status"] in ("ok", "differs"):
            row |= {name: runs[0][name] for name in ("bytes", "texts")}
        if row["status"] == "ok":
            if runs[0]["correct"] is None:
                row["status"] = "not compared"
            for name in ("seconds_cold", "seconds_warm", "seconds_load", "mb_before", "mb_peak"):
                row[name] = statistics.median(run[name] for run in runs)
            cold = [run["seconds_cold"] for run in runs]
            row |= {"seconds_cold_min": min(cold), "seconds_cold_max": max(cold)}
            row["mb_per_second_cold"] = round(row["bytes"] / row["seconds_cold"] / 1e6, 2)
            row["mb_per_second_warm"] = round(row["bytes"] / row["seconds_warm"] / 1e6, 2)
        rows.append(row)
    return rows


def installed_version(library: str) -> str:
    """The version of a library that gave no result, since another version may give one."""
    try:
        return metadata.version(library)
    except metadata.PackageNotFoundError:
        return UNKNOWN


def table(rows: list[dict[str, Any]]) -> str:
    """The rows of one case for a terminal, fastest first."""
    lines = []
    absent = [row["library"] for row in rows if row["status"] == f"unsupported: {NO_CALL}"]
    for row in sorted(rows, key=lambda row: row.get("seconds_cold", float("inf"))):
        if row["library"] in absent:
            continue
        if "seconds_cold" not in row:
            lines.append(f"  {row['library']:14} {row['status'][:90]}")
            continue
        speed = f"{row['mb_per_second_cold']:9.1f} MB/s cold {row['mb_per_second_warm']:9.1f} MB/s warm"
        note = "" if row["status"] == "ok" else f"  ({row['status']})"
        lines.append(f"  {row['library']:14} {speed} {row['seconds_cold']:9.3f} s {row['mb_peak']:8.0f} MB peak{note}")
    if absent:
        lines.append(f"  no such call: {', '.join(absent)}")
    return "\n".join(lines)


def record(folder: Path, run: str, rows: list[dict[str, Any]], facts: dict[str, str]) -> None:
    """Writes a run in full: its rows for programs, its circumstances and a table for people."""
    write_rows(folder / RUNS / f"{run}.csv", complete(rows, origin_of(facts, run)))
    lines = [f"{name}: {value}" for name, value in facts.items()]
    versions = sorted({f"{row['library']} {row['version']}" for row in rows if row["version"] != UNKNOWN})
    lines.append(f"libraries: {', '.join(versions)}")
    for (job, tokenizer, corpus, threads), group in itertools.groupby(
        rows, key=lambda row: (row["job"], row["tokenizer"], row["corpus"], row["threads"])
    ):
        lines += ["", str(Case(job, tokenizer, corpus, threads)), table(list(group))]
    (folder / RUNS / f"{run}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def describe(arguments: argparse.Namespace) -> dict[str, str]:
    """What the figures depend on."""
    corpora = {name: corpus_file(name, arguments.megabytes) for name in arguments.corpora or available_corpora()}
    return {
        "date": datetime.datetime.now(tz=datetime.timezone.utc).isoformat(timespec="minutes"),
        "commit": commit(),
        "rustc": output_of("rustc", "--version", folder=ROOT),
        "python": platform.python_version(),
        "cpu": cpu_name(),
        "processors": str(os.cpu_count()),
        "system": f"{platform.system()} {platform.release()}",
        "load before": " ".join(f"{load:.2f}" for load in os.getloadavg()),
        "megabytes": f"{arguments.megabytes:g} from the start of each corpus",
        "rounds": str(arguments.rounds),
        "command": " ".join(["sweep.py", *sys.argv[1:]]),
        **{f"sha256 {name}": file_digest(path) for name, path in corpora.items()},
    }


def commit() -> str:
    """The commit that the measured package was built from, and whether its sources are more than that.

    An interpreter may import the package from another checkout than this one. `unknown` if it is from none.
    """
    package = importlib.util.find_spec("lexmill")
    if package is None or package.origin is None:
        return UNKNOWN
    python = Path(package.origin).resolve().parents[1]
    checkout = output_of("git", "-C", str(python), "rev-parse", "--show-toplevel")
    if not checkout or Path(checkout).resolve() / "python" != python:
        return UNKNOWN
    sources = ["rust", "python", "Cargo.toml", "Cargo.lock"]
    changes = output_of("git", "-C", checkout, "status", "--porcelain", "--", *sources)
    return output_of("git", "-C", checkout, "rev-parse", "HEAD") + (CHANGED if changes else "")


def machine_name() -> str:
    """A folder name from processor and number of cores."""
    name = re.sub(r"[^a-z0-9]+", "-", cpu_name().split("(")[0].lower()).strip("-")
    return f"{name}-{os.cpu_count()}"


if __name__ == "__main__":
    main()
