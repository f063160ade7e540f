"""Lines of gigabytes: refused with the file, the place and the limit, in memory for that limit, or left out."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

WORDS = b"the cat sat on the mat " * 50_000
SIZE = 3_000_000_000

PROGRAM = """
import resource, sys, warnings
from lexmill import Tokenizer, count_words, models, tokenize_files, trainers
from lexmill.errors import LexmillError, SkippedRecordsWarning
from lexmill.pre_tokenizers import ByteLevel
from lexmill.sources import JsonLines, Lines
work, path, out, on_error = sys.argv[1:]
source = JsonLines(path, on_error=on_error) if "jsonl" in path else Lines(path)
cut = ByteLevel(add_prefix_space=False)
tokenizer = Tokenizer(models.BPE())
tokenizer.pre_tokenizer = cut
trainer = trainers.BpeTrainer(vocab_size=300, initial_alphabet=ByteLevel.alphabet(), show_progress=False)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always", SkippedRecordsWarning)
    try:
        if work == "count":
            print("counted", count_words([source], pre_tokenizer=cut, max_memory="64MB").texts)
        elif work == "train":
            tokenizer.train([source], trainer)
            print("trained", tokenizer.get_vocab_size())
        else:
            tokenizer.train_from_iterator(["the cat sat on the mat"], trainer)
            print("tokenized", len(tokenize_files(tokenizer, source, out)))
    except LexmillError as error:
        print(type(error).__name__, error)
print([str(warning.message) for warning in caught])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


@pytest.fixture(scope="module", params=["long.txt", "long.jsonl", "long.txt.zst", "long.jsonl.zst"])
def path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The second of three lines is too long; compressed, it is small."""
    path = tmp_path_factory.mktemp("long") / request.param
    before, after = (
        (b'{"text": "a"}\n{"text": "', b'"}\n{"text": "b"}\n') if "jsonl" in path.name else (b"a\n", b"\nb\n")
    )
    if path.suffix == ".zst":
        pyarrow = pytest.importorskip("pyarrow")
        opened = pyarrow.CompressedOutputStream(str(path), "zstd")
    else:
        opened = path.open("wb")
    with opened as file:
        file.write(before)
        for _ in range(SIZE // len(WORDS) + 1):
            file.write(WORDS)
        file.write(after)
    yield path
    path.unlink()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="memory is not told")
@pytest.mark.parametrize("work", ["count", "train", "tokenize"])
@pytest.mark.parametrize("on_error", ["raise", "skip"])
def test_a_line_of_three_gigabytes(path: Path, work: str, on_error: str, tmp_path: Path) -> None:
    command = [sys.executable, "-c", PROGRAM, work, str(path), str(tmp_path / "out"), on_error]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    outcome, warnings, peak = ran.stdout.splitlines()
    if on_error == "skip" and "jsonl" in path.name:
        assert outcome in ("counted 2", "trained 256", "tokenized 2")
        assert warnings == f"['a record was left out: {path}, line 2: the line has more than 2147483647 bytes']"
    else:
        limit = "the text has more than 2147483647 bytes, the most that can be addressed; split it into documents"
        assert outcome == f"TextTooLongError {path}, line 2: {limit}"
        assert warnings == "[]"
    # The line as far as it was read, and what the program takes by itself.
    assert int(peak) < 2048 + 150
