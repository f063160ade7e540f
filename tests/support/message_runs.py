"""Shared by the tests of conversations in token files: conversations, a tokenizer, and rows of ids and masks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from chat_templates import HOSTILE
from lexmill import Tokenizer, models, pre_tokenizers, trainers
from lexmill.messages import MessageTokens, tokenize_messages
from lexmill.token_files import TokenFiles

SPECIAL = ["<unk>", "<|im_start|>", "<|im_end|>", "<pad>"]
Rows = list[tuple[list[int], list[int]]]

FORMS: dict[tuple[str, str | None], list[str]] = {
    ("megatron", None): ["mask", "labels"],
    ("arrow", None): ["mask", "labels", "ranges"],
    ("parquet", None): ["mask", "labels", "ranges"],
    ("npy", None): ["mask", "labels"],
    ("raw", "nanogpt"): ["mask"],
    ("raw", "datatrove"): ["mask"],
    ("raw", "dolma"): ["mask"],
    ("raw", "llm.c"): [],
}
"""The forms of masks that each layout has."""
FORMED = [(*layout, form) for layout, forms in FORMS.items() for form in forms]


def conversations(count: int = 400) -> list[list[dict[str, Any]]]:
    """Conversations with hostile contents; some have no assistant, and some an assistant alone."""
    found: list[list[dict[str, Any]]] = []
    for number in range(count):
        texts = [HOSTILE[(number * 7 + step * 5) % (len(HOSTILE) - 2)] for step in range(1 + number % 5)]
        first = number % 3 == 0
        found.append(
            [
                {"role": "assistant" if step % 2 == first else "user", "content": f"{number}{text}"}
                for step, text in enumerate(texts)
            ]
        )
    return found


CHATS = conversations()
CHAT = [{"role": "user", "content": "ab"}, {"role": "assistant", "content": "cd"}]


def byte_level(vocab_size: int = 330) -> Tokenizer:
    """A byte-level tokenizer without a regular expression: its tokens reach over borders of turns."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size, special_tokens=SPECIAL, initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(["assistant\nword word\n\nsystem user caf\u00e9 "] * 20, trainer)
    return tokenizer


def as_lines(records: Sequence[object]) -> bytes:
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def write_chats(path: Path, chats: Sequence[object]) -> Path:
    path.write_bytes(as_lines([{"id": number, "messages": chat} for number, chat in enumerate(chats)]))
    return path


def chats_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`CHATS` on the disk."""
    return write_chats(tmp_path_factory.mktemp("chats") / "chats.jsonl", CHATS)


def rows_of(tokens: MessageTokens) -> Rows:
    """Ids and mask of each conversation of arrays."""
    bounds = tokens.row_splits.tolist()
    return [(tokens.ids[begin:end].tolist(), tokens.loss_mask[begin:end].tolist()) for begin, end in pairwise(bounds)]


def rows_in(files: TokenFiles) -> Rows:
    """The same of token files; of files without borders, one row."""
    masks = files.mask
    assert (len(masks), masks.tokens) == (len(files), files.tokens)
    if files.manifest["options"]["preset"] == "nanogpt":
        return [(files.windows(files.tokens)[0].tolist(), masks.windows(masks.tokens)[0].tolist())]
    return [(ids.tolist(), mask.tolist()) for ids, mask in zip(files, masks, strict=True)]


def rows_of_chats(tokenizer: Tokenizer) -> Rows:
    """Ids and masks of `CHATS`."""
    return rows_of(tokenize_messages(tokenizer, CHATS, "chatml"))


def end_to_end(rows: Rows) -> Rows:
    return [([id for ids, _ in rows for id in ids], [one for _, mask in rows for one in mask])]
