"""Runs the programs of some numbers, `python -m differential SEED START STOP FOLDER`, and writes `result.json`."""

from __future__ import annotations

import json
import os
import resource
import sys
from collections import Counter
from pathlib import Path

import tokenizers
import tokenizers.implementations
import tokenizers.tools.visualizer

import lexmill
import lexmill.implementations
import lexmill.tools.visualizer
from differential import chunks, sandboxes
from differential.deliberate import reason
from differential.run import Tally, run

# What a hostile call takes in memory beyond this ends the process, and not the machine.
MOST_BYTES = 6 << 30
# Results are written so often, as a process may die.
OFTEN = 200


def main() -> None:
    """Runs the programs, and tells the parent process where it is."""
    seed, start, stop = map(int, sys.argv[1:4])
    folder = Path(sys.argv[4])
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    tally = Tally()
    pair = sandboxes.pair(tokenizers, lexmill, folder)
    progress = os.open(folder / "progress", os.O_WRONLY)
    for number in range(start, stop):
        program = chunks.numbered(seed, number)
        run(program, pair, tally, at=lambda name, number=number: note(progress, f"{number} {name}"))
        if number % OFTEN == 0:
            write(tally, folder)
    write(tally, folder)


def note(progress: int, text: str) -> None:
    # One write of always the same length, so that the parent never reads half of it.
    os.pwrite(progress, text.encode().ljust(40), 0)


def write(tally: Tally, folder: Path) -> None:
    explained: Counter[str] = Counter()
    unexplained = []
    for difference in tally.differences:
        entry = reason(difference)
        if entry is None:
            unexplained.append(str(difference))
        else:
            explained[entry.written] += 1
    result = {
        "compared": tally.compared, "panics": tally.panics, "explained": explained, "unexplained": unexplained,
    }  # fmt: skip
    (folder / "result.json").write_text(json.dumps(result), encoding="utf-8")


if __name__ == "__main__":
    main()
