"""Every trainer learns the same bytes in every process, with any number of threads and any seed of Python's hashes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from peers import corpus_file, stdlib_sources

# Trains by every rule on a file and prints a digest of each tokenizer.
SCRIPT = """
import hashlib
import sys

from lexmill import Tokenizer, models, pre_tokenizers, trainers

quiet = {"show_progress": False}
likelihood = trainers.WordPieceTrainer(vocab_size=6_000, score="likelihood", **quiet)
RUNS = {
    "bpe, smallest ids": (models.BPE(), trainers.BpeTrainer(vocab_size=6_000, **quiet)),
    "bpe, first seen": (models.BPE(), trainers.BpeTrainer(vocab_size=6_000, tie_break="first-seen", **quiet)),
    "wordpiece by frequency": (models.WordPiece(), trainers.WordPieceTrainer(vocab_size=6_000, **quiet)),
    "wordpiece by likelihood": (models.WordPiece(), likelihood),
    "unigram": (models.Unigram(), trainers.UnigramTrainer(vocab_size=3_000, unk_token="<unk>", **quiet)),
    "word level": (models.WordLevel(), trainers.WordLevelTrainer(vocab_size=6_000, **quiet)),
}
for name, (model, trainer) in RUNS.items():
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.train([sys.argv[1]], trainer)
    print(name, tokenizer.get_vocab_size(), hashlib.sha256(tokenizer.to_str().encode()).hexdigest())
"""
RUNS = 20
# Enough that every stage shares its work out among seven threads.
BYTES = 8 << 20


def sample(name: str, folder: Path) -> Path:
    """The first lines of a corpus, or the standard library's sources where it is absent."""
    path = folder / "corpus.txt"
    if name == "stdlib":
        path.write_text("\n".join(stdlib_sources()), encoding="utf-8")
        return path
    with corpus_file(name).open("rb") as file:
        path.write_bytes(b"".join(file.readlines(BYTES)))
    return path


def digests(corpus: Path, threads: int, seed: int) -> str:
    """What the script prints in a process of its own."""
    environment = {**os.environ, "LEXMILL_NUM_THREADS": str(threads), "PYTHONHASHSEED": str(seed)}
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(corpus)], env=environment, check=True, capture_output=True, text=True
    )
    return run.stdout


@pytest.mark.slow
@pytest.mark.parametrize("name", ["english", "german", "stdlib"])
def test_fresh_processes_learn_the_same_bytes(name: str, tmp_path: Path) -> None:
    corpus = sample(name, tmp_path)
    expected = digests(corpus, 1, 0)
    assert len(expected.splitlines()) == 6
    for run in range(1, RUNS if name == "english" else 4):
        threads = (1, 2, 7)[run % 3]
        assert digests(corpus, threads, run) == expected, f"{threads} threads, PYTHONHASHSEED={run}"
