"""Counting and tokenizing the same files by lexmill alone, by Ray and by Spark: seconds and peak memory.

    python benches/large/engines.py --megabytes 300 --tokenizer gpt2/tokenizer.json

The corpus is that of `generate.py`, in files of 20 MB. Each run is a process of its own, with as many cores as the
machine has. Ray and Spark are started in the process, which is told apart, and then do the work twice: the second time
their workers are there. Memory is the greatest sum of the proportional set sizes of the process and all that it
started, processor seconds are those of all of these. The results of all three must be equal.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from generate import generate

from lexmill import open_tokens

BEGIN = """
import json, os, shutil, sys, time
from pathlib import Path
work, files, tokenizer, folder, group_bytes = sys.argv[1:]
folder, took = Path(folder), {}
from lexmill import Tokenizer, count_words, pre_tokenizers, tokenize_files
from lexmill.sources import Lines
cut = pre_tokenizers.ByteLevel(add_prefix_space=False)
sources = Lines(files)
started = time.perf_counter()

def lap(name):
    global started
    now = time.perf_counter()
    took[name], started = round(now - started, 2), now

def finish(work, clean=lambda: None):
    for name in ("first", "second"):
        work()
        lap(name)
        if name == "first":
            clean()
    print(json.dumps(took))
"""
LOCAL = """
if work == "count":
    def run():
        count_words(sources, pre_tokenizer=cut).save(folder / "counts")
else:
    def run():
        tokenize_files(Tokenizer.from_file(tokenizer), sources, folder / "tokens", overwrite=True)
finish(run)
"""
ENGINE = """
shared = folder / ("runs" if work == "count" else "tokens")
if work == "count":
    def run():
        engine.count_words(sources, folder=shared, pre_tokenizer=cut, group_bytes=group_bytes).save(folder / "counts")
else:
    def run():
        engine.tokenize(tokenizer, sources, shared, group_bytes=group_bytes, overwrite=True)
lap("start")
finish(run, lambda: shutil.rmtree(shared))
"""
WAYS = {
    "lexmill": LOCAL,
    "ray": """
import ray
import lexmill.ray as engine
ray.init(object_store_memory=200_000_000, include_dashboard=False, log_to_driver=False, _temp_dir=os.environ["SHORT"])
"""
    + ENGINE,
    "spark": """
from pyspark.sql import SparkSession
import lexmill.spark as engine
builder = SparkSession.builder.master("local[*,4]").config("spark.driver.memory", "1g")
for name in ("bindAddress", "host"):
    builder = builder.config("spark.driver." + name, "127.0.0.1")
session = builder.config("spark.ui.enabled", "false").config("spark.local.dir", str(folder)).getOrCreate()
"""
    + ENGINE,
}
WORKS = ["count", "tokenize"]
FILE_BYTES = 20 * 10**6


def usage(process: int) -> tuple[int, dict[int, float]]:
    """Bytes of memory of a process and all that it started, and the processor seconds of each by its number."""
    parents, used = {}, {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents[int(entry.name)] = int(fields[1])
            used[int(entry.name)] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    found = {process}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    memory = 0
    for number in found:
        try:
            lines = Path(f"/proc/{number}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        memory += sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))
    return memory, {number: used[number] for number in found if number in used}


def run(way: str, work: str, arguments: list[str]) -> dict[str, Any]:
    """What one run took."""
    environment = {
        **os.environ,
        "RAY_AUTH_TOKEN": os.urandom(16).hex(),
        "RAY_USAGE_STATS_ENABLED": "0",
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
    }
    peak, used = 0, {}
    with tempfile.TemporaryDirectory(prefix="ray-") as short, tempfile.TemporaryFile("w+") as said:
        command = [sys.executable, "-c", BEGIN + WAYS[way], work, *arguments]
        environment["SHORT"] = short
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=said, text=True, env=environment) as process:
            while process.poll() is None:
                memory, seconds = usage(process.pid)
                peak, used = max(peak, memory), used | seconds
                time.sleep(0.1)
            told = process.stdout.read() if process.stdout else ""
        if process.returncode:
            said.seek(0)
            raise SystemExit(f"{way}, {work}: {said.read()[-3000:]}")
    return {**json.loads(told.splitlines()[-1]), "peak": peak, "used": sum(used.values())}


def hashed(work: str, folder: Path) -> str:
    """A hash of what was made; not in the process that made it, whose memory is measured."""
    if work == "count":
        return hashlib.sha256((folder / "counts").read_bytes()).hexdigest()
    tokens, found = open_tokens(folder / "tokens"), hashlib.sha256()
    for at in range(0, tokens.tokens, 1 << 20):
        found.update(tokens._range(at, min(tokens.tokens, at + (1 << 20))).tobytes())
    return found.hexdigest()


def main() -> None:
    """Runs all ways, and compares what they made."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--data", type=Path, default=Path("../shared/data/corpora"))
    parser.add_argument("--tokenizer", type=Path, default=Path("../shared/data/tokenizers/gpt2/tokenizer.json"))
    parser.add_argument("--group-bytes", default="20MB")
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    parser.add_argument("--works", nargs="+", choices=WORKS, default=WORKS)
    arguments = parser.parse_args()
    print("| work | by | start s | first s | second s | processor s | peak MB |\n|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        files = Path(name) / "files"
        files.mkdir()
        for number in range(-(-arguments.megabytes * 10**6 // FILE_BYTES)):
            generate(files / f"{number:05}.txt", FILE_BYTES, arguments.seed + number, arguments.data)
        for work in arguments.works:
            results = set()
            for way in arguments.ways:
                with tempfile.TemporaryDirectory() as folder:
                    options = [str(files), str(arguments.tokenizer), folder, arguments.group_bytes]
                    found = run(way, work, options)
                    results.add(hashed(work, Path(folder)))
                laps = [f"{found[lap]:.1f}" if lap in found else "-" for lap in ("start", "first", "second")]
                row = [work, way, *laps, f"{found['used']:.1f}", f"{found['peak'] / 1e6:.0f}"]
                print("| " + " | ".join(row) + " |", flush=True)
            if len(results) > 1:
                raise SystemExit(f"{work}: the results differ")
    print("results equal")


if __name__ == "__main__":
    main()
