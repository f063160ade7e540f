"""Token files in S3: the bytes of local files, whatever fails, also after kills."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lexmill import Tokenizer, errors, open_tokens, tokenize_files
from lexmill._data import stores
from object_server import ObjectServer
from small import byte_level
from token_runs import TEXTS, contents, save_tokenizer

ROOT = Path(__file__).parents[2]
URL = "s3://bucket/tokens"
OPTIONS: dict[str, Any] = {"part_bytes": 30_000, "validation": 0.1, "end_token": 0}
FAULTS: list[str | int] = ["cut", 503, "stored", "slow", 500, "reset", "cut", "stored", 502, "cut", 503]


@pytest.fixture
def tokenizer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tokenizer:
    save_tokenizer(tmp_path)
    lines = (json.dumps({"text": text}) + "\n" for text in TEXTS)
    Path("a.jsonl").write_text("".join(lines), encoding="utf-8")
    Path("temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    return Tokenizer.from_file("tokenizer.json")


def stored(bucket: Any) -> dict[str, bytes]:
    """All files below the URL."""
    return {name[len("bucket/tokens/") :]: bucket.cat_file(name) for name in bucket.find("bucket/tokens")}


@pytest.mark.parametrize("way", [{}, {"format": "parquet"}, {"join": True}], ids=str)
def test_faults_of_uploads_change_no_byte(s3: ObjectServer, bucket: Any, tokenizer: Tokenizer, way: Any) -> None:
    tokenize_files(tokenizer, "a.jsonl", "local", **OPTIONS, **way)
    s3.upload_faults[:] = FAULTS
    found = tokenize_files(tokenizer, "a.jsonl", URL, **OPTIONS, **way)
    assert s3.injected >= 6
    s3.upload_faults.clear()
    assert stored(bucket) == contents(Path("local"))
    assert [ids.tolist() for ids in found] == [ids.tolist() for ids in open_tokens("local")]


@pytest.mark.usefixtures("tokenizer")
def test_large_files_are_uploaded_in_pieces(s3: ObjectServer, bucket: Any) -> None:
    # Above 100 MB the client cuts a file. Each byte of text is an id of two bytes.
    line = json.dumps({"text": "abcdefgh " * 1000}) + "\n"
    Path("b.jsonl").write_text(line * 6000, encoding="utf-8")
    s3.upload_faults[:] = [None, None, 503, None, "cut", "reset", "stored"]
    tokenize_files(byte_level(), "b.jsonl", "local", join=True)
    tokenize_files(byte_level(), "b.jsonl", URL, join=True)
    assert not s3.upload_faults
    found = stored(bucket)
    assert found == contents(Path("local"))
    assert max(map(len, found.values())) > 100 << 20


KILLED = """
import os, signal, sys
from lexmill import Tokenizer, tokenize_files

def stop(_stage, done, *_):
    if done >= int(sys.argv[1]):
        os.kill(os.getpid(), signal.SIGKILL)

