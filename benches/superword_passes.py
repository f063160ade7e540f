"""Encoding with superwords, beside the same training without: passes in one thread of one pinned processor.

Each round makes a new tokenizer, so that the first pass begins with empty caches, and a pass encodes all texts. Hugging
Face's `tokenizers`, where it is installed, encodes the first eighth of the texts. The ids must be equal.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lexmill import Tokenizer, models, pre_tokenizers, trainers

PASSES = 4


def trained(way: str, text: str, vocab_size: int, initial_vocab_size: int) -> str:
    """The JSON of a byte-level tokenizer."""
    superwords = None if way == "plain" else trainers.SuperwordOptions(initial_vocab_size, algorithm=way)
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    options: dict[str, Any] = {"vocab_size": vocab_size, "superwords": superwords, "initial_alphabet": alphabet}
    tokenizer.train_from_iterator(text.splitlines(keepends=True), trainers.BpeTrainer(show_progress=False, **options))
    return tokenizer.to_str()


def cut(text: str, length: int = 4000) -> list[str]:
    """Texts of whole lines, each as short as `length` characters allow."""
    texts = [""]
    for line in text.splitlines(keepends=True):
        if len(texts[-1]) >= length:
            texts.append("")
        texts[-1] += line
    return texts


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of processor time, and the result."""
    start = time.process_time()
    result = call()
    return time.process_time() - start, result


def peer(saved: str, texts: list[str], ids: list[int]) -> str:
    """The speed of Hugging Face's `tokenizers`."""
    with contextlib.suppress(ImportError):
        import tokenizers

        tokenizer = tokenizers.Tokenizer.from_str(saved)
        seconds, rows = timed(lambda: [tokenizer.encode(text) for text in texts])
        found = [token for row in rows for token in row.ids]
        assert found == ids[: len(found)], "the ids differ"
        return f"{sum(len(text.encode()) for text in texts) / 1e6 / seconds:.1f}"
    return "-"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--english", type=Path, default=Path("../shared/data/corpora/english.txt"))
    parser.add_argument("--megabytes", type=int, default=8, help="of text to encode, after 20 MB to train on")
    parser.add_argument("--vocab-size", type=int, default=20_000)
    parser.add_argument("--initial-vocab-size", type=int, default=18_000)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    with given.english.open("rb") as file:
        training, text = (file.read(size * 10**6).decode(errors="ignore") for size in (20, given.megabytes))
    texts = cut(text)
    size = sum(len(text.encode()) for text in texts) / 1e6
    ways = ("plain", "boundless", "superbpe")
    saved = {way: trained(way, training, given.vocab_size, given.initial_vocab_size) for way in ways}
    with contextlib.suppress(AttributeError):
        os.sched_setaffinity(0, [max(os.sched_getaffinity(0))])
    speeds: dict[tuple[str, int], list[float]] = {}
    ids: dict[str, list[int]] = {}
    for _ in range(given.rounds):
        for way in ways:
            tokenizer = Tokenizer.from_str(saved[way])
            for number in range(PASSES):
                seconds, found = timed(lambda: tokenizer.encode_batch_arrays(texts, num_threads=1))  # noqa: B023
                speeds.setdefault((way, number), []).append(size / seconds)
            ids[way] = found.ids.tolist()
    print(f"MB/s of {PASSES} passes over {size:.0f} MB, medians of {given.rounds} rounds; then Hugging Face")
    for way in ways:
        medians = [f"{statistics.median(speeds[way, number]):.0f}" for number in range(PASSES)]
        print(way, *medians, peer(saved[way], texts[: len(texts) // 8], ids[way]))


if __name__ == "__main__":
    main()
