"""A seeded shuffle of all documents: the order is that of a hash, which the page of token files states."""

from __future__ import annotations

import gzip
import json
import random
import shutil
import signal
import subprocess
import sys
import time
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from lexmill import Tokenizer, open_tokens, tokenize_files
from lexmill.errors import FormatError, OutputError
from lexmill.sources import JsonLines
from token_layouts import READERS, divided, shuffled
from token_runs import TEXTS as SHORT_TEXTS
from token_runs import contents, save_tokenizer

TEXTS = [*SHORT_TEXTS[:1000], "long " * 20_000, *SHORT_TEXTS[1001:]]
OPTIONS: dict[str, Any] = {"part_bytes": 30_000, "end_token": 0, "shuffle": True}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tokenizer and three files of texts, one of which is compressed."""
    folder = tmp_path_factory.mktemp("shuffle")
    save_tokenizer(folder, TEXTS)
    for number in range(3):
        lines = [json.dumps({"text": text}) + "\n" for text in TEXTS[number * 1000 : (number + 1) * 1000]]
        data = "".join(lines).encode()
        (folder / f"{number}.jsonl").write_bytes(gzip.compress(data) if number == 1 else data)
    return folder


@pytest.fixture
def tokenizer(folder: Path) -> Tokenizer:
    return Tokenizer.from_file(folder / "tokenizer.json")


def sources(folder: Path) -> JsonLines:
    return JsonLines([folder / f"{number}.jsonl" for number in range(3)])


def naive(tokenizer: Tokenizer, seed: int) -> list[list[int]]:
    """All documents, sorted by what the seed, the number of the file and the byte of the line make of them."""
    documents = []
    for file in range(3):
        byte = 0
        for text in TEXTS[file * 1000 : (file + 1) * 1000]:
            documents.append((file, byte, text))
            byte += len(json.dumps({"text": text})) + 1
    return [[*tokenizer.encode(text).ids, 0] for text in shuffled(documents, seed) if text]


@pytest.mark.parametrize(("format", "preset"), READERS)
@pytest.mark.parametrize("seed", [0, 7])
def test_the_order_is_that_of_the_naive_sort(
    tmp_path: Path, folder: Path, tokenizer: Tokenizer, format: Any, preset: Any, seed: int
) -> None:
    written = tokenize_files(tokenizer, sources(folder), tmp_path, format=format, preset=preset, seed=seed, **OPTIONS)
    found = READERS[format, preset](tmp_path, written.manifest["options"]["dtype"])
    documents = naive(tokenizer, seed)
    if preset in ("nanogpt", "llm.c"):
        assert list(chain.from_iterable(found)) == list(chain.from_iterable(documents))
    else:
        assert found == documents
    total = written.manifest["total"]
    assert (total["documents"], total["empty"]) == (len(documents), sum(1 for text in TEXTS if not text))
    assert not (tmp_path / "shuffle").exists()


def test_neither_threads_nor_the_size_of_parts_change_the_order(
    tmp_path: Path, folder: Path, tokenizer: Tokenizer
) -> None:
    documents = naive(tokenizer, 3)
    for part_bytes in (5_000, 100_000, 1 << 27):
        for threads in (1, 3):
            out = tmp_path / f"{part_bytes}-{threads}"
            options = OPTIONS | {"part_bytes": part_bytes, "num_threads": threads, "format": "npy", "seed": 3}
            written = tokenize_files(tokenizer, sources(folder), out, **options)
            assert [ids.tolist() for ids in written] == documents
        assert contents(tmp_path / f"{part_bytes}-1") == contents(tmp_path / f"{part_bytes}-3")


def test_validation_holds_the_same_documents_as_without_a_shuffle(
    tmp_path: Path, folder: Path, tokenizer: Tokenizer
) -> None:
    for shuffle in (False, True):
        options = OPTIONS | {"shuffle": shuffle, "validation": 0.2, "format": "arrow"}
        tokenize_files(tokenizer, sources(folder), tmp_path / str(shuffle), **options)
    documents = naive(tokenizer, 0)
    for split in ("train", "validation"):
        plain, mixed = (
            [ids.tolist() for ids in open_tokens(tmp_path / str(shuffle), split)] for shuffle in (False, True)
        )
        assert sorted(plain) == sorted(mixed)
        assert plain != mixed
        assert [ids for ids in documents if ids in mixed] == mixed


def test_rows_are_packed_in_the_shuffled_order(tmp_path: Path, folder: Path, tokenizer: Tokenizer) -> None:
    options = OPTIONS | {"part_bytes": 1 << 27, "pack": 100, "format": "npy"}
    written = tokenize_files(tokenizer, sources(folder), tmp_path, **options)
    ids = list(chain.from_iterable(naive(tokenizer, 0)))
    rows = divided(ids, list(range(0, len(ids) + 1, 100)))
    assert [row.tolist() for row in written] == rows


@pytest.mark.filterwarnings("ignore::lexmill.errors.CorpusWarning")
def test_no_documents(tmp_path: Path, tokenizer: Tokenizer) -> None:
    (tmp_path / "in.jsonl").write_text('{"text": ""}\n')
    written = tokenize_files(tokenizer, tmp_path / "in.jsonl", tmp_path / "out", shuffle=True)
    assert (len(written), written.manifest["total"]["empty"]) == (0, 1)
    assert sorted(contents(tmp_path / "out")) == ["manifest.json", "part-00000.bin", "part-00000.idx"]


class StopError(Exception):
    """Raised to cut a run short."""


@pytest.mark.parametrize("moment", [("tokenize", 0.0), ("tokenize", 0.6), ("tokenize", 1.0), ("shuffle", 0.0)])
def test_going_on_keeps_sorted_runs(
    tmp_path: Path, folder: Path, tokenizer: Tokenizer, moment: tuple[str, float]
) -> None:
    tokenize_files(tokenizer, sources(folder), tmp_path / "whole", **OPTIONS)
    out = tmp_path / "out"

    def stop(step: str, done: int, total: int, *_: object) -> None:
        if (step, done >= moment[1] * total) == (moment[0], True):
            raise StopError

    with pytest.raises(StopError):
        tokenize_files(tokenizer, sources(folder), out, on_progress=stop, **OPTIONS)
    times = {path: path.stat().st_mtime_ns for path in (out / "shuffle").glob("*.ids")}
    with pytest.raises(OutputError, match="shuffle was true but is false"):
        tokenize_files(tokenizer, sources(folder), out, resume=True, **OPTIONS | {"shuffle": False})
    seen: list[str] = []

    def look(step: str, *_: object) -> None:
        seen.append(step)
        assert all(path.stat().st_mtime_ns == time for path, time in times.items() if path.exists())

    tokenize_files(tokenizer, sources(folder), out, resume=True, on_progress=look, **OPTIONS)
    assert contents(out) == contents(tmp_path / "whole")
    # Sources are not read again once all runs are there.
    assert ("tokenize" in seen) == (moment[0] == "tokenize")


def test_a_run_that_was_harmed_is_written_again_with_those_after_it(
    tmp_path: Path, folder: Path, tokenizer: Tokenizer
) -> None:
    tokenize_files(tokenizer, sources(folder), tmp_path / "whole", **OPTIONS)
    out = tmp_path / "out"

    def stop(step: str, *_: object) -> None:
        if step == "shuffle":
            raise StopError

    with pytest.raises(StopError):
        tokenize_files(tokenizer, sources(folder), out, on_progress=stop, **OPTIONS)
    (out / "shuffle" / "run-00002.ids").write_bytes(b"short")
    (out / "shuffle" / ".run-00009.ids.tmp").write_bytes(b"left")
    tokenize_files(tokenizer, sources(folder), out, resume=True, **OPTIONS)
    assert contents(out) == contents(tmp_path / "whole")
    (out / "part-00001.bin").unlink()
    tokenize_files(tokenizer, sources(folder), out, resume=True, **OPTIONS)
    assert contents(out) == contents(tmp_path / "whole")


def test_a_broken_record_stops_before_any_part(tmp_path: Path, folder: Path, tokenizer: Tokenizer) -> None:
    copy = tmp_path / "in.jsonl"
    copy.write_bytes((folder / "0.jsonl").read_bytes() * 4 + b"{}\n")
    with pytest.raises(FormatError, match="line 4001"):
        tokenize_files(tokenizer, copy, tmp_path / "out", **OPTIONS)
    assert not list((tmp_path / "out").glob("part-*"))
    assert list((tmp_path / "out" / "shuffle").glob("*.ids"))
    tokenize_files(tokenizer, sources(folder), tmp_path / "out", overwrite=True, end_token=0)
    assert sorted(contents(tmp_path / "out")) == ["manifest.json", "part-00000.bin", "part-00000.idx"]


RUN = """
import sys
from pathlib import Path
from lexmill import Tokenizer, tokenize_files
from lexmill.sources import JsonLines
folder, out, layout, preset = Path(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4] or None
source = JsonLines([folder / f"{number}.jsonl" for number in range(3)])
print("ready", flush=True)
tokenize_files(Tokenizer.from_file(folder / "tokenizer.json"), source, out, format=layout, preset=preset,
    part_bytes=30_000, validation=0.1, end_token=0, shuffle=True, resume=True, num_threads=2)
