"""What shows that a result is right: a digest that does not depend on the form a library gives its results in."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from adapters import REFERENCE, Adapter, load_adapter
from corpora import SCRATCH, corpus_file, documents, file_digest, short_texts, tokenizer_folder

ENCODING_JOBS = [
    "encode-arrays",
    "encode-lists",
    "encode-encodings",
    "encode-offsets",
    "encode-file",
    "encode-one",
    "count-tokens",
]
# Of these, only merges and counted words can be compared.
BPE_JOBS = ["train-bpe", "train-bpe-128k"]
TRAINING_JOBS = [*BPE_JOBS, "train-wordpiece", "train-wordpiece-likelihood", "train-unigram", "count-words"]
# Texts that the reference encodes at once: its results for a whole corpus may not fit memory.
STEP = 500


class Encoded:
    """Digests encoded texts, at once or step by step: ids, the rows' lengths, and offsets where the job has them."""

    def __init__(self, job: str) -> None:
        # Whether rows are ids and offsets, read already.
        self.read = job == "encode-offsets"
        self.parts = {"ids": hashlib.sha256()}
        # One file is one row to some libraries and many to none; its ids alone are compared.
        if job != "encode-file":
            self.parts["lengths"] = hashlib.sha256()
        if job in ("encode-encodings", "encode-offsets"):
            self.parts["offsets"] = hashlib.sha256()

    def add(self, adapter: Adapter, result: Any) -> None:
        """Adds the result of some texts."""
        rows = [row[0] for row in result] if self.read else result
        ids, lengths = adapter.columns(rows)
        self.parts["ids"].update(np.ascontiguousarray(ids, "<u4").tobytes())
        if "lengths" in self.parts:
            self.parts["lengths"].update(lengths.astype("<i8").tobytes())
        if "offsets" in self.parts:
            for row in [row[1] for row in result] if self.read else (row.offsets for row in result):
                self.parts["offsets"].update(np.asarray(row, "<u4").tobytes())

    def hexdigest(self) -> str:
        """The digest of the parts' digests."""
        return hashlib.sha256("".join(part.hexdigest() for part in self.parts.values()).encode()).hexdigest()


def digest(adapter: Adapter, job: str, result: Any) -> str | None:
    """SHA-256 of what a right result must have in common with the reference's; none where that cannot be asked."""
    if job == "count-tokens":
        return hashlib.sha256(np.fromiter(result, "<i8", len(result)).tobytes()).hexdigest()
    if job in TRAINING_JOBS:
        facts: Iterable[Any] | None = None
        if job in BPE_JOBS:
            facts = adapter.merges(result)
        elif job == "count-words":
            facts = adapter.word_counts(result)
        if facts is None:
            return None
        sha = hashlib.sha256()
        for fact in facts if job in BPE_JOBS else sorted(facts):
            sha.update(repr(fact).encode())
        return sha.hexdigest()
    encoded = Encoded(job)
    encoded.add(adapter, result)
    return encoded.hexdigest()


def reference_digest(arguments: argparse.Namespace) -> str:
    """The digest of the reference library's result, computed once, in a process of its own, and kept."""
    corpus = corpus_file(arguments.corpus, arguments.megabytes)
    parts = [metadata.version(REFERENCE), arguments.job, file_digest(corpus)]
    if arguments.job in ENCODING_JOBS:
        parts.append(file_digest(tokenizer_folder(arguments.tokenizer) / "tokenizer.json"))
    key = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]
    kept = SCRATCH / f"reference-{key}.txt"
    if not kept.is_file():
        command = [sys.executable, __file__, arguments.job, arguments.tokenizer, str(corpus)]
        output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        SCRATCH.mkdir(parents=True, exist_ok=True)
        kept.write_text(output.split()[-1])
    return kept.read_text()


def _main(job: str, tokenizer: str, corpus: Path) -> str | None:
    os.environ["TOKENIZERS_PARALLELISM"] = "true"
    adapter: Any = load_adapter(REFERENCE, os.cpu_count() or 1)
    if job in TRAINING_JOBS:
        method = getattr(adapter, job.replace("-", "_"))
        return digest(adapter, job, method(adapter.prepare_training(corpus, SCRATCH)))
    folder = tokenizer_folder(tokenizer)
    adapter.load(folder)
    if job == "encode-file" and not _is_byte_level(folder):
        texts = [corpus.read_text(encoding="utf-8")]
    else:
        texts = short_texts(corpus) if job == "encode-one" else documents(corpus)
    if job == "count-tokens":
        return digest(adapter, job, [len(encoding) for encoding in adapter.encode_arrays(texts)])
    encoded = Encoded(job)
    for start in range(0, len(texts), STEP):
        part = texts[start : start + STEP]
        encoded.add(adapter, adapter.encode_offsets(part) if encoded.read else adapter.encode_encodings(part))
    return encoded.hexdigest()


def _is_byte_level(folder: Path) -> bool:
    # Only there do cuts between documents leave the ids as they are; see `corpora.documents`.
    definition = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    return "ByteLevel" in json.dumps(definition["pre_tokenizer"])


if __name__ == "__main__":
    print(_main(sys.argv[1], sys.argv[2], Path(sys.argv[3])))
