"""What the tests of whole runs of `tokenize_files` share: texts, a tokenizer, and the files that a run leaves."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lexmill import Tokenizer, models, open_tokens, pre_tokenizers, trainers

TEXTS = ["" if number % 11 == 3 else f"Der {number}. Satz été\n" + "日本 ab" * (number % 60) for number in range(3000)]


def save_tokenizer(folder: Path, texts: Sequence[str] = TEXTS) -> None:
    """Puts a byte-level tokenizer that knows the texts into `folder/tokenizer.json`."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=400, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.save(folder / "tokenizer.json")


def contents(folder: Path) -> dict[str, bytes]:
    """All files below a folder, by their names from there on."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


PACKED: dict[str, Any] = {"pack": 64, "pad_token": "<|endoftext|>"}
COLUMNS = ["position_ids", "document_ids", "cu_seqlens"]


def rows_of(folder: Path, split: str = "train") -> list[list[int]]:
    """The ids of each document or row of a split."""
    return [ids.tolist() for ids in open_tokens(folder, split)]
