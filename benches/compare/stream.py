"""Encodes a stream mixed from all corpora: how fast as a whole beside other libraries, and how fast as it goes on.

    python benches/compare/stream.py --tokenizers gpt2 qwen2 --megabytes 500 --libraries lexmill gigatoken --rounds 3
    python benches/compare/stream.py --tokenizers gpt2 --megabytes 2000 --slices

The stream takes a megabyte from each corpus in turn, and begins a corpus again at its end. Without `--slices`, each
library encodes the file to its fastest result, whole, in a fresh process, in rounds; the ids are compared by number
and sum. A library that reads no files gets documents, whose reading and cutting count. A tokenizer is a published one
or a `tokenizer.json`. With `--slices`, one lexmill encodes slices of 64 MB one after the other, and the rate of each
quarter is told.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import time
from pathlib import Path

import harness  # finds `comparison`
from comparison.passes import limit_threads
from comparison.texts import documents
from corpora import SCRATCH, available_corpora, corpus_file, tokenizer_file

TURN = 10**6
# Characters.
SLICE = 64 * 10**6


def main() -> None:
    """Measures what the arguments say."""
    arguments = parse_arguments()
    stream = make_stream(arguments.megabytes)
    if not arguments.one:
        for tokenizer in arguments.tokenizers:
            if arguments.slices:
                print(measured_alone(arguments, tokenizer, "lexmill", "--slices"), end="", flush=True)
            else:
                compare(arguments, tokenizer)
    elif arguments.slices:
        measure_slices(arguments.tokenizers[0], stream, arguments.threads)
    else:
        print(json.dumps(measure_whole(arguments, stream)))


def parse_arguments() -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokenizers", nargs="+", default=["gpt2"])
    parser.add_argument("--libraries", nargs="+", default=["lexmill", "gigatoken"])
    parser.add_argument("--megabytes", type=int, default=500)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--slices", action="store_true", help="lexmill alone, slice by slice")
    parser.add_argument("--one", action="store_true", help="the first library and tokenizer, once, in this process")
    return parser.parse_args()


def make_stream(megabytes: int) -> Path:
    """The mixed stream, made unless it is there; lines stay whole."""
    target = SCRATCH / f"mixed-{megabytes}.txt"
    if target.is_file() and target.stat().st_size >= megabytes * 10**6:
        return target
    SCRATCH.mkdir(parents=True, exist_ok=True)
    texts = [corpus_file(name, None).read_bytes() for name in available_corpora()]
    places = [0] * len(texts)
    with target.open("wb") as out:
        while out.tell() < megabytes * 10**6:
            for number, text in enumerate(texts):
                start = places[number]
                end = text.find(b"\n", start + TURN) + 1 or len(text)
                out.write(text[start:end])
                places[number] = end % len(text)
    return target


def compare(arguments: argparse.Namespace, tokenizer: str) -> None:
    """All libraries in rounds, each in a process of its own."""
    rows: dict[str, list[dict[str, float]]] = {library: [] for library in arguments.libraries}
    for _ in range(arguments.rounds):
        for library, measured in rows.items():
            measured.append(json.loads(measured_alone(arguments, tokenizer, library)))
    results = {library: {(row["ids"], row["sum"]) for row in measured} for library, measured in rows.items()}
    for library, measured in rows.items():
        rate = statistics.median(row["rate"] for row in measured)
        peak = max(row["peak"] for row in measured)
        print(f"{tokenizer:15} {library:10} {rate:5.0f} MB/s  peak {peak:5.0f} MB", flush=True)
    is_same = len(set.union(*results.values())) == 1
    print("  the same ids" if is_same else f"  DIFFERENT ids: {results}", flush=True)


def measured_alone(arguments: argparse.Namespace, tokenizer: str, library: str, *options: str) -> str:
    """The output of a process that measures one library with one tokenizer."""
    one = ["--one", "--libraries", library, "--tokenizers", tokenizer, *options]
    one += ["--megabytes", str(arguments.megabytes), "--threads", str(arguments.threads)]
    return subprocess.run(
        [harness.python_of(library), __file__, *one], check=True, stdout=subprocess.PIPE, text=True
    ).stdout


def measure_whole(arguments: argparse.Namespace, stream: Path) -> dict[str, float]:
    """One library, once."""
    limit_threads(arguments.threads)
    from comparison.adapters import load_adapter

    adapter = load_adapter(arguments.libraries[0], arguments.threads)
    adapter.load(path_of(arguments.tokenizers[0]))
    started = time.perf_counter()
    if hasattr(adapter, "encode_file"):
        result = adapter.encode_file(stream)
    else:
        with stream.open(encoding="utf-8", newline="\n") as lines:
            result = adapter.encode_arrays(list(documents(lines)))
    seconds = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    ids, _ = adapter.columns(result)
    rate = stream.stat().st_size / seconds / 10**6
    return {"rate": rate, "peak": peak, "ids": len(ids), "sum": int(ids.sum(dtype="uint64"))}


def path_of(tokenizer: str) -> Path:
    """The file of a tokenizer, which is named or given."""
    return Path(tokenizer) if tokenizer.endswith(".json") else tokenizer_file(tokenizer)


def measure_slices(name: str, stream: Path, threads: int) -> None:
    """The rate of each quarter of the stream, and the peak memory."""
    import lexmill

    tokenizer = lexmill.Tokenizer.from_file(str(path_of(name)))
    rates = []
    with stream.open(encoding="utf-8", newline="\n") as lines:
        while slice_lines := lines.readlines(SLICE):
            texts = list(documents(slice_lines, safe=False))
            size = sum(len(text.encode()) for text in texts)
            started = time.perf_counter()
            tokenizer.encode_batch_arrays(texts, num_threads=threads)
            rates.append((size, time.perf_counter() - started))
    for quarter in range(4):
        part = rates[quarter * len(rates) // 4 : (quarter + 1) * len(rates) // 4]
        rate = sum(size for size, _ in part) / sum(seconds for _, seconds in part) / 10**6
        print(f"{name:15} quarter {quarter + 1}  {rate:5.0f} MB/s", flush=True)
    print(f"{name:15} peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000:.0f} MB", flush=True)


if __name__ == "__main__":
    main()
