"""The corpus, the tokenizer and the preloaded library of the tests of faults."""

from __future__ import annotations

import gzip
import json
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from faulty import Faults

FOLDER = Path(__file__).parent


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if FOLDER in item.path.parents:
            item.add_marker(pytest.mark.faults)


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("cc")
    if not sys.platform.startswith("linux") or compiler is None:
        pytest.skip("the preloaded library needs Linux and a C compiler named cc")
    library = tmp_path_factory.mktemp("library") / "faults.so"
    command = [
        compiler,
        "-shared",
        "-fPIC",
        "-O1",
        "-Wall",
        "-Werror",
        "-o",
        str(library),
        str(FOLDER / "faults.c"),
        "-ldl",
    ]
    subprocess.run(command, check=True)
    return library


@pytest.fixture
def faults(library: Path, tmp_path: Path) -> Faults:
    return Faults(library, tmp_path / "report")


def texts() -> list[str]:
    choose = random.Random(11)
    words = [f"w{number}" for number in range(3_000)] + ["été", "語", "e\u0301", "don't"]
    return [" ".join(choose.choices(words, k=choose.randrange(40))) for _ in range(9_000)]


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Three files of JSON lines, the second one compressed, about half a megabyte each."""
    folder, all_texts, files = tmp_path_factory.mktemp("corpus"), texts(), []
    for number in range(3):
        lines = [json.dumps({"text": text}) + "\n" for text in all_texts[number * 3000 : (number + 1) * 3000]]
        data, path = "".join(lines).encode(), folder / f"{number}.jsonl"
        path.write_bytes(gzip.compress(data) if number == 1 else data)
        files.append(path)
    return files


@pytest.fixture(scope="session")
def counts(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Word counts of parts of the corpus."""
    from lexmill import count_words
    from lexmill.pre_tokenizers import ByteLevel

    folder, all_texts, files = tmp_path_factory.mktemp("counts"), texts(), []
    for number in range(70):
        part = all_texts[number * 100 : (number + 1) * 100]
        counted = count_words(
            iterator=part, pre_tokenizer=ByteLevel(add_prefix_space=False), first_source=number, num_threads=1
        )
        files.append(folder / f"{number}.counts")
        counted.save(files[-1])
    return files


@pytest.fixture(scope="session")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from lexmill import Tokenizer, models, pre_tokenizers, trainers

    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=500, initial_alphabet=alphabet, show_progress=False)
    made.train_from_iterator(texts()[:1000], trainer)
    path = tmp_path_factory.mktemp("tokenizer") / "tokenizer.json"
    made.save(path)
    return path
