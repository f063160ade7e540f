"""`Session.append` at the end of a long text: processor time of appends of a few hundred characters.

    python benches/session.py --characters 4000000 --appended 256

A row has the median and the maximum over all appends, in microseconds, and the ids that an append tells.
Tokenizers that encode the whole text at each append are named without times.
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path

import lexmill

DATA = Path("../shared/data")


def measure(tokenizer: lexmill.Tokenizer, text: str, characters: int, appended: int) -> tuple[list[float], list[int]]:
    """The seconds of each append after `characters`, and the ids that each append tells; none if no id is settled."""
    session = tokenizer.session()
    session.append(text[:characters])
    seconds: list[float] = []
    told: list[int] = []
    if not session.settled:
        return seconds, told
    for start in range(characters, len(text), appended):
        piece = text[start : start + appended]
        begin = time.process_time_ns()
        _, ids = session.append(piece)
        seconds.append((time.process_time_ns() - begin) / 1e9)
        told.append(len(ids))
    return seconds, told


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--characters", type=int, default=4_000_000)
    parser.add_argument("--appended", type=int, default=256)
    parser.add_argument("--appends", type=int, default=1000)
    parser.add_argument("--texts", type=Path, nargs="+", default=sorted((DATA / "corpora").glob("*.txt")))
    parser.add_argument("--tokenizers", type=Path, nargs="+", default=sorted(DATA.glob("tokenizers/*/tokenizer.json")))
    given = parser.parse_args()
    print(f"{'tokenizer':24}{'text':20}{'median us':>10}{'most us':>10}{'ids told':>10}")
    for path in given.tokenizers:
        tokenizer = lexmill.Tokenizer.from_file(path)
        for source in given.texts:
            text = source.read_text(encoding="utf-8")[: given.characters + given.appends * given.appended]
            if len(text) <= given.characters:
                print(f"{path.parent.name:24}{source.stem:20}  has {len(text):,} characters")
                continue
            seconds, told = measure(tokenizer, text, given.characters, given.appended)
            if not seconds:
                print(f"{path.parent.name:24}{source.stem:20}  encodes the whole text")
                continue
            times = f"{statistics.median(seconds) * 1e6:10.1f}{max(seconds) * 1e6:10.1f}"
            print(f"{path.parent.name:24}{source.stem:20}{times}{statistics.median(told):10.0f}")


if __name__ == "__main__":
    main()