"""


def start(folder: Path, out: Path, format: str, preset: str) -> subprocess.Popen[str]:
    arguments = [sys.executable, "-c", RUN, str(folder), str(out), format, preset]
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no such signal")
@pytest.mark.parametrize(("format", "preset"), [("megatron", ""), ("raw", "nanogpt")])
def test_a_killed_run_goes_on_and_leaves_no_litter(tmp_path: Path, folder: Path, format: str, preset: str) -> None:
    process = start(folder, tmp_path / "whole", format, preset)
    begun = time.perf_counter()
    assert (process.communicate()[1], process.returncode) == ("", 0)
    duration, moments = time.perf_counter() - begun, random.Random(11)
    whole = contents(tmp_path / "whole")
    kills = 0
    for number in range(12):
        process = start(folder, tmp_path / "out", format, preset)
        time.sleep(moments.uniform(0, duration))
        process.kill()
        process.communicate()
        kills += process.returncode == -signal.SIGKILL
        # Sometimes from the beginning again, so that there are kills at its every stage.
        if number % 4 == 3 and number < 11:
            shutil.rmtree(tmp_path / "out", ignore_errors=True)
    assert kills > 0
    process = start(folder, tmp_path / "out", format, preset)
    assert (process.communicate()[1], process.returncode) == ("", 0)
    assert contents(tmp_path / "out") == whole
