"""Runs that are cut short: what they leave, and that going on gives the files of a run that was not."""

from __future__ import annotations

import errno
import gzip
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from lexmill import Tokenizer, open_tokens, tokenize_files
from lexmill._core import write_token_manifest
from lexmill.errors import FormatError, OutputError
from lexmill.sources import JsonLines
from token_layouts import LAYOUTS
from token_runs import TEXTS, contents, save_tokenizer

OPTIONS: dict[str, Any] = {"part_bytes": 30_000, "validation": 0.1, "end_token": 0}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tokenizer and sources, plain and compressed."""
    folder = tmp_path_factory.mktemp("resume")
    save_tokenizer(folder)
    for number, write in ((0, Path.write_bytes), (1, gzip_to), (2, Path.write_bytes)):
        texts = TEXTS[number * 1000 : (number + 1) * 1000]
        # Blank and broken lines are no documents.
        lines = [json.dumps({"text": text}) + ("\n\n" if at % 9 else "\n{}\n") for at, text in enumerate(texts)]
        write(folder / f"{number}.jsonl", "".join(lines).encode())
    return folder


def gzip_to(path: Path, data: bytes) -> None:
    path.write_bytes(gzip.compress(data))


@pytest.fixture
def tokenizer(folder: Path) -> Tokenizer:
    return Tokenizer.from_file(folder / "tokenizer.json")


def sources(folder: Path) -> JsonLines:
    return JsonLines([folder / f"{number}.jsonl" for number in range(3)], on_error="skip")


class StopError(Exception):
    """Raised to cut a run short."""


def cut_short(tokenizer: Tokenizer, folder: Path, out: Path, **options: Any) -> None:
    """Runs until all parts are finished, and no further."""

    def stop(_: str, done: int, total: int, *_rest: object) -> None:
        if done == total:
            raise StopError

    with pytest.raises(StopError):
        tokenize_files(tokenizer, sources(folder), out, on_progress=stop, **OPTIONS, **options)


def lines(kind: str, is_broken: bool) -> bytes:
    """Records of some blocks; one near the end is broken, or is as long and whole."""
    texts = [f"{number} {text}" for number, text in enumerate(TEXTS)]
    if kind == "csv":
        records = [f'{number},"{text}"' for number, text in enumerate(texts)]
        records[2500] = "7;broken" if is_broken else "7,broken"
        return "\n".join(["id,text", *records, ""]).encode()
    records = [json.dumps({"text": text}) + "\n" * (number % 9 == 0) for number, text in enumerate(texts)]
    records[2500] = '{"text":123456}' if is_broken else '{"text":"1234"}'
    return "\n".join([*records, ""]).encode()


@pytest.mark.parametrize(("format", "preset"), LAYOUTS)
def test_going_on_gives_what_one_run_gives(tmp_path: Path, tokenizer: Tokenizer, format: Any, preset: Any) -> None:
    options: dict[str, Any] = {"format": format, "preset": preset, "validation": 0.1, "part_bytes": 40_000}
    files = {tmp_path / "0.jsonl": "json", tmp_path / "1.jsonl.gz": "json", tmp_path / "2.csv": "csv"}

    def write(path: Path, is_broken: bool) -> None:
        data = lines(files[path], is_broken)
        # Stored, so that both have as many bytes.
        path.write_bytes(gzip.compress(data, 0) if path.suffix == ".gz" else data)
        os.utime(path, (1, 1))

    for path in files:
        write(path, is_broken=True)
    out, finished = tmp_path / "out", [0]
    for number, path in enumerate(files):
        with pytest.raises(FormatError, match=path.name):
            tokenize_files(tokenizer, list(files), out, resume=True, **options)
        parts = [json.loads(line) for line in (out / "parts.jsonl").read_text().splitlines()]
        # Some parts lie within this file, and the next run begins in its middle.
        assert parts[-1]["end"]["file"] == number
        assert parts[-1]["end"]["byte"] > 0
        finished.append(len(parts))
        with pytest.raises(OutputError, match="is not finished; pass resume=True"):
            open_tokens(out)
        write(path, is_broken=False)
    assert len(set(finished)) == 4
    tokenize_files(tokenizer, list(files), out, resume=True, **options)
    tokenize_files(tokenizer, list(files), tmp_path / "whole", **options)
    assert contents(out) == contents(tmp_path / "whole")
    times = {path: path.stat().st_mtime_ns for path in out.rglob("*")}
    tokenize_files(tokenizer, list(files), out, resume=True, **options)
    assert {path: path.stat().st_mtime_ns for path in out.rglob("*") if path != out} == times


@pytest.mark.filterwarnings("ignore::lexmill.errors.SkippedRecordsWarning")
def test_only_parts_that_are_not_finished_are_written_again(tmp_path: Path, folder: Path, tokenizer: Tokenizer) -> None:
    tokenize_files(tokenizer, sources(folder), tmp_path / "whole", **OPTIONS)
    whole, tmp_path = contents(tmp_path / "whole"), tmp_path / "out"
    cut_short(tokenizer, folder, tmp_path)
    times = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("part-*") if path.is_file()}
    # A part that is on the disk but not listed, as after a kill between the two.
    listed = (tmp_path / "parts.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "parts.jsonl").write_text("".join(listed[:-2]) + listed[-2][:20])
    tokenize_files(tokenizer, sources(folder), tmp_path, resume=True, **OPTIONS)
    kept = [path for path, time in times.items() if path.stat().st_mtime_ns == time]
    names = {name for line in listed[:-2] for name in json.loads(line)["files"]}
    assert {str(path.relative_to(tmp_path)) for path in kept} == names
    assert contents(tmp_path) == whole


@pytest.mark.filterwarnings("ignore::lexmill.errors.SkippedRecordsWarning")
@pytest.mark.parametrize("harm", ["missing", "shorter"])
@pytest.mark.parametrize("name", ["part-00002.bin", "train.bin"])
def test_a_finished_run_whose_files_are_harmed_is_mended(
    tmp_path: Path, folder: Path, tokenizer: Tokenizer, harm: str, name: str
) -> None:
    options = OPTIONS | {"validation": 0.0}
    if name == "train.bin":
        options |= {"format": "raw", "preset": "nanogpt"}
    tokenize_files(tokenizer, sources(folder), tmp_path, **options)
    whole = contents(tmp_path)
    if harm == "missing":
        (tmp_path / name).unlink()
    else:
        (tmp_path / name).write_bytes(whole[name][:-1])
    tokenize_files(tokenizer, sources(folder), tmp_path, resume=True, **options)
    assert contents(tmp_path) == whole


RUN = """
import sys, warnings
from pathlib import Path
from lexmill import Tokenizer, tokenize_files
from lexmill.sources import JsonLines
warnings.simplefilter("ignore")
folder, out, layout, preset = Path(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4] or None
source = JsonLines([folder / f"{number}.jsonl" for number in range(3)], on_error="skip")
print("ready", flush=True)
tokenize_files(Tokenizer.from_file(folder / "tokenizer.json"), source, out, format=layout, preset=preset,
    part_bytes=30_000, validation=0.1, end_token=0, resume=True, num_threads=2)
