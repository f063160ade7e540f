"""Megatron files, with masks and labels, in Megatron Core's own data sets."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lexmill import Tokenizer, open_tokens, tokenize_files
from lexmill.messages import tokenize_message_files
from message_runs import byte_level, conversations, write_chats
from token_runs import rows_of

LIBRARIES = ["megatron"]
END = "<|endoftext|>"


def indexed(prefix: Path) -> Any:
    from megatron.core.datasets.indexed_dataset import IndexedDataset

    return IndexedDataset(str(prefix))


def indexed_rows(prefix: Path) -> list[list[int]]:
    data = indexed(prefix)
    assert data.document_indices.tolist() == list(range(len(data) + 1))
    return [data[at].tolist() for at in range(len(data))]


@pytest.mark.parametrize("join", [False, True])
def test_an_indexed_dataset_has_the_documents(tmp_path: Path, wide: Tokenizer, source: Path, join: bool) -> None:
    out = tmp_path / "o"
    tokenize_files(wide, source, out, join=join, end_token=END, part_bytes=20_000, validation=0.2)
    for split in ("train", "validation"):
        tokens = open_tokens(out, split)
        prefixes = sorted(path.with_suffix("") for path in (out / split).glob("*.bin"))
        assert (len(prefixes) == 1) == join
        assert {indexed(prefix)[0].dtype for prefix in prefixes} == {tokens.dtype}
        assert [row for prefix in prefixes for row in indexed_rows(prefix)] == rows_of(out, split)


@pytest.mark.parametrize("join", [False, True])
@pytest.mark.parametrize("loss", ["mask", "labels"])
def test_masks_and_labels_are_indexed_datasets(tmp_path: Path, loss: Any, join: bool) -> None:
    chats = write_chats(tmp_path / "chats.jsonl", conversations())
    options: dict[str, Any] = {"loss": loss, "join": join, "part_bytes": 5_000}
    files = tokenize_message_files(byte_level(), chats, tmp_path / "o", "chatml", **options)
    name = "loss_mask" if loss == "mask" else "labels"
    prefixes = sorted(path.with_suffix("") for path in (tmp_path / "o").glob(f"*.{name}.bin"))
    ids = [row for prefix in prefixes for row in indexed_rows(prefix.with_suffix(""))]
    assert ids == [row.tolist() for row in files]
    found, masks = [row for prefix in prefixes for row in indexed_rows(prefix)], [mask.tolist() for mask in files.mask]
    if loss == "labels":
        pairs = zip(ids, masks, strict=True)
        masks = [[id if learned else -100 for id, learned in zip(*pair, strict=True)] for pair in pairs]
    assert found == masks


@pytest.fixture
def process_group() -> Iterator[None]:
    import torch

    with tempfile.TemporaryDirectory() as folder:
        store = torch.distributed.FileStore(f"{folder}/store", 1)
        torch.distributed.init_process_group("gloo", rank=0, world_size=1, store=store)
        yield
        torch.distributed.destroy_process_group()


@pytest.mark.usefixtures("process_group")
def test_a_gpt_dataset_has_pieces_of_the_documents(tmp_path: Path, tokenizer: Tokenizer, source: Path) -> None:
    """Samples are windows over documents in an order of Megatron's own."""
    from megatron.core.datasets.blended_megatron_dataset_builder import BlendedMegatronDatasetBuilder
    from megatron.core.datasets.gpt_dataset import GPTDataset, GPTDatasetConfig

    end = tokenizer.token_to_id(END)

    class Described:
        eod, pad, vocab_size, unique_identifiers = end, 0, tokenizer.get_vocab_size(), {"class": "lexmill"}

    files = tokenize_files(tokenizer, source, tmp_path / "o", join=True, end_token=END)
    config = GPTDatasetConfig(
        random_seed=1,
        sequence_length=512,
        blend=([str(tmp_path / "o" / "tokens")], None),
        split="90,10,0",
        tokenizer=Described(),
        reset_position_ids=False,
        reset_attention_mask=False,
        eod_mask_loss=True,
        path_to_cache=str(tmp_path / "cache"),
        mid_level_dataset_surplus=0.005,
    )
    train, valid, _ = BlendedMegatronDatasetBuilder(GPTDataset, [100, 20, None], lambda: True, config).build()
    assert (len(train), len(valid)) >= (100, 20)
    documents = {bytes(ids.astype(np.uint16)[:-1]) for ids in files}
    for data in (train, valid):
        for at in range(20):
            sample = data[at]
            ids = sample["tokens"].numpy().astype(np.uint16)
            assert sample["labels"][:-1].tolist() == ids[1:].tolist()
            first, *whole, last = np.split(ids, np.flatnonzero(ids == end))
            assert whole
            assert all(bytes(piece[1:]) in documents for piece in whole)
            assert any(document.endswith(bytes(first)) for document in documents)
            assert any(document.startswith(bytes(last[1:])) for document in documents)
            # Megatron learns nothing after the end of a document.
            assert (sample["loss_mask"].numpy() == (ids != end)).all()
