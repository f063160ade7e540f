"""`lexmill bench` against the libraries of group `peers`, on a tokenizer that is trained on the spot."""

from __future__ import annotations

import importlib.util
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from command_line import COMMAND, TEXT
from lexmill import Tokenizer
from lexmill.models import BPE
from lexmill.pre_tokenizers import ByteLevel
from lexmill.trainers import BpeTrainer
from peers import ROOT

pytestmark = pytest.mark.external
pytest.importorskip("typer", reason="the command line is an extra")
pytest.importorskip("tokenizers", reason="tokenizers is not installed")
pytest.importorskip("tiktoken", reason="tiktoken is not installed")
pytest.importorskip("sentencepiece", reason="sentencepiece is not installed")


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    tokenizer = Tokenizer(BPE())
    tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False)
    trainer = BpeTrainer(vocab_size=300, initial_alphabet=ByteLevel.alphabet(), show_progress=False)
    tokenizer.train_from_iterator([TEXT] * 2, trainer)
    path = tmp_path / "tokenizer.json"
    tokenizer.save(str(path))
    return path


def bench(saved: Path, *options: str) -> dict[str, Any]:
    corpus = saved.with_name("corpus.txt")
    corpus.write_bytes((TEXT + "\n").encode() * 200)
    command = [*COMMAND, "bench", str(saved), str(corpus), *options, "--rounds", "1", "--json"]
    outcome: dict[str, Any] = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    return outcome


def test_each_library_is_compared_with_hugging_face(saved: Path) -> None:
    found = bench(saved, "--against", "tokenizers,tiktoken,sentencepiece", "--job", "list,encodings,one,file,train-bpe")
    statuses = {job["job"]: {row["library"]: row["status"] for row in job["libraries"]} for job in found["jobs"]}
    assert {job["reference"]["library"] for job in found["jobs"]} == {"tokenizers"}
    none = "unsupported"
    for job in ("list", "one"):
        assert statuses[job] == {"lexmill": "ok", "tokenizers": "ok", "tiktoken": "ok", "sentencepiece": none}
    assert statuses["encodings"] == {"lexmill": "ok", "tokenizers": "ok", "tiktoken": none, "sentencepiece": none}
    assert statuses["file"] == {"lexmill": "ok", "tokenizers": none, "tiktoken": none, "sentencepiece": none}
    # SentencePiece finds no 32,000 pieces in so little text.
    assert statuses["train-bpe"] == {"lexmill": "ok", "tokenizers": "ok", "tiktoken": none, "sentencepiece": "failed"}


def test_transformers_is_compared_where_it_is_installed(saved: Path) -> None:
    if importlib.util.find_spec("transformers") is None:
        pytest.skip("transformers is not installed")
    found = bench(saved, "--against", "transformers", "--job", "list,one")
    assert [row["status"] for job in found["jobs"] for row in job["libraries"]] == ["ok"] * 4


def test_tokenizers_1_is_compared_in_an_environment_of_its_own(saved: Path) -> None:
    python = ROOT / ".venv-hf1" / "bin" / "python"
    if not python.is_file():
        pytest.skip("`make .venv-hf1/ready` makes the environment")
    own = ("--python", f"tokenizers-1={python}", "--against", "tokenizers,tokenizers-1")
    found = bench(saved, *own, "--job", "list,one,encodings")
    statuses = {job["job"]: [row["status"] for row in job["libraries"]] for job in found["jobs"]}
    assert statuses == {"list": ["ok"] * 3, "one": ["ok"] * 3, "encodings": ["ok", "ok", "unsupported"]}
    versions = {row["library"]: row["version"].split(".")[0] for row in found["jobs"][0]["libraries"]}
    assert versions == {"lexmill": "0", "tokenizers": "0", "tokenizers-1": "1"}


def test_a_limit_that_the_file_states_holds_for_none(saved: Path) -> None:
    tokenizer = Tokenizer.from_file(str(saved))
    tokenizer.enable_truncation(3)
    tokenizer.enable_padding()
    tokenizer.save(str(saved))
    found = bench(saved, "--against", "tokenizers,tiktoken", "--job", "list")
    assert [row["status"] for row in found["jobs"][0]["libraries"]] == ["ok", "ok", "ok"]


def test_a_special_token_in_the_text_is_a_difference_where_it_is_text(saved: Path) -> None:
    tokenizer = Tokenizer.from_file(str(saved))
    tokenizer.add_special_tokens(["mat"])
    tokenizer.save(str(saved))
    rows = {
        row["library"]: row
        for row in bench(saved, "--against", "tokenizers,tiktoken", "--job", "list")["jobs"][0]["libraries"]
    }
    assert rows["lexmill"]["status"] == "ok"
    assert rows["tiktoken"]["status"] == "differs"
    assert rows["tiktoken"]["difference"]["after"].startswith(" mat")