"""


def start(folder: Path, out: Path, format: str, preset: str | None) -> subprocess.Popen[str]:
    arguments = [sys.executable, "-c", RUN, str(folder), str(out), format, preset or ""]
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def end(process: subprocess.Popen[str]) -> str:
    _, errors = process.communicate()
    return errors


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no such signal")
@pytest.mark.parametrize(("format", "preset"), [("megatron", None), ("arrow", None), ("raw", "nanogpt")])
def test_a_killed_run_goes_on_and_leaves_no_litter(
    tmp_path: Path, folder: Path, format: str, preset: str | None
) -> None:
    begun = time.perf_counter()
    process = start(folder, tmp_path / "whole", format, preset)
    assert (end(process), process.returncode) == ("", 0)
    duration, moments = time.perf_counter() - begun, random.Random(7)
    whole = contents(tmp_path / "whole")
    kills = 0
    for number in range(12):
        process = start(folder, tmp_path / "out", format, preset)
        # Most of the duration is the start of Python, before `ready`.
        time.sleep(moments.uniform(0, duration / 4))
        process.kill()
        end(process)
        kills += process.returncode == -signal.SIGKILL
        # Sometimes from the beginning again, so that there are kills at its every stage.
        if number % 4 == 3 and number < 11:
            shutil.rmtree(tmp_path / "out", ignore_errors=True)
    assert kills > 0
    process = start(folder, tmp_path / "out", format, preset)
    assert (end(process), process.returncode) == ("", 0)
    assert contents(tmp_path / "out") == whole


@pytest.mark.filterwarnings("ignore::lexmill.errors.SkippedRecordsWarning")
def test_temporary_files_of_a_killed_run_are_removed_and_no_others(
    tmp_path: Path, folder: Path, tokenizer: Tokenizer
) -> None:
    tokenize_files(tokenizer, sources(folder), tmp_path / "whole", **OPTIONS)
    out = tmp_path / "out"
    cut_short(tokenizer, folder, out)
    part = len((out / "parts.jsonl").read_text().splitlines())
    for suffix in (".bin", ".idx", ".lengths"):
        (out / "train" / f".part-{part:05}{suffix}.tmp").write_bytes(b"left")
    (out / "train" / "notes.txt").write_text("mine")
    tokenize_files(tokenizer, sources(folder), out, resume=True, **OPTIONS)
    assert contents(out) == contents(tmp_path / "whole") | {"train/notes.txt": b"mine"}


@pytest.mark.filterwarnings("ignore::lexmill.errors.SkippedRecordsWarning")
def test_two_writers_are_kept_apart(tmp_path: Path, folder: Path, tokenizer: Tokenizer) -> None:
    messages: list[str] = []

    def intrude(*_: object) -> None:
        if not messages:
            with pytest.raises(OutputError) as raised:
                tokenize_files(tokenizer, sources(folder), tmp_path, resume=True, **OPTIONS)
            messages.append(str(raised.value))

    tokenize_files(tokenizer, sources(folder), tmp_path, on_progress=intrude, **OPTIONS)
    assert messages == [f"{tmp_path}: process {os.getpid()} writes to it"]
    assert not (tmp_path / ".lexmill-lock").exists()


@pytest.mark.filterwarnings("ignore::lexmill.errors.SkippedRecordsWarning")
def test_what_differs_from_the_run_that_was_begun_is_named(tmp_path: Path, folder: Path, tokenizer: Tokenizer) -> None:
    cut_short(tokenizer, folder, tmp_path)
    other = Tokenizer.from_file(folder / "tokenizer.json")
    other.add_special_tokens(["<new>"])
    given: dict[str, Any] = OPTIONS | {"resume": True}
    cases: list[tuple[Tokenizer, Any, dict[str, Any], str]] = [
        (other, sources(folder), given, "the tokenizer was [0-9a-f]{16}-"),
        (tokenizer, sources(folder), given | {"end_token": 5}, "end_token was 0 but is 5"),
        (tokenizer, sources(folder), given | {"part_bytes": 7}, "part_bytes was 30000 but is 7"),
        (tokenizer, sources(folder), given | {"format": "npy"}, 'format was "megatron" but is "npy"'),
        (tokenizer, JsonLines(sources(folder).paths[:2], on_error="skip"), given, "there were 3 inputs but are 2"),
        (
            tokenizer,
            JsonLines(sources(folder).paths, field="a"),
            given,
            r"an input was \S*0.jsonl \(JSON lines.* but is",
        ),
        (tokenizer, sources(folder), OPTIONS, "of a run that was not finished; pass resume=True"),
    ]
    for chosen, source, options, message in cases:
        with pytest.raises(OutputError, match=message):
            tokenize_files(chosen, source, tmp_path, **options)
    tokenize_files(tokenizer, sources(folder), tmp_path, **given)
    with pytest.raises(OutputError, match="it holds token files; pass resume=True to go on or overwrite=True"):
        tokenize_files(tokenizer, sources(folder), tmp_path, **OPTIONS)


@pytest.mark.filterwarnings("ignore::lexmill.errors.SkippedRecordsWarning")
def test_another_version_is_named(tmp_path: Path, folder: Path, tokenizer: Tokenizer) -> None:
    cut_short(tokenizer, folder, tmp_path)
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    (tmp_path / "manifest.json").write_text(json.dumps(manifest | {"lexmill": "0.0.1"}))
    with pytest.raises(OutputError, match=r"the version of lexmill was 0\.0\.1 but is"):
        tokenize_files(tokenizer, sources(folder), tmp_path, resume=True, **OPTIONS)
    (tmp_path / "manifest.json").write_text(json.dumps(manifest | {"format_version": 2}))
    with pytest.raises(OutputError, match="it has format version 2, but this is 1"):
        tokenize_files(tokenizer, sources(folder), tmp_path, resume=True, **OPTIONS)


@pytest.mark.filterwarnings("ignore::lexmill.errors.SkippedRecordsWarning")
def test_changed_inputs_are_named(tmp_path: Path, folder: Path, tokenizer: Tokenizer) -> None:
    copy, out = tmp_path / "in", tmp_path / "out"
    shutil.copytree(folder, copy)
    cut_short(tokenizer, copy, out)
    os.utime(copy / "1.jsonl", (1, 1))
    with pytest.raises(OutputError, match=r"the input \S*1.jsonl was modified"):
        tokenize_files(tokenizer, sources(copy), out, resume=True, **OPTIONS)
    with (copy / "0.jsonl").open("a") as file:
        file.write("\n")
    with pytest.raises(OutputError, match=r"the input \S*0.jsonl had \d+ bytes but has \d+"):
        tokenize_files(tokenizer, sources(copy), out, resume=True, **OPTIONS)
    tokenize_files(tokenizer, sources(copy), out, overwrite=True, **OPTIONS)


@pytest.mark.filterwarnings("ignore::lexmill.errors.SkippedRecordsWarning")
@pytest.mark.parametrize("is_finished", [False, True])
def test_overwriting_removes_all_files_of_another_layout(
    tmp_path: Path, folder: Path, tokenizer: Tokenizer, is_finished: bool
) -> None:
    tokenize_files(tokenizer, sources(folder), tmp_path / "whole", **OPTIONS)
    for format, preset in LAYOUTS:
        layout: dict[str, Any] = {"format": format, "preset": preset}
        if is_finished:
            tokenize_files(tokenizer, sources(folder), tmp_path / "out", overwrite=True, **OPTIONS, **layout)
            # As if the run had been killed just before its last step.
            manifest = open_tokens(tmp_path / "out").manifest
            (tmp_path / "out" / "parts.jsonl").write_text(
                "".join(json.dumps(part) + "\n" for part in manifest["parts"])
            )
            write_token_manifest(tmp_path / "out", json.dumps({**manifest, "total": None, "parts": [], "files": {}}))
        else:
            cut_short(tokenizer, folder, tmp_path / "out", overwrite=True, **layout)
        tokenize_files(tokenizer, sources(folder), tmp_path / "out", overwrite=True, **OPTIONS)
        assert contents(tmp_path / "out") == contents(tmp_path / "whole")


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_folder_with_other_files_is_left_alone(
    tmp_path: Path, folder: Path, tokenizer: Tokenizer, overwrite: bool
) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(OutputError, match=r"it holds thesis.txt, which is no token file"):
        tokenize_files(tokenizer, sources(folder), tmp_path, overwrite=overwrite)
    assert contents(tmp_path) == {"thesis.txt": b"mine"}


def test_a_broken_record_after_going_on_is_named_by_line_and_byte(tmp_path: Path, tokenizer: Tokenizer) -> None:
    # More than one block, so that parts are finished before the last line is read.
    lines = [json.dumps({"text": text}) + "\n" for text in TEXTS * 2]
    (tmp_path / "in.jsonl").write_text("".join([*lines, "{}\n"]))
    with pytest.raises(FormatError, match=r"in.jsonl, line 6001: there is no field"):
        tokenize_files(tokenizer, tmp_path / "in.jsonl", tmp_path / "out", part_bytes=200_000)
    part = json.loads((tmp_path / "out" / "parts.jsonl").read_text().splitlines()[-1])
    byte = part["end"]["byte"]
    line = 6001 - "".join(lines).encode()[:byte].count(b"\n")
    with pytest.raises(FormatError, match=rf"in.jsonl, line {line} after byte {byte}: there is no field"):
        tokenize_files(tokenizer, tmp_path / "in.jsonl", tmp_path / "out", part_bytes=200_000, resume=True)


LIMITED = """
import resource, signal, sys, warnings
from lexmill import Tokenizer, tokenize_files
from lexmill.errors import FileError
from lexmill.sources import JsonLines
warnings.simplefilter("ignore")
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), int(sys.argv[1])))
source = JsonLines([f"{sys.argv[2]}/{number}.jsonl" for number in range(3)], on_error="skip")
try:
    tokenize_files(Tokenizer.from_file(f"{sys.argv[2]}/tokenizer.json"), source, sys.argv[3], format=sys.argv[4],
        preset=sys.argv[5] or None, part_bytes=30_000, validation=0.1, end_token=0, resume=True)
