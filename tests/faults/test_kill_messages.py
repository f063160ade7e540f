"""`kill -9` at chosen calls of `lexmill tokenize --messages`, then the command again: the files of a whole run."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("jinja2")

from faulty import CHANGES, FULL, Faults
from test_kill import MOMENTS, SMALL, Job, check

from message_runs import conversations, write_chats

KINDS: dict[str, list[str]] = {
    "joined": ["--format", "megatron", "--loss", "labels", "--join"],
    "nanogpt": ["--format", "raw", "--preset", "nanogpt"],
    "parquet": ["--format", "parquet", "--loss", "ranges"],
    "packed": ["--format", "npy", "--pack", "64", "--packing", "best-fit", "--pad-token", "7"],
    "shuffled": ["--format", "raw", "--preset", "datatrove", "--shuffle"],
}


@pytest.fixture(scope="module")
def chats(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_chats(tmp_path_factory.mktemp("chats") / "chats.jsonl", conversations(3000))


@pytest.mark.parametrize("kind", KINDS)
def test_tokenizing_conversations(faults: Faults, chats: Path, tokenizer: Path, tmp_path: Path, kind: str) -> None:
    def begin(folder: Path) -> Job:
        options = [*KINDS[kind], "--part-bytes", "150000", "--validation", "0.1", "--template", "chatml", *SMALL]
        command = ["tokenize", tokenizer, chats, "-o", folder / "tokens", "--messages", *options]
        return Job(command, [*command, "--resume"], "tokens/parts.jsonl")

    check(faults, begin, tmp_path, CHANGES, MOMENTS if FULL else 4, seed=len(kind))
