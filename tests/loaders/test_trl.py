"""Conversations and texts in TRL's SFTTrainer, for a step of a tiny model on the processor."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import lexmill
from lexmill import Tokenizer
from lexmill.messages import tokenize_message_files, tokenize_messages
from message_runs import byte_level, rows_of, write_chats

LIBRARIES = ["trl"]
CHATS = [
    [{"role": "user", "content": "cat?"}, {"role": "assistant", "content": " sat" * number}] for number in range(1, 50)
]


@pytest.fixture(scope="module")
def chat_tokenizer() -> Tokenizer:
    return byte_level()


@pytest.fixture
def folder(tmp_path: Path, chat_tokenizer: Tokenizer) -> Path:
    chat_tokenizer.save(str(tmp_path / "tokenizer.json"))
    config = {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": "<|im_end|>", "pad_token": "<pad>"}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    return tmp_path


def trainer_of(folder: Path, data: Any, **options: Any) -> Any:
    from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM
    from trl import SFTConfig, SFTTrainer

    sizes = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
    ways = {"use_cpu": True, "bf16": False, "report_to": [], "save_strategy": "no", "disable_tqdm": True}
    steps = {"max_steps": 1, "per_device_train_batch_size": 4, "output_dir": str(folder / "out")}
    return SFTTrainer(
        model=LlamaForCausalLM(LlamaConfig(vocab_size=400, num_key_value_heads=2, **sizes)),
        args=SFTConfig(**{**ways, **steps, "max_length": 4096, **options}),
        train_dataset=data,
        processing_class=lexmill.accelerate(AutoTokenizer.from_pretrained(folder)),
    )


def rows_of_batches(trainer: Any) -> list[tuple[list[int], list[int]]]:
    """The ids and the labels of an epoch as the model gets them, without padding."""
    found = []
    for batch in trainer.get_train_dataloader():
        assert (batch["labels"][batch["attention_mask"] == 0] == -100).all()
        for ids, labels, mask in zip(batch["input_ids"], batch["labels"], batch["attention_mask"], strict=True):
            found.append((ids[mask == 1].tolist(), labels[mask == 1].tolist()))
    return found


@pytest.mark.parametrize("kind", ["arrays", "token files"])
def test_the_trainer_learns_our_labels(folder: Path, chat_tokenizer: Tokenizer, kind: str) -> None:
    import datasets

    if kind == "arrays":
        import pyarrow.parquet

        table = tokenize_messages(chat_tokenizer, CHATS, "chatml").to_arrow(labels=True)
        pyarrow.parquet.write_table(table, folder / "chats.parquet")
        cache = str(folder / "cache")
        files = str(folder / "chats.parquet")
        data = datasets.load_dataset("parquet", data_files=files, split="train", cache_dir=cache)
    else:
        source = write_chats(folder / "chats.jsonl", CHATS)
        tokenize_message_files(chat_tokenizer, source, folder / "o", "chatml", format="arrow", loss="labels")
        data = datasets.load_from_disk(str(folder / "o"))
    trainer = trainer_of(folder, data)
    expected = rows_of(tokenize_messages(chat_tokenizer, CHATS, "chatml"))
    labels = [[id if learned else -100 for id, learned in zip(*row, strict=True)] for row in expected]
    learned = zip((ids for ids, _ in expected), labels, strict=True)
    assert sorted(rows_of_batches(trainer)) == sorted(learned)
    assert 0 < trainer.train().training_loss < 20


def test_rows_without_a_token_to_learn_are_dropped(folder: Path, chat_tokenizer: Tokenizer) -> None:
    import datasets

    tokens = tokenize_messages(chat_tokenizer, CHATS, "chatml")
    first = [mask.index(1) for _, mask in rows_of(tokens)]
    asked = [[{"role": "user", "content": "cat?" * 20}, CHATS[0][1]]]
    both = tokenize_messages(chat_tokenizer, [*CHATS, *asked], "chatml").to_arrow(labels=True)
    data = datasets.Dataset.from_dict(both.to_pydict())
    trainer = trainer_of(folder, data, max_length=max(first) + 2)
    assert len(trainer.train_dataset) == len(CHATS)
    assert all(len(ids) <= max(first) + 2 for ids in trainer.train_dataset["input_ids"])


@pytest.mark.parametrize("processes", [None, 2])
def test_the_trainer_tokenizes_texts_by_lexmill(folder: Path, chat_tokenizer: Tokenizer, processes: int | None) -> None:
    import datasets

    texts = [f"the cat {number} caf\u00e9" for number in range(100)]
    data = datasets.Dataset.from_dict({"text": texts})
    trainer = trainer_of(folder, data, dataset_num_proc=processes)
    assert type(trainer.processing_class._tokenizer).__module__.startswith("lexmill")
    end = chat_tokenizer.token_to_id("<|im_end|>")
    found = [list(ids) for ids in trainer.train_dataset["input_ids"]]
    assert found == [[*chat_tokenizer.encode(text).ids, end] for text in texts]
    assert 0 < trainer.train().training_loss < 20
