"""`kill -9` at chosen calls of the system, then the command again: the files of an undisturbed run, and no others."""

from __future__ import annotations

import json
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from faulty import CHANGES, FULL, Call, Fault, Faults, moments, tree

from token_layouts import LAYOUTS, options_for

MOMENTS = 20
SMALL = ["--threads", "2"]
PACKED = {
    "best-fit": ["--format", "npy", "--pack", "64", "--packing", "best-fit", "--pad-token", "7"],
    "index": ["--pack", "64", "--packing", "index"],
}
PLAIN = {preset or format: options_for(format, preset) for format, preset in LAYOUTS}
FORMATS = [*PLAIN, *PACKED]


@dataclass(frozen=True)
class Job:
    """A command that may be killed and given again.

    Attributes:
        arguments: the command, which writes to the folder that it runs in.
        again: the command that goes on; the same one if it begins anew.
        list: the file that lists finished parts while there are others.
    """

    arguments: list[str | Path]
    again: list[str | Path]
    list: str | None = None


def counting(corpus: list[Path], folder: Path) -> Job:
    (folder / "runs").mkdir()
    options = ["--checkpoint", folder / "parts", "--checkpoint-bytes", "300000", "--folder", folder / "runs", *SMALL]
    command = ["count-words", *corpus, "-o", folder / "all.counts", "--max-memory", "30MB", *options]
    return Job(command, [*command, "--resume"], "parts/parts.jsonl")


def merging(counts: list[Path], folder: Path) -> Job:
    (folder / "runs").mkdir()
    command = ["merge-counts", *counts, "-o", folder / "all.counts", "--min-count", "2", "--folder", folder / "runs"]
    return Job(command, command)


def training(counts: list[Path], folder: Path) -> Job:
    shutil.copy(counts[0], folder / "some.counts")
    command = ["train", "--from-counts", folder / "some.counts", "-o", folder / "tokenizer.json", *SMALL]
    return Job([*command, "--vocab-size", "700"], [*command, "--vocab-size", "700"])


def tokenizing(tokenizer: Path, corpus: list[Path], folder: Path, kind: str) -> Job:
    layout = [text for name, value in PLAIN.get(kind, {}).items() for text in (f"--{name}", value)]
    options = [*PACKED.get(kind, layout), "--part-bytes", "150000", "--validation", "0.1", "--end-token", "7", *SMALL]
    command = ["tokenize", tokenizer, *corpus, "-o", folder / "tokens", *options]
    return Job(command, [*command, "--resume"], "tokens/parts.jsonl")


Begin = Callable[[Path], Job]


def check(faults: Faults, begin: Begin, folder: Path, calls: tuple[str, ...], count: int, seed: int) -> None:
    """Kills the command at `count` of its calls, each time from its beginning, and gives it again."""
    whole = folder / "whole"
    whole.mkdir()
    ran = faults.lexmill(begin(whole).arguments, whole, Fault(calls))
    assert (ran.code, ran.errors) == (0, "")
    expected = tree(whole)
    for moment in moments(ran.calls, count, seed):
        kill_and_go_on(
            faults, begin, folder / str(moment), Fault(calls, moment), relative(ran.calls[moment - 1], whole)
        )
        found = tree(folder / str(moment))
        assert found.keys() == expected.keys(), f"{moment}: {ran.calls[moment - 1]}"
        assert different(found, expected) == [], f"{moment}: {ran.calls[moment - 1]}"
        shutil.rmtree(folder / str(moment))


def relative(call: Call, folder: Path) -> str:
    return f"{call.name} {call.path.removeprefix(str(folder))}"


def different(found: dict[str, bytes], expected: dict[str, bytes]) -> list[str]:
    return [name for name in expected if found[name] != expected[name]]


def kill_and_go_on(faults: Faults, begin: Begin, folder: Path, fault: Fault, what: str) -> None:
    folder.mkdir()
    job = begin(folder)
    killed = faults.lexmill(job.arguments, folder, fault)
    assert killed.is_killed, what
    kept = finished(job, folder)
    again = faults.lexmill(job.again, folder)
    assert (again.code, again.errors) == (0, ""), what
    # What was finished is not written again, nor even opened for that.
    touched = {call.path for call in again.calls if call.name in ("write", "create", "rename")}
    assert not touched & {str(path) for path in kept}, what
    assert {path: state for path, state in kept.items() if path.exists() and identity(path) != state} == {}, what