except FileError as error:
    print(error.errno, error.filename, str(error).split(":")[0])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such limit")
@pytest.mark.filterwarnings("ignore::lexmill.errors.SkippedRecordsWarning")
@pytest.mark.parametrize(("format", "preset"), LAYOUTS)
def test_a_file_that_cannot_grow_is_named_and_finished_parts_are_kept(
    tmp_path: Path, folder: Path, tokenizer: Tokenizer, format: Any, preset: Any
) -> None:
    layout: dict[str, Any] = {"format": format, "preset": preset}
    tokenize_files(tokenizer, sources(folder), tmp_path / "whole", **OPTIONS, **layout)
    sizes = sorted(len(data) for name, data in contents(tmp_path / "whole").items() if name.startswith("train"))
    out = tmp_path / "out"
    # Below the largest file, at which the first part or a later one fails.
    limit = max(5_000, sizes[-1] - 1)
    arguments = [str(limit), str(folder), str(out), format, preset or ""]
    ran = subprocess.run([sys.executable, "-c", LIMITED, *arguments], capture_output=True, text=True, check=True)
    code, path, message = ran.stdout.split(" ", 2)
    assert int(code) == errno.EFBIG
    assert path.startswith(str(out))
    assert message.startswith(("cannot write", "cannot append"))
    # What parts were joined to stays, since those are removed.
    left = [".train.bin.tmp", ".val.bin.tmp"] if preset == "nanogpt" else []
    assert sorted(path.name for path in out.rglob("*.tmp")) == left
    tokenize_files(tokenizer, sources(folder), out, resume=True, **OPTIONS, **layout)
    assert contents(out) == contents(tmp_path / "whole")
