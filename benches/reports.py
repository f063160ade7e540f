"""`lexmill.evaluate` and `lexmill.report`, beside encoding the same lines once with each tokenizer: processor time.

Each job runs in a fresh process on one pinned processor. `encode` is `encode_batch_arrays` of blocks of lines that are
in memory; the other jobs read the file. `encode_file` is `encode_files_arrays`, for which the file is one text. A
corpus that is missing is made from the lines of `--texts`, as `superwords.py` makes its corpus.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path

from made_corpus import made_corpus
from superwords import generate

DATA = Path("../shared/data")
JOBS = ("encode", "encode_file", "evaluate", "report")


def measure(job: str, corpus: Path, tokenizers: dict[str, Path]) -> float:
    """Seconds of processor time of one job in this process, on one processor; loading does not count."""
    import lexmill
    from lexmill.reports.texts import blocks_of, files_of

    with contextlib.suppress(AttributeError):
        os.sched_setaffinity(0, [max(os.sched_getaffinity(0))])
    loaded = {name: lexmill.Tokenizer.from_file(path) for name, path in tokenizers.items()}

    blocks = [block.texts for block in blocks_of(files_of(corpus, None))] if job == "encode" else []

    def encode() -> None:
        for tokenizer, block in product(loaded.values(), blocks):
            tokenizer.encode_batch_arrays(block, add_special_tokens=False)

    def encode_file() -> None:
        for tokenizer in loaded.values():
            tokenizer.encode_files_arrays([corpus], add_special_tokens=False)

    jobs: dict[str, Callable[[], object]] = {
        "encode": encode,
        "encode_file": encode_file,
        "evaluate": lambda: lexmill.evaluate(loaded, corpus),
        "report": lambda: lexmill.report(loaded, corpus),
    }
    start = time.process_time()
    jobs[job]()
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    names = ("english", "multilingual")
    parser.add_argument("--texts", type=Path, nargs="+", default=[DATA / "corpora" / f"{name}.txt" for name in names])
    parser.add_argument("--corpus", type=Path, help="made if it is missing")
    parser.add_argument("--tokenizers", nargs="+", default=["gpt2", "t5-small", "bert-base-uncased"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--jobs", nargs="+", choices=JOBS, default=JOBS)
    parser.add_argument("--here", action="store_true", help="one job in this process")
    given = parser.parse_args()

    def make(path: Path) -> None:
        with tempfile.NamedTemporaryFile("wb", suffix=".txt") as lines:
            for text in given.texts:
                lines.write(text.read_bytes())
            lines.flush()
            generate(path, given.megabytes * 10**6, given.seed, Path(lines.name))

    options = (given.megabytes, given.seed, *(path.stem for path in given.texts))
    corpus = made_corpus(given.corpus, make, ".txt", "reports", *options)
    if given.here:
        paths = {name: DATA / "tokenizers" / name / "tokenizer.json" for name in given.tokenizers}
        print(json.dumps(measure(given.jobs[0], corpus, paths)))
        return
    seconds: dict[str, list[float]] = {job: [] for job in given.jobs}
    for _ in range(given.rounds):
        for job in given.jobs:
            command = [sys.executable, *sys.argv, "--here", "--jobs", job]
            seconds[job].append(json.loads(subprocess.run(command, check=True, capture_output=True).stdout))
    medians = {job: statistics.median(own) for job, own in seconds.items()}
    for job, median in medians.items():
        times = f"  {median / medians['encode']:.2f} times" if "encode" in medians else ""
        print(f"{job:12}{median:8.2f} s{times}")


if __name__ == "__main__":
    main()
