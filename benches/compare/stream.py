"""Encodes a stream mixed from all corpora: how fast as a whole beside other libraries, and how fast as it goes on.

    python benches/compare/stream.py --tokenizers gpt2 qwen2 --megabytes 500 --libraries lexmill gigatoken --rounds 3
    python benches/compare/stream.py --tokenizers gpt2 --megabytes 2000 --slices

The stream takes a megabyte from each corpus in turn, and begins a corpus again at its end. Without `--slices`, each
library encodes the file to its fastest result, whole, in a fresh process, in rounds; the ids are compared by number and
sum. With `--slices`, one lexmill encodes slices of 64 MB one after the other, and the rate of each quarter is told.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

import harness  # noqa: F401 (finds `comparison`)
from comparison.passes import limit_threads
from corpora import SCRATCH, available_corpora, corpus_file, tokenizer_file

TURN = 10**6
SLICE = 64 * 10**6
DOCUMENT = 4000


def main() -> None:
    """Measures what the arguments say."""
    arguments = parse_arguments()
    stream = make_stream(arguments.megabytes)
    if arguments.one:
        print(json.dumps(measure_whole(arguments, stream)))
        return
    for tokenizer in arguments.tokenizers:
        if arguments.slices:
            measure_slices(tokenizer, stream, arguments.threads)
        else:
            compare(arguments, tokenizer)


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
            one = ["--one", "--libraries", library, "--tokenizers", tokenizer]
            one += ["--megabytes", str(arguments.megabytes), "--threads", str(arguments.threads)]
            command = [sys.executable, __file__, *one]
            measured.append(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
    results = {(row["ids"], row["sum"]) for measured in rows.values() for row in measured}
    for library, measured in rows.items():
        rate = statistics.median(row["rate"] for row in measured)
        peak = max(row["peak"] for row in measured)
        print(f"{tokenizer:15} {library:10} {rate:5.0f} MB/s  peak {peak:5.0f} MB", flush=True)
    print("  the same ids" if len(results) == 1 else f"  DIFFERENT ids: {results}", flush=True)


def measure_whole(arguments: argparse.Namespace, stream: Path) -> dict[str, float]:
    """One library, once."""
    limit_threads(arguments.threads)
    from comparison.adapters import load_adapter

    adapter = load_adapter(arguments.libraries[0], arguments.threads)
    adapter.load(tokenizer_file(arguments.tokenizers[0]))
    started = time.perf_counter()
    result = adapter.encode_file(stream)
    seconds = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    ids, _ = adapter.columns(result)
    rate = stream.stat().st_size / seconds / 10**6
    return {"rate": rate, "peak": peak, "ids": len(ids), "sum": int(ids.sum(dtype="uint64"))}


def measure_slices(name: str, stream: Path, threads: int) -> None:
    """The rate of each quarter of the stream, and the peak memory."""
    import lexmill

    tokenizer = lexmill.Tokenizer.from_file(str(tokenizer_file(name)))
    rates, rest = [], b""
    with stream.open("rb") as lines:
        while block := lines.read(SLICE):
            text = rest + block
            cut = text.rfind(b"\n") + 1
            documents, rest = documents_of(text[:cut]), text[cut:]
            started = time.perf_counter()
            tokenizer.encode_batch_arrays(documents, num_threads=threads)
            rates.append((cut, time.perf_counter() - started))
    for quarter in range(4):
        part = rates[quarter * len(rates) // 4 : (quarter + 1) * len(rates) // 4]
        rate = sum(size for size, _ in part) / sum(seconds for _, seconds in part) / 10**6
        print(f"{name:15} quarter {quarter + 1}  {rate:5.0f} MB/s", flush=True)
    print(f"{name:15} peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000:.0f} MB", flush=True)


def documents_of(text: bytes) -> list[str]:
    """Texts of about 4 kB, of whole lines."""
    documents, start = [], 0
    while start < len(text):
        end = text.find(b"\n", start + DOCUMENT) + 1 or len(text)
        documents.append(text[start:end].decode())
        start = end
    return documents


if __name__ == "__main__":
    main()
