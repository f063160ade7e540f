"""Training of superwords, beside a training without: times, peak memory and bytes written by fresh processes.

The corpus is made from English lines by a seed. Each round takes all lines in a new order. From the second round on, a
line is cut before a word, and continued by the end of the last line that was cut before the same word. So each pair of
neighbouring words is a pair of the original, but lines and longer phrases are new.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "compare"))
import harness  # noqa: F401 (finds `comparison`)
from comparison.passes import peak_megabytes, reset_peak_memory
from made_corpus import made_corpus

__all__ = ["generate", "train"]

WAYS = ("plain", "boundless", "superbpe")


def generate(path: Path, size: int, seed: int, english: Path) -> None:
    """Writes at least `size` bytes of lines to `path`.

    Args:
        path: the file, which is replaced.
        size: bytes.
        seed: decides all draws.
        english: a file of English lines.
    """
    draw = random.Random(seed)
    lines = english.read_text(encoding="utf-8").splitlines()
    ends: dict[str, list[str]] = {}
    written, is_first = 0, True
    with path.open("wb") as file:
        while written < size:
            draw.shuffle(lines)
            for line in lines:
                words = line.split(" ")
                if not is_first:
                    at = int(draw.random() * len(words))
                    end, ends[words[at]] = ends.get(words[at], words[at:]), words[at:]
                    words = words[:at] + end
                written += file.write((" ".join(words) + "\n").encode())
                if written >= size:
                    break
            is_first = False


def train(
    way: str, path: Path, vocab_size: int, initial_vocab_size: int, threads: int, max_memory: str | None
) -> dict[str, object]:
    """Trains in this process; returns times in seconds and the growth of peak memory in MB."""
    from lexmill import Tokenizer, models, pre_tokenizers, trainers

    superwords = None if way == "plain" else trainers.SuperwordOptions(initial_vocab_size, algorithm=way)
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(vocab_size=vocab_size, superwords=superwords, show_progress=False)
    before = reset_peak_memory()
    wall, processor = time.perf_counter(), time.process_time()
    tokenizer.train([str(path)], trainer, num_threads=threads, max_memory=max_memory)
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    peak = peak_megabytes() - before
    # Linux alone tells the bytes that a process writes.
    written = Path("/proc/self/io").read_text().split("wchar: ")[1].split()[0] if sys.platform == "linux" else None
    tokens = tokenizer.get_vocab_size()
    return {
        "way": way,
        "wall": round(wall, 1),
        "processor": round(processor, 1),
        "peak_mb": round(peak),
        "written_gb": written and round(int(written) / 1e9, 2),
        "tokens": tokens,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--english", type=Path, default=Path("../shared/data/corpora/english.txt"))
    parser.add_argument("--corpus", type=Path, help="made if it is missing")
    parser.add_argument("--vocab-size", type=int, default=200_000)
    parser.add_argument("--initial-vocab-size", type=int, default=180_000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--max-memory")
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=WAYS)
    parser.add_argument("--here", action="store_true", help="train in this process")
    given = parser.parse_args()

    def make(path: Path) -> None:
        generate(path, given.megabytes * 10**6, given.seed, given.english)

    options = (given.megabytes, given.seed, given.english.stem)
    corpus = made_corpus(given.corpus, make, ".txt", "superwords", *options)
    if given.here:
        sizes = (given.vocab_size, given.initial_vocab_size)
        print(json.dumps(train(given.ways[0], corpus, *sizes, given.threads, given.max_memory)))
        return
    for way in given.ways:
        # A process of its own: peak memory never falls.
        subprocess.run([sys.executable, *sys.argv, "--here", "--ways", way], check=True)


if __name__ == "__main__":
    main()
