"""What the reference library gives, of which a digest is kept, and the texts of each job."""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import harness  # noqa: F401 (finds `comparison`)
from comparison.adapters import REFERENCE, load_adapter
from comparison.digests import ENCODING_JOBS, TRAINING_JOBS, Encoded, digest, expected_rows, file_digest
from comparison.expected import is_byte_level
from comparison.texts import documents, read_lines, short_texts
from corpora import SCRATCH, corpus_file, tokenizer_file

# Part of the names of kept digests: another number where digests are made in another way.
VERSION = "2"


def texts_of(job: str, corpus: Path) -> Any:
    """What an encoding job is called with."""
    if job == "encode-file":
        return corpus
    lines = read_lines(corpus)
    return short_texts(lines) if job == "encode-one" else list(documents(lines))


def reference_digest(arguments: argparse.Namespace) -> str:
    """The digest of the reference library's result, from a process of its own with its own interpreter."""
    corpus = corpus_file(arguments.corpus, arguments.megabytes)
    command = [arguments.reference_python, __file__, arguments.job, arguments.tokenizer, str(corpus)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.split()[-1]


def _kept_digest(job: str, tokenizer: str, corpus: Path) -> str:
    """The digest, computed once for a version, a job, a corpus and a tokenizer."""
    parts = [VERSION, metadata.version(REFERENCE), job, file_digest(corpus)]
    if job in ENCODING_JOBS:
        parts.append(file_digest(tokenizer_file(tokenizer)))
    key = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]
    kept = SCRATCH / f"reference-{key}.txt"
    if not kept.is_file():
        found = str(_digest(job, tokenizer, corpus))
        SCRATCH.mkdir(parents=True, exist_ok=True)
        kept.write_text(found)
    return kept.read_text()


def _digest(job: str, tokenizer: str, corpus: Path) -> str | None:
    os.environ["TOKENIZERS_PARALLELISM"] = "true"
    adapter: Any = load_adapter(REFERENCE, os.cpu_count() or 1)
    if job in TRAINING_JOBS:
        method = getattr(adapter, job.replace("-", "_"))
        return digest(adapter, job, method(adapter.prepare_training(corpus, SCRATCH)))
    path = tokenizer_file(tokenizer)
    adapter.load(path)
    if job != "encode-file":
        texts = texts_of(job, corpus)
    elif is_byte_level(path):
        texts = list(documents(read_lines(corpus)))
    else:
        texts = [corpus.read_text(encoding="utf-8")]
    encoded = Encoded(job)
    for rows in expected_rows(adapter, job, texts):
        encoded.add(rows)
    return encoded.hexdigest()


if __name__ == "__main__":
    print(_kept_digest(sys.argv[1], sys.argv[2], Path(sys.argv[3])))
