"""Tokenized conversations, as axolotl and TRL load them."""

from __future__ import annotations

from pathlib import Path

import pytest

from lexmill import Tokenizer
from lexmill.messages import tokenize_messages

pytest.importorskip("jinja2")
np = pytest.importorskip("numpy")
pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
datasets = pytest.importorskip("datasets")

CHATS = [
    [{"role": "user", "content": "cat?"}, {"role": "assistant", "content": " sat" * number}] for number in range(1, 50)
]


def test_datasets_loads_the_columns_that_axolotl_asks_for(tmp_path: Path, tokenizer: Tokenizer) -> None:
    datasets.disable_progress_bars()
    special = Tokenizer.from_str(tokenizer.to_str())
    special.add_special_tokens(["<|im_start|>", "<|im_end|>"])
    tokens = tokenize_messages(special, CHATS, "chatml")
    mask = pa.LargeListArray.from_arrays(pa.array(tokens.row_splits), pa.array(np.ones(len(tokens.ids), np.int8)))
    parquet.write_table(tokens.to_arrow(labels=True).append_column("attention_mask", mask), tmp_path / "chats.parquet")
    files, cache = str(tmp_path / "chats.parquet"), str(tmp_path / "cache")
    found = datasets.load_dataset("parquet", data_files=files, split="train", cache_dir=cache)
    assert sorted(found.column_names) == ["attention_mask", "input_ids", "labels"]
    assert len(found) == len(CHATS)
    end = special.token_to_id("<|im_end|>")
    for row in found:
        ids, labels = row["input_ids"], row["labels"]
        assert row["attention_mask"] == [1] * len(ids)
        assert len(labels) == len(ids)
        assert all(label in (id, -100) for id, label in zip(ids, labels, strict=True))
        # The end of the answer is learned, and the end of the question is not.
        assert [label for id, label in zip(ids, labels, strict=True) if id == end] == [-100, end]
