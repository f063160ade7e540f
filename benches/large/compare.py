"""Tokenizing files to disk beside the other ways to do it: seconds and peak memory of whole processes.

    python benches/large/compare.py --tokenizer gpt2/tokenizer.json --megabytes 1000 --slow-megabytes 60

The corpus is that of `generate.py`, or `--corpus` over and over, as documents of about 4 KB. Each way runs in a fresh
process, all ways in turn, several times over; medians count. The quick ways read the whole corpus, and all ways its
first `--slow-megabytes`. Peak memory is the greatest sum of the proportional set sizes of the process and its children.
Each way writes two bytes an id; all must agree on the number of ids and on their sum.

| way | how |
|---|---|
| `lexmill` | `tokenize_files`, which also brings all files to the disk and takes their checksums |
| `gigatoken` | `encode_files` to arrays in memory, which numpy or pyarrow write |
| `datatrove` | its reader and `DocumentTokenizer`, one task, since there is one file |
| `megatron` | as Megatron-LM's `preprocess_data.py` over `tokenizers`: two processes encode record by record |
| `pyarrow` | record batches read by pyarrow, `encode_batch` of `tokenizers` for each |
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from generate import generate
from ways import CHECK, QUICK, WAYS, program_of, required

DOCUMENT = 4000


def documents(text: Path, size: int) -> Iterator[str]:
    """Documents of about 4 KB with so many bytes in all: lines of `text`, over and over if that has fewer."""
    done = 0
    while done < size:
        with text.open("rb") as file:
            while done < size and (document := b"".join(file.readlines(DOCUMENT))):
                done += len(document)
                yield document.decode()


def write_corpora(text: Path, size: int, folder: Path) -> list[Path]:
    """The documents as JSON lines, bare and in zstd, and as Parquet."""
    import pyarrow as pa
    import pyarrow.parquet as pq
    import zstandard

    folder.mkdir()
    paths = [folder / name for name in ("corpus.jsonl", "corpus.jsonl.zst", "corpus.parquet")]
    schema = pa.schema([("text", pa.string())])
    group: list[str] = []
    with (
        paths[0].open("wb") as bare,
        paths[1].open("wb") as file,
        zstandard.ZstdCompressor().stream_writer(file) as compressed,
        pq.ParquetWriter(paths[2], schema, compression="zstd") as table,
    ):
        for document in documents(text, size):
            line = json.dumps({"text": document}, ensure_ascii=False).encode() + b"\n"
            bare.write(line)
            compressed.write(line)
            group.append(document)
            if len(group) == 5000:
                table.write_table(pa.table({"text": group}, schema))
                group = []
        table.write_table(pa.table({"text": group}, schema))
    return paths


def resident(process: int) -> int:
    """The proportional set sizes of a process and its children, in bytes."""
    total = 0
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            group = os.getpgid(int(entry.name))
            if group == process:
                rollup = (entry / "smaps_rollup").read_text()
                total += next(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:")) * 1024
        except (OSError, StopIteration):
            continue
    return total


def run(way: str, arguments: list[str], folder: Path) -> tuple[float, int, float]:
    """Seconds, peak memory and processor seconds of one run."""
    script = folder / f"way_{way}.py"
    script.write_text(program_of(way))
    before = os.times()
    started, peak = time.perf_counter(), 0
    log = folder / "log"
    with (
        log.open("wb") as said,
        subprocess.Popen(
            [sys.executable, str(script), *arguments], stdout=said, stderr=said, start_new_session=True
        ) as process,
    ):
        while process.poll() is None:
            peak = max(peak, resident(process.pid))
            time.sleep(0.02)
    seconds, after = time.perf_counter() - started, os.times()
    if process.returncode:
        raise RuntimeError(f"{way}: {log.read_text()[-2000:]}")
    busy = after.children_user + after.children_system - before.children_user - before.children_system
    return seconds, peak, busy


def main() -> None:
    """Prints a table: a line for each size, source, layout and way."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--corpus", type=Path, help="a text file; by default a generated corpus")
    parser.add_argument("--data", type=Path, default=Path("../shared/data/corpora"), help="what is generated from")
    parser.add_argument("--megabytes", type=int, default=1000)
    parser.add_argument("--slow-megabytes", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--layouts", nargs="+", default=["megatron", "arrow"])
    parser.add_argument("--ways", nargs="+", default=list(WAYS), choices=list(WAYS))
    arguments = parser.parse_args()
    is_there = {way: (name := required(way)) is None or importlib.util.find_spec(name) for way in arguments.ways}
    ways = [way for way in arguments.ways if is_there[way]]
    name = arguments.corpus.name if arguments.corpus else "generated"
    print(f"# {name}, {arguments.tokenizer.parent.name}, medians of {arguments.rounds} rounds; skipped:", end=" ")
    print(", ".join(way for way in arguments.ways if way not in ways) or "none")
    print("| MB | source | layout | way | s | MB/s | cores | peak MB | times lexmill's s | times its memory |")
    print("|---|---|---|---|---|---|---|---|---|---|", flush=True)
    quick = [way for way in ways if way in QUICK]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        text = arguments.corpus or folder / "corpus.txt"
        if not arguments.corpus:
            generate(text, max(arguments.megabytes, arguments.slow_megabytes) * 10**6, 1, arguments.data)
        for megabytes, taken in ((arguments.megabytes, quick), (arguments.slow_megabytes, ways)):
            if not megabytes or len(taken) < 2:
                continue
            for source in write_corpora(text, megabytes * 10**6, folder / str(megabytes)):
                for layout in arguments.layouts:
                    compare(megabytes, source, layout, taken, arguments, folder)


def compare(
    megabytes: int, source: Path, layout: str, ways: list[str], arguments: argparse.Namespace, folder: Path
) -> None:
    """Runs all ways in turn, beginning with another one each round, and prints their lines."""
    # datatrove has a layout of its own and no other.
    taken = [way for way in ways if way != "datatrove" or layout == "megatron"]
    runs: dict[str, list[tuple[float, int, float]]] = {way: [] for way in taken}
    sums: dict[str, str] = {}
    for number in range(arguments.rounds):
        for way in taken[number % len(taken) :] + taken[: number % len(taken)]:
            output = folder / "output"
            runs[way].append(run(way, [str(source), str(output), layout, str(arguments.tokenizer)], folder))
            if way not in sums:
                sums[way] = subprocess.check_output([sys.executable, "-c", CHECK, str(output)], text=True)
            shutil.rmtree(output)
            shutil.rmtree(f"{output}.log", ignore_errors=True)
    if len(set(sums.values())) > 1:
        print(f"ids differ: {sums}")
    median = {way: tuple(statistics.median(values) for values in zip(*runs[way], strict=True)) for way in taken}
    seconds, peak, _ = median["lexmill"]
    for way, (took, held, busy) in median.items():
        kind = source.name.partition(".")[2]
        print(
            f"| {megabytes} | {kind} | {layout} | {way} | {took:.2f} | {megabytes / took:.0f} "
            f"| {busy / took:.2f} | {held / 1e6:.0f} | {took / seconds:.1f} | {held / peak:.1f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
