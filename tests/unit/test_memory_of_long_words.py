"""Memory that one long word needed goes back to the system, and the rest is counted."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

MEGABYTES = 6
# Without giving back, each of these models but word level keeps at least 20 bytes for each of the word's.
MOST_KEPT = 64

PROGRAM = """
import ctypes, gc, random, string, sys
import numpy
from lexmill import Tokenizer, models

kind, call, threads, limit, megabytes = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:])
letters = string.ascii_lowercase
pairs = [(left, right) for left in letters for right in letters]
tokens = [*letters, *map("".join, pairs)]
ids = {token: id for id, token in enumerate(tokens)}
if kind == "Unigram":
    pieces = [("<unk>", 0.0), *((token, -5 - id / 99) for token, id in ids.items())]
    model = models.Unigram(pieces, unk_id=0)
elif kind in ("BPE", "dropout"):
    model = models.BPE(ids, pairs, dropout=0.1 if kind == "dropout" else None)
elif kind == "WordPiece":
    inner = {"##" + token: len(ids) + id for token, id in ids.items()}
    unk = {"[UNK]": 2 * len(ids)}
    model = models.WordPiece(ids | inner | unk, unk_token="[UNK]", max_input_chars_per_word=1 << 30)
else:
    model = models.WordLevel({"[UNK]": 0}, unk_token="[UNK]")
tokenizer = Tokenizer(model)
if limit >= 0:
    tokenizer.cache_limit = limit

def resident():
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024

def run(words):
    calls = {
        "encode": lambda: [tokenizer.encode(word) for word in words],
        "batch": lambda: tokenizer.encode_batch(words),
        "fast": lambda: tokenizer.encode_batch_fast(words),
        "ids": lambda: tokenizer.encode_batch_ids(words, num_threads=threads),
        "arrays": lambda: tokenizer.encode_batch_arrays(words, return_offsets=True, num_threads=threads),
        "counts": lambda: tokenizer.count_tokens(words, num_threads=threads),
    }
    made = calls[call]()
    del made

random.seed(3)
words = ["".join(random.choices(letters, k=1 << 20)) * megabytes for _ in range(threads)]
run(["ab", "ba"])
before = resident()
run(words)
gc.collect()
# The C library may keep the memory of the results.
ctypes.CDLL(None).malloc_trim(0)
print(resident() - before, tokenizer.cache_info()["bytes"] / (1 << 20))
"""


def kept(kind: str, call: str, threads: int, limit: int) -> tuple[float, float]:
    """Mebibytes that stay resident after the call, and mebibytes that the tokenizer counts."""
    arguments = [kind, call, *map(str, (threads, limit, MEGABYTES))]
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments], capture_output=True, text=True, check=True, timeout=600
    )
    resident, counted = map(float, run.stdout.split())
    return resident, counted


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="reads /proc and calls glibc")
@pytest.mark.parametrize(
    ("kind", "call", "threads", "limit"),
    [
        ("Unigram", "encode", 1, -1),
        ("Unigram", "arrays", 2, 0),
        ("BPE", "batch", 2, -1),
        ("BPE", "counts", 1, 0),
        ("dropout", "fast", 2, -1),
        ("WordPiece", "arrays", 1, -1),
        ("WordPiece", "ids", 2, 0),
        ("WordLevel", "encode", 1, -1),
    ],
)
def test_a_long_word_leaves_no_memory(kind: str, call: str, threads: int, limit: int) -> None:
    resident, counted = kept(kind, call, threads, limit)
    assert resident < MOST_KEPT
    assert counted < (16 * threads if limit == 0 else 40 * threads)
