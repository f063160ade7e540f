"""What the tests of Ray and Spark have in common, and sources that workers import from here."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lexmill import Tokenizer, models, pre_tokenizers, trainers
from lexmill.sources import Csv, JsonLines, Lines, Parquet

BYTE_LEVEL = pre_tokenizers.ByteLevel(add_prefix_space=False)


@dataclass(frozen=True)
class Cluster:
    """An engine, by the calls that both have."""

    name: str
    count_words: Callable[..., Any]
    tokenize: Callable[..., Any]


def texts(seed: int, number: int) -> list[str]:
    """Texts in which words repeat, many counts tie, and some characters have several bytes."""
    draw = random.Random(seed)
    words = [draw.choice("abcdeé中") * draw.randint(1, 9) + str(at) for at in range(300)]
    return [" ".join(draw.choices(words, k=draw.randint(1, 12))) for _ in range(number)]


def corpus(folder: Path) -> list[Any]:
    """Seven files, some of them compressed, with other texts in each."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    def rows(seed: int) -> bytes:
        return "".join(json.dumps({"text": text}) + "\n" for text in texts(seed, 200)).encode()

    (folder / "0.txt").write_text("\n".join(texts(0, 300)), encoding="utf-8")
    (folder / "1.jsonl").write_bytes(rows(1))
    # Members end to end, as `cat` makes them.
    (folder / "2.jsonl.gz").write_bytes(gzip.compress(rows(2)) + gzip.compress(rows(3)))
    (folder / "3.jsonl.bz2").write_bytes(bz2.compress(rows(4)))
    (folder / "4.jsonl.xz").write_bytes(lzma.compress(rows(5)))
    pq.write_table(pa.table({"text": texts(6, 400)}), folder / "5.parquet")
    (folder / "6.csv").write_text("text\n" + "\n".join(texts(7, 100)) + "\n", encoding="utf-8")
    return [
        Lines(folder / "0.txt"),
        JsonLines([folder / "1.jsonl", folder / "2.jsonl.gz"]),
        JsonLines(str(folder / "[34].jsonl.*")),
        Parquet(folder / "5.parquet"),
        Csv(folder / "6.csv"),
    ]


def trained() -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = BYTE_LEVEL
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=400, special_tokens=["<|end|>"], initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(texts(8, 300), trainer)
    return tokenizer


def saved(counts: Any, folder: Path) -> bytes:
    """The bytes of the file of some counts."""
    path = folder / "saved.counts"
    counts.save(path)
    found = path.read_bytes()
    path.unlink()
    return found


def tree(folder: Path) -> dict[str, bytes]:
    """All files of a folder, hidden ones too, by their names."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