def finished(job: Job, folder: Path) -> dict[Path, tuple[int, int]]:
    """The files of parts that are listed, each with what changes when it is written again."""
    if job.list is None or not (folder / job.list).exists():
        return {}
    base, found = (folder / job.list).parent, {}
    for number, line in enumerate((folder / job.list).read_text().splitlines(keepends=True)):
        if not line.endswith("\n"):
            break
        for name in json.loads(line).get("files", {f"part-{number:05}.counts": 0}):
            # A part that is joined already is gone.
            if not {"nanogpt", "--join"}.intersection(job.arguments) or (base / name).exists():
                found[base / name] = identity(base / name)
    return found


def identity(path: Path) -> tuple[int, int]:
    return path.stat().st_ino, path.stat().st_mtime_ns


def test_counting(faults: Faults, corpus: list[Path], tmp_path: Path) -> None:
    check(faults, lambda folder: counting(corpus, folder), tmp_path, CHANGES, MOMENTS, seed=1)


def test_merging(faults: Faults, counts: list[Path], tmp_path: Path) -> None:
    check(faults, lambda folder: merging(counts, folder), tmp_path, CHANGES, MOMENTS, seed=2)


# Merging and training begin again: merging is fast, and training keeps nothing on the way so far. Training that does
# may be put here as another job.
@pytest.mark.parametrize("begin", [training], ids=lambda begin: begin.__name__)
def test_training(faults: Faults, counts: list[Path], tmp_path: Path, begin: Callable[[list[Path], Path], Job]) -> None:
    check(faults, lambda folder: begin(counts, folder), tmp_path, (*CHANGES, "read"), MOMENTS, seed=3)


@pytest.mark.parametrize("kind", FORMATS)
def test_tokenizing(faults: Faults, corpus: list[Path], tokenizer: Path, tmp_path: Path, kind: str) -> None:
    count, seed = MOMENTS if FULL else 4, FORMATS.index(kind)
    check(faults, lambda folder: tokenizing(tokenizer, corpus, folder, kind), tmp_path, CHANGES, count, seed)


def test_kills_one_after_the_other_get_to_the_end(
    faults: Faults, corpus: list[Path], tokenizer: Path, tmp_path: Path
) -> None:
    """Each run is killed some calls after it began to go on, until so few are left that the last one ends.

    A run of `tokenize` that goes on first removes files that parts may have left: some hundred calls.
    """
    jobs: list[tuple[str, Begin, range]] = [
        ("count", lambda folder: counting(corpus, folder), range(30, 45)),
        ("tokenize", lambda folder: tokenizing(tokenizer, corpus, folder, "megatron"), range(170, 220)),
    ]
    for name, begin, lengths in jobs:
        whole, out = tmp_path / f"{name}-whole", tmp_path / name
        whole.mkdir()
        out.mkdir()
        assert faults.lexmill(begin(whole).arguments, whole).code == 0
        job, choose, kills = begin(out), random.Random(5), 0
        while faults.lexmill(job.again, out, Fault(at=choose.choice(lengths))).is_killed:
            kills += 1
            assert kills < 40
        assert kills > 1
        assert tree(out) == tree(whole)


def test_kills_at_any_time(corpus: list[Path], counts: list[Path], tokenizer: Path, tmp_path: Path) -> None:
    """Between calls, too: what is checked does not depend on when exactly the kill comes."""
    jobs: list[Begin] = [
        lambda folder: counting(corpus, folder),
        lambda folder: merging(counts, folder),
        lambda folder: training(counts, folder),
        lambda folder: tokenizing(tokenizer, corpus, folder, "arrow"),
    ]
    choose = random.Random(9)
    for number, begin in enumerate(jobs):
        whole = tmp_path / f"{number}-whole"
        whole.mkdir()
        started = time.perf_counter()
        lexmill(begin(whole).arguments).wait()
        duration = time.perf_counter() - started
        for moment in range(MOMENTS if FULL else 3):
            folder = tmp_path / f"{number}-{moment}"
            folder.mkdir()
            job = begin(folder)
            process = lexmill(job.arguments)
            try:
                process.wait(choose.uniform(0.1, 1) * duration)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.wait()
            kept = finished(job, folder)
            # A run that the kill came too late for is finished, and its command may be given again only to go on.
            assert lexmill(job.again).wait() == 0
            assert {path: state for path, state in kept.items() if path.exists() and identity(path) != state} == {}
            assert tree(folder) == tree(whole)


def lexmill(arguments: list[str | Path]) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-m", "lexmill", *map(str, arguments)])
