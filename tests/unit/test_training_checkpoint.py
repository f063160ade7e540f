"""Training that is killed and resumed, and training in bounded memory, learn what one run learns."""

from __future__ import annotations

import itertools
import random
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lexmill import Tokenizer, WordCounts, count_words, models, trainers
from lexmill.cli import main
from lexmill.errors import OptionError, OutputError
from lexmill.pre_tokenizers import ByteLevel

VOCAB_SIZE = 2_000


def untrained(model: str = "BPE") -> Tokenizer:
    made = {
        "BPE": models.BPE(),
        "WordPiece": models.WordPiece(unk_token="[UNK]"),
        "WordLevel": models.WordLevel(unk_token="[UNK]"),
        "Unigram": models.Unigram(),
    }
    tokenizer = Tokenizer(made[model])
    tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False)
    return tokenizer


def bpe(**options: Any) -> trainers.Trainer:
    return trainers.BpeTrainer(vocab_size=VOCAB_SIZE, show_progress=False, **options)


TRAINERS: dict[str, tuple[str, Callable[[], trainers.Trainer]]] = {
    "smallest ids": ("BPE", bpe),
    "first seen": ("BPE", lambda: bpe(tie_break="first-seen")),
    "affixes": ("BPE", lambda: bpe(continuing_subword_prefix="##", end_of_word_suffix="</w>")),
    # The text of some merges is a special token.
    "special": ("BPE", lambda: bpe(special_tokens=["be", "bo", "ab", "ba", "bab"])),
    "wordpiece": ("WordPiece", lambda: trainers.WordPieceTrainer(vocab_size=VOCAB_SIZE, show_progress=False)),
    "likelihood": (
        "WordPiece",
        lambda: trainers.WordPieceTrainer(vocab_size=VOCAB_SIZE, score="likelihood", show_progress=False),
    ),
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


@pytest.fixture(scope="module")
def counts(corpus: Path) -> WordCounts:
    return count_words(corpus, pre_tokenizer=ByteLevel(add_prefix_space=False))


class Stop(Exception):
    """Ends a run in the middle."""


def train(counts: WordCounts, kind: str = "smallest ids", calls: int | None = None, **options: Any) -> str | None:
    """The trained tokenizer as JSON; none if `on_progress` has stopped it after so many calls."""
    model, trainer = TRAINERS[kind]
    tokenizer = untrained(model)
    told = itertools.count()

    def progress(*_: object) -> None:
        if next(told) == calls:
            raise Stop

    try:
        tokenizer.train_from_counts(counts, trainer(), on_progress=progress, **options)
    except Stop:
        return None
    return tokenizer.to_str()


@pytest.mark.parametrize("kind", TRAINERS)
def test_a_run_that_is_stopped_again_and_again_learns_the_same(kind: str, counts: WordCounts, tmp_path: Path) -> None:
    whole = train(counts, kind)
    checkpoint, stopped = tmp_path / "merges", 0
    options: dict[str, Any] = {"checkpoint": checkpoint, "resume": True, "checkpoint_seconds": 0}
    for calls in range(4, 200):
        learnt = train(counts, kind, calls, num_threads=1 + calls % 2, **options)
        if learnt is not None:
            break
        stopped += 1
    assert stopped
    assert learnt == whole
    # All merges are there: nothing is left to learn.
    assert train(counts, kind, **options) == whole
    assert [path.name for path in tmp_path.iterdir()] == ["merges"]


PROGRAM = """
import sys
from lexmill import Tokenizer, WordCounts, models, trainers
from lexmill.pre_tokenizers import ByteLevel
tokenizer = Tokenizer(models.BPE())
tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False)
trainer = trainers.BpeTrainer(vocab_size={vocab_size}, tie_break="first-seen", show_progress=False)
tokenizer.train_from_counts(
    WordCounts.load(sys.argv[1]), trainer, checkpoint=sys.argv[2], resume=True, checkpoint_seconds=0, num_threads=1
)
"""


@pytest.mark.parametrize("kills", [4, pytest.param(20, marks=pytest.mark.slow)])
def test_a_process_that_is_killed_leaves_what_another_goes_on_with(
    kills: int, counts: WordCounts, tmp_path: Path
) -> None:
    whole = train(counts, "first seen")
    saved, checkpoint = tmp_path / "words.counts", tmp_path / "merges"
    counts.save(saved)
    program, choose, killed = PROGRAM.format(vocab_size=VOCAB_SIZE), random.Random(kills), 0
    for _ in range(kills):
        with subprocess.Popen([sys.executable, "-c", program, str(saved), str(checkpoint)]) as process:
            before = saved_at(checkpoint)
            while process.poll() is None and saved_at(checkpoint) == before:
                pass
            deadline = time.monotonic() + choose.uniform(0, 0.1)
            while process.poll() is None and time.monotonic() < deadline:
                pass
            process.kill()
        killed += process.returncode == -signal.SIGKILL
    assert killed
    assert train(counts, "first seen", checkpoint=checkpoint, resume=True) == whole
    assert {path.name for path in tmp_path.iterdir()} == {"words.counts", "merges"}


def saved_at(path: Path) -> int:
    """When a file was saved, in nanoseconds; 0 if it is not there."""
    return path.stat().st_mtime_ns if path.exists() else 0


@pytest.mark.filterwarnings("ignore::lexmill.errors.RepeatedInputWarning")
def test_another_training_is_refused_by_what_differs(counts: WordCounts, corpus: Path, tmp_path: Path) -> None:
    checkpoint = tmp_path / "merges"
    train(counts, checkpoint=checkpoint)

    def refused(counts: WordCounts, trainer: trainers.Trainer, **options: Any) -> str:
        with pytest.raises(OutputError) as raised:
            untrained().train_from_counts(counts, trainer, checkpoint=checkpoint, **options)
        message = str(raised.value)
        assert message.startswith(f"{checkpoint}: ")
        return message.removeprefix(f"{checkpoint}: ")

    assert "resume=True" in refused(counts, bpe())
    assert refused(counts, bpe(min_frequency=3), resume=True) == "cannot resume: min_frequency was 0 but is 3"
    assert "tie_break was" in refused(counts, bpe(tie_break="first-seen"), resume=True)
    other = count_words([corpus, corpus], pre_tokenizer=ByteLevel(add_prefix_space=False))
    assert f"total of the word counts was {counts.total} but is {other.total}" in refused(other, bpe(), resume=True)
    content = checkpoint.read_bytes()
    checkpoint.write_bytes(content[:-20])
    assert "damaged" in refused(counts, bpe(), resume=True)
    checkpoint.write_text("a text of somebody's")
    assert "not a checkpoint of merges" in refused(counts, bpe(), resume=True)
    assert checkpoint.read_text() == "a text of somebody's"


def test_the_order_of_an_alphabet_is_no_difference(counts: WordCounts, tmp_path: Path) -> None:
    options: dict[str, Any] = {"checkpoint": tmp_path / "merges", "resume": True}
    for alphabet in (["a", "b", "c"], ["c", "a", "b"]):
        untrained().train_from_counts(counts, bpe(initial_alphabet=alphabet), **options)


@pytest.mark.parametrize("model", ["Unigram", "WordLevel"])
def test_trainers_without_merges_have_no_checkpoint(model: str, counts: WordCounts, tmp_path: Path) -> None:
    tokenizer = untrained(model)
    before = tokenizer.to_str()
    with pytest.raises(OptionError, match="learns no merges, so it cannot have a checkpoint"):
        tokenizer.train_from_counts(counts, checkpoint=tmp_path / "merges")
    assert tokenizer.to_str() == before
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("seconds", [-1.0, float("nan"), float("inf")])
def test_a_time_must_be_a_number_of_seconds(seconds: float, counts: WordCounts, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"checkpoint_seconds is .* but must be a number of seconds"):
        untrained().train_from_counts(counts, checkpoint=tmp_path / "merges", checkpoint_seconds=seconds)


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


def test_the_command_resumes_what_was_interrupted(
    counts: WordCounts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    saved, checkpoint, output = tmp_path / "words.counts", tmp_path / "merges", tmp_path / "tokenizer.json"
    counts.save(saved)
    options = ["train", "--from-counts", str(saved), "--vocab-size", str(VOCAB_SIZE)]
    resumable = [*options, "--checkpoint", str(checkpoint), "-o", str(output)]

    def interrupt(stage: str, *_: object) -> None:
        if stage == "merge pairs":
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("lexmill.cli.train.ProgressBar.callback", property(lambda _: interrupt))
        patched.setattr(sys, "argv", ["lexmill", *resumable])
        assert main(resumable) == 130
    told = capsys.readouterr().err.strip()
    assert told == f"error: interrupted; to go on: {shlex.join(['lexmill', *resumable, '--resume'])}"
    assert checkpoint.exists()
    assert not output.exists()
    assert main(resumable) == 1
    assert "pass --resume to go on" in capsys.readouterr().err
    assert main([*resumable, "--resume"]) == 0
    whole = tmp_path / "whole.json"
    assert main([*options, "-o", str(whole)]) == 0
    assert output.read_bytes() == whole.read_bytes()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--resume", "--from-counts", "{counts}"], "--resume goes on with what is in --checkpoint"),
        (["--checkpoint", "merges", "{corpus}"], "--checkpoint goes with --from-counts"),
        (["--folder", ".", "{corpus}"], "--folder is for what --max-memory does not hold"),
    ],
)
def test_options_that_contradict_each_other(
    arguments: list[str],
    message: str,
    counts: WordCounts,
    corpus: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    counts.save(tmp_path / "words.counts")
    given = [argument.format(counts=tmp_path / "words.counts", corpus=corpus) for argument in arguments]
    assert main(["train", "--vocab-size", "300", "-o", str(tmp_path / "t.json"), *given]) == 2
    assert message in capsys.readouterr().err
