"""Looks for cliffs: how much of its plain speed a tokenizer keeps when its stages or added tokens are others.

    python benches/cliffs.py                     # all rows, 2 MB a corpus
    python benches/cliffs.py --small             # a minute, compared with the record
    python benches/cliffs.py --record            # writes the record, from more rounds over the same text
    python benches/cliffs.py --only deepseek bert

A row is a published family (`tests/support/families.py`) or a change of BERT, T5, Mistral or GPT-2. It prints the share
of the speed of the plain tokenizer with the same vocabulary and the same text: in the first pass, with empty caches,
and in later ones. All tables are made before, as they are after much text. One thread, processor time; both tokenizers
take turns, and a share is the median of the rounds. With `--small`, a row that is more than 20 % under its record is
measured again, and if it stays there, the exit is 1.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parent / "compare"))

import harness  # noqa: F401 (finds `comparison`)
from cliff_rows import Row, changes, families, plain
from cliff_shares import INSTRUCTIONS, Shares, better, falls, read, record_path, share, write
from comparison.passes import limit_threads
from corpora import data_folder

RESULTS = Path(__file__).parent / "results"
CORPORA = ("english", "multilingual")
DOCUMENT = 4096
# Passes after the first one, timed as one: a pass over a small text is short.
LATER = 4


@dataclass(frozen=True)
class Mode:
    """How much is measured."""

    bytes: int
    rounds: int


FULL, SMALL = Mode(2_000_000, 9), Mode(200_000, 5)
# For records, and for rows that seem to have fallen.
LONGER = Mode(SMALL.bytes, 3 * SMALL.rounds)


def main() -> int:
    """Measures the rows that the arguments choose; 1 if a row fell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", action="store_true", help="little text, compared with the record")
    parser.add_argument("--record", action="store_true", help="write the record")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="rows with one of these in their names")
    arguments = parser.parse_args()
    mode = SMALL if arguments.small or arguments.record else FULL
    limit_threads(1)
    # A collection would fall into the time of one pass or another.
    gc.disable()
    if missing := [name for name in CORPORA if not corpus_file(name).is_file()]:
        print(f"skipped: no {' and no '.join(missing)} in {data_folder() / 'corpora'}; set LEXMILL_DATA")
        return 0
    texts = {name: documents(name, mode.bytes) for name in CORPORA}
    rows = [row for row in (*families(), *changes()) if is_chosen(row, arguments.only)]
    if not (arguments.record or arguments.small):
        for _ in measure(rows, texts, mode):
            pass
        return 0
    record = record_path(RESULTS)
    if record is None:
        print(f"skipped: no record is of processors like this one, without {' and without '.join(INSTRUCTIONS)}")
        return 0
    if arguments.record:
        kept = read(record) if arguments.only else {}
        write(record, LONGER.bytes, kept | dict(measure(rows, texts, LONGER)))
        return 0
    return compare(rows, dict(measure(rows, texts, mode)), texts, read(record))


def is_chosen(row: Row, names: list[str] | None) -> bool:
    return names is None or any(name in row.name for name in names)


def compare(rows: list[Row], shares: dict[str, Shares], texts: dict[str, list[str]], records: dict[str, Shares]) -> int:
    """Tells the rows that are under their records in two measurements, the second a longer one."""
    low = [row for row in rows if falls({row.name: shares.get(row.name, {})}, records)]
    if low:
        print("\nunder their records, so measured again:")
    for name, again in measure(low, texts, LONGER):
        shares[name] = better(shares[name], again)
    told = falls(shares, records)
    for line in told:
        print(f"fell: {line}")
    if new := shares.keys() - records.keys():
        print(f"not recorded: {', '.join(sorted(new))}")
    return 1 if told else 0


def measure(rows: list[Row], texts: dict[str, list[str]], mode: Mode) -> Iterator[tuple[str, Shares]]:
    """Measures and prints rows, vocabulary by vocabulary."""
    # Only now: the number of threads is read once.
    import lexmill

    head = "".join(f"{f'{corpus} {passes}':>20}" for corpus in texts for passes in ("first", "later"))
    for vocabulary in dict.fromkeys(row.vocabulary for row in rows):
        file = data_folder() / "tokenizers" / vocabulary / "tokenizer.json"
        if not file.is_file():
            print(f"skipped: no tokenizers/{vocabulary} in {data_folder()}")
            continue
        # As after much text: some tables are made only then.
        plain_one = plain(vocabulary).load(lexmill, file)._with_all_tables()
        print(f"\n{vocabulary:<55}{head}")
        print(f"{'  plain, MB/s':<55}" + "".join(f"{rate:>20.1f}" for rate in rates(plain_one, texts, mode.rounds)))
        for row in (row for row in rows if row.vocabulary == vocabulary):
            own = row.load(lexmill, file)._with_all_tables()
            values: Shares = {}
            for corpus, some in texts.items():
                first, later = shares_of(plain_one, own, some, mode.rounds)
                values |= {f"{corpus} first": first, f"{corpus} later": later}
            print(f"  {row.name:<53}" + "".join(f"{value:>20.2f}" for value in values.values()), flush=True)
            yield row.name, values


def shares_of(plain_one: Any, own: Any, texts: list[str], rounds: int) -> tuple[float, float]:
    """The shares of the first pass and of later ones."""
    for tokenizer in (plain_one, own):
        # Tables that are made when they are first needed are no part of a pass.
        seconds(tokenizer, texts)
    pairs = []
    for number in range(rounds):
        # Each of the two finds its texts in the processor's cache as often as the other.
        if number % 2:
            pairs.append((seconds(plain_one, texts), seconds(own, texts)))
        else:
            pairs.append((seconds(own, texts), seconds(plain_one, texts))[::-1])
    return share((one[0], other[0]) for one, other in pairs), share((one[1], other[1]) for one, other in pairs)


def rates(tokenizer: Any, texts: dict[str, list[str]], rounds: int) -> Iterable[float]:
    """Megabytes a second of the first pass and of later ones, for each corpus: the best of the rounds."""
    for some in texts.values():
        size = sum(len(text.encode()) for text in some) / 1e6
        times = [seconds(tokenizer, some) for _ in range(rounds)]
        yield size / min(first for first, _ in times)
        yield size / min(later for _, later in times)


def seconds(tokenizer: Any, texts: list[str]) -> tuple[float, float]:
    """Processor time of a pass with empty caches, and of one that follows."""
    tokenizer.clear_cache()
    started = time.process_time()
    tokenizer.encode_batch_arrays(texts)
    between = time.process_time()
    for _ in range(LATER):
        tokenizer.encode_batch_arrays(texts)
    return between - started, (time.process_time() - between) / LATER


def documents(corpus: str, size: int) -> list[str]:
    """Documents of about 4 kB that end at line ends, evenly spread over a corpus."""
    path = corpus_file(corpus)
    number = size // DOCUMENT
    step = path.stat().st_size // number
    texts = []
    with path.open("rb") as file:
        for place in range(number):
            file.seek(place * step)
            # The rest of a line.
            file.readline()
            texts.append((file.read(DOCUMENT) + file.readline()).decode())
    return texts


def corpus_file(name: str) -> Path:
    return data_folder() / "corpora" / f"{name}.txt"


if __name__ == "__main__":
    sys.exit(main())
