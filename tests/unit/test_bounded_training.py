"""Training in bounded memory learns the same as training without a limit."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lexmill import Tokenizer, models, trainers
from lexmill.cli import main
from lexmill.errors import OptionError
from lexmill.pre_tokenizers import ByteLevel

VOCAB_SIZE = 2_000


def untrained(model: str = "BPE") -> Tokenizer:
    tokenizer = Tokenizer(models.BPE() if model == "BPE" else models.WordPiece(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False)
    return tokenizer


def bpe(**options: Any) -> trainers.Trainer:
    return trainers.BpeTrainer(vocab_size=VOCAB_SIZE, show_progress=False, **options)


TRAINERS: dict[str, tuple[str, Callable[[], trainers.Trainer]]] = {
    "smallest ids": ("BPE", bpe),
    "first seen": ("BPE", lambda: bpe(tie_break="first-seen")),
    "wordpiece": ("WordPiece", lambda: trainers.WordPieceTrainer(vocab_size=VOCAB_SIZE, show_progress=False)),
}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A text of some 30,000 distinct words."""
    choose = random.Random(7)
    parts = [first + second for first in "bcdfglmnprst" for second in ("a", "e", "o", "é", "ab")]
    words = ["".join(choose.choices(parts, k=choose.randrange(1, 5))) for _ in range(80_000)]
    path = tmp_path_factory.mktemp("corpus") / "corpus.txt"
    lines = (" ".join(words[at : at + 20]) for at in range(0, len(words), 20))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("kind", ["smallest ids", "first seen", "wordpiece"])
def test_training_on_texts_in_bounded_memory_learns_the_same(kind: str, corpus: Path, tmp_path: Path) -> None:
    model, trainer = TRAINERS[kind]
    unbounded, bounded, streamed = (untrained(model) for _ in range(3))
    unbounded.train([str(corpus)], trainer())
    bounded.train([str(corpus)], trainer(), max_memory="100MB", folder=tmp_path, num_threads=2)
    assert bounded.to_str() == unbounded.to_str()
    texts = corpus.read_text(encoding="utf-8").splitlines(keepends=True)
    streamed.train_from_iterator(iter(texts), trainer(), max_memory="100MB", folder=tmp_path, num_threads=2)
    assert streamed.to_str() == unbounded.to_str()
    assert not list(tmp_path.iterdir())


def test_training_on_texts_that_does_not_fit_does_not_start(tmp_path: Path) -> None:
    # Two threads count in 24 MiB, which cannot hold the words for training.
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("".join(f"word{number} word{number % 500} " for number in range(400_000)))
    tokenizer = untrained()
    before = tokenizer.to_str()
    with pytest.raises(OptionError, match="trim") as raised:
        tokenizer.train([str(corpus)], bpe(), max_memory="26MB", folder=tmp_path, num_threads=2)
    assert "max_memory is 26000000 but must be at least" in str(raised.value)
    assert tokenizer.to_str() == before
    with pytest.raises(OptionError, match="max_memory is 1000 but must be at least"):
        tokenizer.train([str(corpus)], bpe(), max_memory=1000, folder=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["corpus.txt"]


def test_a_folder_needs_a_limit(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["train", "--vocab-size", "300", "-o", str(tmp_path / "t.json"), "--folder", ".", str(corpus)]
    assert main(arguments) == 2
    assert "--folder is for the words of FILES that --max-memory does not hold" in capsys.readouterr().err
