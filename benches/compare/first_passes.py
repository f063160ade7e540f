"""First and later passes beside other libraries, in MB of text a second of processor time on one pinned core.

    python benches/compare/first_passes.py
    python benches/compare/first_passes.py --libraries tokenizers_1 gigatoken --tokenizers gpt2 --megabytes 4 --rounds 3

Rounds of fresh processes, one library after the other, each with one thread and one processor; figures are medians
over the rounds, and a later pass is the median of the passes after the first. Processor time is user and system time of
all threads, so other programs on the machine change it little. A library whose ids differ from the reference's has no
figure. `times` is lexmill's speed by the speed of the best other library, in first and in later passes.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
from typing import Any

import harness  # noqa: F401 (finds `comparison`)
from comparison.machine import cpu_name, load_average
from comparison.rounds import OURS, name_of
from corpora import corpus_file, tokenizer_file
from sweep import Case, commit, measure_case, status

TOKENIZERS = ["gpt2", "cl100k_base", "qwen2", "o200k_base", "mistral-v1", "bert-base-uncased", "t5-small"]
CORPORA = ["english", "multilingual"]
PASSES = ("seconds_processor_cold", "seconds_processor_warm")
# The first pass and later ones.
Speeds = tuple[float, float]


def main() -> None:
    """Prints a line for each tokenizer and corpus as soon as its rounds are over."""
    arguments = parse_arguments()
    for corpus in arguments.corpora:
        corpus_file(corpus, arguments.megabytes)
    for tokenizer in arguments.tokenizers:
        tokenizer_file(tokenizer)
    rounds = "1 round" if arguments.rounds == 1 else f"{arguments.rounds} rounds"
    print(f"{cpu_name()}, load {load_average()} before; commit {commit()}")
    print(f"first / later passes, MB a second of processor time; {arguments.megabytes:g} MB, {rounds}")
    print(line("", [*map(name_of, arguments.libraries), "times"]), flush=True)
    versions: dict[str, str] = {}
    for tokenizer, corpus in itertools.product(arguments.tokenizers, arguments.corpora):
        case = Case("encode-arrays", tokenizer, corpus, 1)
        measure_case(case, arguments)
        print(row_of(case), flush=True)
        versions |= {library: run["version"] for library, runs in case.runs.items() for run in runs if "version" in run}
    print(", ".join(f"{name_of(library)} {version}" for library, version in versions.items()))


def parse_arguments() -> argparse.Namespace:
    """Reads the command line; `libraries` begins with ours."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--libraries", nargs="+", default=["tokenizers_1"], help="others, by the names of adapters")
    parser.add_argument("--tokenizers", nargs="+", default=TOKENIZERS)
    parser.add_argument("--corpora", nargs="+", default=CORPORA)
    parser.add_argument("--megabytes", type=float, default=16)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--warm", type=int, default=3, help="later passes of a process at most")
    parser.add_argument("--timeout", type=float, default=900, help="seconds that one process may take")
    arguments = parser.parse_args()
    arguments.libraries = list(dict.fromkeys([OURS, *(name.replace("-", "_") for name in arguments.libraries)]))
    return arguments


def row_of(case: Case) -> str:
    """The line of a case, and a line for each library without a figure."""
    found = {library: speeds_of(runs) for library, runs in case.runs.items() if status(runs) == "ok"}
    cells = [shown(found.get(library)) for library in case.runs]
    ratio = times(found)
    reasons = [f"  {name_of(library)} {status(runs)}" for library, runs in case.runs.items() if library not in found]
    text = "-" if ratio is None else f"{ratio[0]:.2f} / {ratio[1]:.2f}"
    return "\n".join([line(f"{case.tokenizer} {case.corpus}", [*cells, text]), *reasons])


def speeds_of(runs: list[dict[str, Any]]) -> Speeds:
    """MB a second of processor time, medians over the rounds."""
    first, later = (runs[0]["bytes"] / statistics.median(run[name] for run in runs) / 1e6 for name in PASSES)
    return first, later


def times(found: dict[str, Speeds]) -> Speeds | None:
    """Our speeds by the best other library's, which may be one library in first passes and another in later ones."""
    others = [speeds for library, speeds in found.items() if library != OURS]
    if OURS not in found or not others:
        return None
    first, later = (own / max(other) for own, other in zip(found[OURS], zip(*others, strict=True), strict=True))
    return first, later


def shown(speeds: Speeds | None) -> str:
    """Both speeds, three digits each or whole numbers."""
    return "-" if speeds is None else " / ".join(f"{speed:.{0 if speed >= 100 else 1}f}" for speed in speeds)


def line(head: str, cells: list[str]) -> str:
    """Columns for a terminal."""
    return " ".join([f"{head:32}", *(f"{cell:>16}" for cell in cells)]).rstrip()


if __name__ == "__main__":
    main()
