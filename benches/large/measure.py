"""Corpora larger than memory: counts, trains, tokenizes and compares, and says what each step took.

    python benches/large/measure.py --megabytes 10000 --max-memory 1GB

Each step runs in a process of its own. Peak memory is what the process held at most less what it held once lexmill was
imported; `--assert` makes a step that exceeds `--max-memory` by a fifth, or differs from the unbounded run, an error.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from generate import generate

STEP = """
import json, os, resource, sys, time
from lexmill import Tokenizer, WordCounts, count_words, models, pre_tokenizers, trainers

def resident(key):
    return next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith(key))

before, started = resident("VmRSS"), time.perf_counter()
outcome = {}
"""
END = """
seconds = time.perf_counter() - started
print(json.dumps({"seconds": round(seconds, 2), "peak": resident("VmHWM") - before, **outcome}))
"""
COUNT = """
cut = pre_tokenizers.ByteLevel(add_prefix_space=False)
counts = count_words({corpus!r}, pre_tokenizer=cut, max_memory={memory!r}, folder={folder!r})
counts.save({output!r})
outcome["words"] = len(counts)
"""
TRAIN = """
tokenizer = Tokenizer(models.BPE())
tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
trainer = trainers.BpeTrainer(vocab_size=32000, show_progress=False)
tokenizer.train_from_counts(WordCounts.load({counts!r}), trainer)
tokenizer.save({output!r})
"""
TRAIN_FROM_TEXTS = """
tokenizer = Tokenizer(models.BPE())
tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
trainer = trainers.BpeTrainer(vocab_size=32000, show_progress=False)
tokenizer.train([{corpus!r}], trainer)
tokenizer.save({output!r})
"""
TOKENIZE = """
from lexmill.sources import Lines
from lexmill.token_files import tokenize_files
tokenizer = Tokenizer.from_file({tokenizer!r})
written = tokenize_files(tokenizer, Lines({corpus!r}), {output!r}, format={format!r}, **{options!r})
outcome["tokens"] = written.tokens
"""
# Layouts of token files, and their options.
LAYOUTS: dict[str, dict[str, object]] = {
    "megatron": {},
    "arrow": {},
    "parquet": {},
    "npy": {},
    "raw": {"preset": "nanogpt"},
}
# Tokenizing may take this much whatever the size of the corpus.
TOKENIZING_MEMORY = 10**9


def step(name: str, code: str) -> dict[str, float]:
    """Runs a step, prints what it took, and returns that."""
    started = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", STEP + code + END], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{name}: {done.stderr}")
    outcome: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    took = time.perf_counter() - started
    more = "".join(f"  {key} {value:,}" for key, value in outcome.items() if key not in ("seconds", "peak"))
    print(
        f"{name:28} {outcome['seconds']:8.1f} s  {outcome['peak'] / 1e6:8.0f} MB{more}  ({took:.1f} s in all)",
        flush=True,
    )
    return outcome


def same(one: Path, other: Path) -> bool:
    """Whether two files hold the same bytes."""
    return subprocess.run(["cmp", "--silent", str(one), str(other)], check=False).returncode == 0


def main() -> None:
    """Runs all steps."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=200)
    parser.add_argument("--max-memory", default="32MB")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--data", type=Path, default=Path("../shared/data/corpora"))
    parser.add_argument("--folder", type=Path, help="where files go; by default a temporary folder")
    parser.add_argument("--assert", dest="is_checked", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
        folder = Path(name)
        corpus = folder / "corpus.txt"
        started = time.perf_counter()
        generate(corpus, arguments.megabytes * 10**6, arguments.seed, arguments.data)
        print(f"{'generate':28} {time.perf_counter() - started:8.1f} s  {corpus.stat().st_size:,} bytes", flush=True)
        memory = arguments.max_memory

        def count(limit: str | None, output: str) -> str:
            return COUNT.format(corpus=str(corpus), memory=limit, folder=name, output=str(folder / output))

        unbounded = step("count, no limit", count(None, "unbounded.counts"))
        bounded = step(f"count, {memory}", count(memory, "bounded.counts"))
        rate = unbounded["seconds"] / bounded["seconds"]
        is_same = same(folder / "bounded.counts", folder / "unbounded.counts")
        print(f"bounded: {rate:.2f} of the unbounded rate; bytes {'equal' if is_same else 'DIFFER'}", flush=True)
        train = TRAIN.format(counts=str(folder / "bounded.counts"), output=str(folder / "counted.json"))
        step("train 32k from counts", train)
        step("train 32k from texts", TRAIN_FROM_TEXTS.format(corpus=str(corpus), output=str(folder / "read.json")))
        learnt = same(folder / "counted.json", folder / "read.json")
        print(f"tokenizers {'equal' if learnt else 'DIFFER'}", flush=True)
        most = 0.0
        for layout, options in LAYOUTS.items():
            written = folder / layout
            texts = {"corpus": str(corpus), "output": str(written), "tokenizer": str(folder / "read.json")}
            took = step(f"tokenize to {layout}", TOKENIZE.format(**texts, format=layout, options=options))
            most = max(most, took["peak"])
            shutil.rmtree(written)
        if arguments.is_checked:
            from lexmill._data.word_counts import _bytes_of

            limit = 1.2 * (_bytes_of(memory) or 0)
            if not (is_same and learnt) or bounded["peak"] > limit:
                raise SystemExit(f"the peak is {bounded['peak']:,.0f} bytes and may be {limit:,.0f}, or bytes differ")
            if most > TOKENIZING_MEMORY:
                raise SystemExit(f"the peak of tokenizing is {most:,.0f} bytes and may be {TOKENIZING_MEMORY:,}")


if __name__ == "__main__":
    main()
