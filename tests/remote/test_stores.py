"""The clients of S3 and of the web: the bytes of local files, whatever fails, also after a kill."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

from lexmill import Tokenizer, count_words, errors, tokenize_files
from lexmill._data import stores
from lexmill.sources import JsonLines, Lines, Parquet
from lexmill.trainers import BpeTrainer
from object_server import ObjectServer
from small import byte_level

ROOT = Path(__file__).parents[2]
TEXTS = [f"text {number} has {number * 7919 % 1000} and {number * number}" for number in range(20_000)]
DATA = "".join(json.dumps({"text": text}) + "\n" for text in TEXTS).encode()
FAULTS: list[str | int] = ["cut", 503, "reset", "slow", 500, "cut", "reset", 502, "cut", 503]


def files_of(folder: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(Path(folder).glob("*.*")) if path.suffix != ".json"}


@pytest.fixture
def local() -> None:
    Path("a.jsonl").write_bytes(DATA)
    Path("a.txt").write_text("\n".join(TEXTS), encoding="utf-8")
    Path("a.txt.gz").write_bytes(gzip.compress(Path("a.txt").read_bytes(), 1))
    pyarrow.parquet.write_table(
        pa.table({"text": TEXTS, "n": list(range(len(TEXTS)))}), "a.parquet", row_group_size=5000
    )


NAMES = ["a.jsonl", "a.txt", "a.txt.gz", "a.parquet"]


def source(path: str) -> JsonLines | Lines | Parquet:
    return JsonLines(path) if "jsonl" in path else Parquet(path) if "parquet" in path else Lines(path)


@pytest.mark.usefixtures("local")
@pytest.mark.parametrize("name", NAMES)
def test_twenty_faults_of_s3_change_no_byte(s3: ObjectServer, bucket: Any, name: str) -> None:
    known = byte_level(("t", "e"), ("te", "x"))
    bucket.put_file(name, f"bucket/{name}")
    s3.faults[:] = FAULTS * 2
    tokenize_files(known, source(f"s3://bucket/{name}"), "remote", part_bytes=1 << 18)
    assert s3.injected >= (3 if name == "a.txt.gz" else 10)
    tokenize_files(known, source(name), "local", part_bytes=1 << 18)
    assert files_of("remote") == files_of("local")


@pytest.mark.usefixtures("local")
@pytest.mark.parametrize("name", NAMES)
def test_twenty_faults_of_the_web_change_no_byte(web: ObjectServer, name: str) -> None:
    web.put(f"/data/{name}", Path(name).read_bytes())
    web.faults[:] = FAULTS * 2
    assert list(source(f"{web.address}/data/{name}?token=1")) == list(source(name))
    assert web.injected >= (3 if name == "a.txt.gz" else 10)


@pytest.mark.usefixtures("local")
def test_calls_read_folders_and_patterns_of_s3(bucket: Any) -> None:
    for name in ("t/1.jsonl", "t/2.jsonl", "t/_SUCCESS", "t/_temporary/3.jsonl", "u/4.txt"):
        bucket.pipe_file(f"bucket/{name}", DATA[: len(DATA) // 2] if name == "t/1.jsonl" else DATA)

    def trained(*paths: str) -> str:
        made = Tokenizer(byte_level().model)
        made.train([*paths], BpeTrainer(vocab_size=300, show_progress=False))
        return made.to_str()

    Path("t").mkdir()
    Path("t/1.jsonl").write_bytes(DATA[: len(DATA) // 2])
    Path("t/2.jsonl").write_bytes(DATA)
    calls: list[Callable[[str], object]] = [
        trained,
        lambda path: sorted(count_words(path)),
        lambda path: byte_level().count_tokens_files([path]).tolist(),
        lambda path: byte_level().encode_files_arrays([path]).ids.tolist(),
    ]
    # A file that ends within a line is no JSON.
    bucket.pipe_file("bucket/t/1.jsonl", DATA[: DATA.index(b"\n", len(DATA) // 2) + 1])
    Path("t/1.jsonl").write_bytes(DATA[: DATA.index(b"\n", len(DATA) // 2) + 1])
    for call in calls:
        for path in ("t", "t/", "t/*.jsonl", "**/[12].jsonl"):
            assert call(f"s3://bucket/{path}") == call(path)


def test_errors_of_s3_and_the_web(bucket: Any, web: ObjectServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for url in ("s3://bucket/none.txt", "s3://no-bucket/none.txt", f"{web.address}/none.txt"):
        with pytest.raises(errors.FileError, match=f"cannot open {url}: No such file or directory"):
            list(Lines(url))
    # Nobody listens at this port.
    with monkeypatch.context() as patch:
        patch.setattr(stores, "_PAUSES", (0.0,))
        with pytest.raises(errors.FileError, match="2 tries failed, the last one by ClientConnectorError"):
            list(Lines("http://127.0.0.1:9/a.txt"))
    web.put("/a.txt", b"one\n" * 100_000)
    opened = iter(Lines(f"{web.address}/a.txt"))
    next(opened)
    web.put("/a.txt", b"two\n" * 100_000)
    with pytest.raises(errors.FormatError, match="was modified while it was read"):
        list(opened)


KILLED = """
import os, signal, sys
from lexmill import tokenize_files
from lexmill._data import remote, stores
from lexmill.sources import JsonLines
from small import byte_level

remote._BLOCK = 1 << 16

def stop(_stage, done, *_):
    if done >= int(sys.argv[1]):
        os.kill(os.getpid(), signal.SIGKILL)

sources = JsonLines("s3://bucket/t/*.jsonl")
tokenize_files(byte_level(), sources, "cut", part_bytes=1 << 18, resume=True, on_progress=stop)
"""


def test_a_killed_run_is_resumed(s3: ObjectServer, bucket: Any) -> None:
    for name in "ab":
        bucket.pipe_file(f"bucket/t/{name}.jsonl", DATA)
    path = os.pathsep.join(str(ROOT / folder) for folder in ("python", "tests/support"))
    command = [sys.executable, "-W", "ignore", "-c", KILLED]
    for done in (len(DATA) // 2, len(DATA) * 3 // 2):
        s3.faults[:] = ["cut", "reset", 503]
        found = subprocess.run([*command, str(done)], env={**os.environ, "PYTHONPATH": path}, check=False)
        assert found.returncode == -signal.SIGKILL
    sources = JsonLines("s3://bucket/t/*.jsonl")
    tokenize_files(byte_level(), sources, "cut", part_bytes=1 << 18, resume=True)
    tokenize_files(byte_level(), sources, "whole", part_bytes=1 << 18)
    assert files_of("cut") == files_of("whole")


def test_other_contents_of_the_same_size_are_refused(bucket: Any) -> None:
    bucket.pipe_file("bucket/a.jsonl", DATA)

    def stop(_stage: str, done: int, *_: Any) -> None:
        if done > len(DATA) // 2:
            raise KeyboardInterrupt

    options: dict[str, Any] = {"part_bytes": 1 << 18, "resume": True}
    with pytest.raises(KeyboardInterrupt):
        tokenize_files(byte_level(), JsonLines("s3://bucket/a.jsonl"), "cut", on_progress=stop, **options)
    bucket.pipe_file("bucket/a.jsonl", DATA.swapcase())
    with pytest.raises(errors.OutputError, match=r"the input s3://bucket/a.jsonl was modified"):
        tokenize_files(byte_level(), JsonLines("s3://bucket/a.jsonl"), "cut", **options)