options = {"part_bytes": 30_000, "validation": 0.1, "end_token": 0, "resume": True, "on_progress": stop}
tokenize_files(Tokenizer.from_file("tokenizer.json"), "a.jsonl", "s3://bucket/tokens", **options)
"""


def test_a_killed_run_is_resumed(s3: ObjectServer, bucket: Any, tokenizer: Tokenizer) -> None:
    tokenize_files(tokenizer, "a.jsonl", "local", **OPTIONS)
    path = os.pathsep.join(str(ROOT / folder) for folder in ("python", "tests/support"))
    command = [sys.executable, "-W", "ignore", "-c", KILLED]
    size = Path("a.jsonl").stat().st_size
    modified: dict[str, Any] = {}
    for done in (size // 3, size * 2 // 3):
        s3.upload_faults[:] = ["cut", "reset", 503]
        found = subprocess.run([*command, str(done)], env={**os.environ, "PYTHONPATH": path}, check=False)
        assert found.returncode == -signal.SIGKILL
        now = bucket.find("bucket/tokens", detail=True)
        ids = [name for name in now if name.endswith(".bin")]
        assert len(ids) > len(modified) // 2
        # At most the two parts that were not listed are uploaded again.
        again = [name for name in modified if modified[name] != now[name]["LastModified"]]
        assert len(again) <= 2 * 4
        modified = {name: now[name]["LastModified"] for name in ids}
    tokenize_files(tokenizer, "a.jsonl", URL, resume=True, **OPTIONS)
    assert stored(bucket) == contents(Path("local"))


def test_an_interrupt_leaves_a_run_to_resume(s3: ObjectServer, bucket: Any, tokenizer: Tokenizer) -> None:
    tokenize_files(tokenizer, "a.jsonl", "local", **OPTIONS)
    calls = 0

    def interrupt(*_: Any) -> None:
        nonlocal calls
        calls += 1
        if any(name.endswith(".bin") for name in bucket.find("bucket/tokens")):
            signal.raise_signal(signal.SIGINT)

    s3.upload_faults[:] = ["slow"]
    with pytest.raises(KeyboardInterrupt):
        tokenize_files(tokenizer, "a.jsonl", URL, on_progress=interrupt, **OPTIONS)
    assert calls
    assert not contents(Path("temporary"))
    with pytest.raises(errors.OutputError, match="of a run that was not finished"):
        tokenize_files(tokenizer, "a.jsonl", URL, **OPTIONS)
    tokenize_files(tokenizer, "a.jsonl", URL, resume=True, **OPTIONS)
    assert stored(bucket) == contents(Path("local"))


def test_an_object_of_another_version_is_an_error(bucket: Any, tokenizer: Tokenizer) -> None:
    def stop(*_: Any) -> None:
        state = bucket.find("bucket/tokens/.lexmill-run")
        if any("/parts-" in name for name in state) and bucket.find("bucket/tokens/train"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tokenize_files(tokenizer, "a.jsonl", URL, on_progress=stop, **OPTIONS)
    name = "bucket/tokens/train/part-00000.bin"
    bucket.pipe_file(name, bytes(reversed(bucket.cat_file(name))))
    with pytest.raises(errors.OutputError, match=f"s3://{name}: it was modified after it was written"):
        tokenize_files(tokenizer, "a.jsonl", URL, resume=True, **OPTIONS)
    tokenize_files(tokenizer, "a.jsonl", URL, overwrite=True, **OPTIONS)
    assert bucket.find("bucket/tokens/.lexmill-run") == []


def test_refusals_of_s3(s3: ObjectServer, bucket: Any, tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[Any] = []
    with pytest.raises(errors.FileError, match=r"cannot write s3://no-bucket/tokens/.lexmill-run/writer.json"):
        tokenize_files(tokenizer, "a.jsonl", "s3://no-bucket/tokens", on_progress=lambda *given: begun.append(given))
    monkeypatch.setattr(stores, "_PAUSES", (0.0,))
    s3.upload_faults[:] = [403]
    with pytest.raises(errors.FileError, match=r"cannot write s3://bucket/tokens/.lexmill-run/writer.json"):
        tokenize_files(tokenizer, "a.jsonl", URL, on_progress=lambda *given: begun.append(given))
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    pytest.importorskip("s3fs").S3FileSystem.clear_instance_cache()
    with pytest.raises(errors.FileError, match=r"cannot open s3://bucket/tokens: .*redentials"):
        tokenize_files(tokenizer, "a.jsonl", URL, on_progress=lambda *given: begun.append(given))
    assert not begun


@pytest.mark.usefixtures("tokenizer")
def test_commands_write_to_s3(bucket: Any) -> None:
    pytest.importorskip("typer")
    command = [sys.executable, "-m", "lexmill", "tokenize", "tokenizer.json", "a.jsonl", "--part-bytes", "30000"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}

    def run(*arguments: str) -> tuple[int, str]:
        done = subprocess.run([*command, *arguments], env=environment, capture_output=True, text=True, check=False)
        return done.returncode, done.stderr

    assert run("-o", "local")[0] == 0
    assert run("-o", URL) == (0, "")
    assert stored(bucket) == contents(Path("local"))
    code, told = run("-o", URL)
    assert code != 0
    assert f"{URL}: it holds token files; pass --resume to go on or --overwrite to begin again" in told
    assert run("-o", URL, "--resume")[0] == 0
