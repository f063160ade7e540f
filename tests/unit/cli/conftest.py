"""Fixtures of the tests of the command line."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from command_line import TEXT, Result, Run
from lexmill import Tokenizer
from lexmill.cli import main
from lexmill.decoders import ByteLevel as ByteLevelDecoder
from lexmill.models import BPE
from lexmill.pre_tokenizers import ByteLevel
from lexmill.trainers import BpeTrainer


@pytest.fixture(autouse=True)
def in_tmp_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("text.txt").write_bytes(TEXT.encode())


@pytest.fixture
def lexmill(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs the command in this process."""

    def run(*arguments: str, stdin: bytes = b"") -> Result:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = main(arguments)
        sys.stdout.flush()
        stdout, stderr = capfdbinary.readouterr()
        return Result(code, stdout, stderr.decode())

    return run


@pytest.fixture(scope="session")
def saved(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A byte-level tokenizer with one special token."""
    tokenizer = Tokenizer(BPE())
    tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False)
    tokenizer.decoder = ByteLevelDecoder()
    alphabet = ByteLevel.alphabet()
    trainer = BpeTrainer(vocab_size=300, initial_alphabet=alphabet, special_tokens=["<end>"], show_progress=False)
    tokenizer.train_from_iterator([TEXT] * 2, trainer)
    path = str(tmp_path_factory.mktemp("saved") / "tokenizer.json")
    tokenizer.save(path)
    return path
