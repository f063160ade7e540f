"""Shared by the tests of sources by name: small files in every format, and a tokenizer that knows their words."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

from lexmill import Tokenizer, count_words, pre_tokenizers
from lexmill.models import WordLevel
from lexmill.trainers import WordLevelTrainer

WORDS = ["one", "three", "two"]


def tokenizer() -> Tokenizer:
    made = Tokenizer(WordLevel(unk_token="?"))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return made


def quiet() -> WordLevelTrainer:
    return WordLevelTrainer(show_progress=False, special_tokens=["?"])


def trained() -> Tokenizer:
    made = tokenizer()
    made.train_from_iterator([" ".join(WORDS)], quiet())
    return made


def words_of(files: Any) -> list[str]:
    counts = count_words(files, pre_tokenizer=pre_tokenizers.WhitespaceSplit())
    return sorted(word for word, *_ in counts)


def write(name: str) -> None:
    """A file of three texts of one word each, in the format that the name says."""
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    lowered = Path(name.lower())
    bare, packed = (lowered.stem, lowered.suffix) if lowered.suffix in (".gz", ".bz2", ".xz") else (lowered.name, "")
    table = pa.table({"id": [1, 2, 3], "text": WORDS})
    if bare.endswith(".parquet"):
        pa.parquet.write_table(table, path)
    elif bare.endswith((".arrow", ".feather")):
        pa.feather.write_feather(table, path)
    else:
        lines = {
            "jsonl": lambda: "".join(json.dumps({"id": 1, "text": word}) + "\n" for word in WORDS),
            "csv": lambda: "id,text\n" + "".join(f"1,{word}\n" for word in WORDS),
            "tsv": lambda: "id\ttext\n" + "".join(f"1\t{word}\n" for word in WORDS),
        }
        text = lines.get(bare.rpartition(".")[2], lambda: "\n".join(WORDS))()
        compress = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}.get(packed, bytes)
        path.write_bytes(compress(text.encode()))
