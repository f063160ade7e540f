"""A disk that is full, or fails: the error names the file, finished parts stay, and the command goes on."""

from __future__ import annotations

import errno
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from faulty import FULL, Ended, Fault, Faults, moments, tree
from test_kill import FORMATS, Job, counting, finished, identity, merging, tokenizing, training

Begin = Callable[[Path], Job]


@pytest.fixture
def mount() -> Iterator[Callable[[int], Path]]:
    """Mounts small file systems in memory."""
    mounted: list[Path] = []

    def mount(size: int) -> Path:
        folder = Path(tempfile.mkdtemp(prefix="lexmill-small-"))
        command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(folder)]
        if shutil.which("mount") is None or subprocess.run(command, capture_output=True, check=False).returncode:
            folder.rmdir()
            pytest.skip("a small file system cannot be mounted: that takes the rights of root")
        mounted.append(folder)
        return folder

    yield mount
    for folder in mounted:
        subprocess.run(["umount", str(folder)], check=True)
        folder.rmdir()


PAGE = 4096
"""Bytes that a file in memory takes at least."""


def enlarge(folder: Path) -> None:
    subprocess.run(["mount", "-o", "remount,size=64m", str(folder)], check=True)


def check_error(ran: Ended, folder: Path, code: int = errno.ENOSPC) -> None:
    """One line on standard error, which names a file or folder and what the system says."""
    reason = {errno.ENOSPC: "no space left on device", errno.EIO: "input/output error"}[code]
    assert ran.code == 1, ran
    assert ran.errors.count("\n") == 1, ran
    assert str(folder) in ran.errors, ran
    assert reason in ran.errors.lower(), ran


JOBS: dict[str, Callable[[list[Path], list[Path], Path, Path], Job]] = {
    "count": lambda corpus, _counts, _tokenizer, folder: counting(corpus, folder),
    "merge": lambda _corpus, counts, _tokenizer, folder: merging(counts, folder),
    "train": lambda _corpus, counts, _tokenizer, folder: training(counts, folder),
    **{
        kind: lambda corpus, _counts, tokenizer, folder, kind=kind: tokenizing(tokenizer, corpus, folder, kind)
        for kind in FORMATS
    },
}


# Layouts of several files, and the one whose parts are joined; all others with LEXMILL_FAULTS=full.
@pytest.fixture(params=JOBS if FULL else ["count", "merge", "train", "megatron", "nanogpt"])
def begin(request: pytest.FixtureRequest, corpus: list[Path], counts: list[Path], tokenizer: Path) -> Begin:
    make = JOBS[request.param]
    return lambda folder: make(corpus, counts, tokenizer, folder)


def test_a_small_disk(faults: Faults, begin: Begin, mount: Callable[[int], Path], tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    whole.mkdir()
    assert faults.lexmill(begin(whole).arguments, whole).code == 0
    expected = tree(whole)
    pages = {path.name: -(-path.stat().st_size // PAGE) for path in whole.rglob("*") if path.is_file()}
    # What the command finds there needs room too.
    found = pages.pop("some.counts", 0)
    for share in (0.0, 0.2, 0.4, 0.6, 0.8) if FULL else (0.0, 0.6):
        folder = mount(PAGE * (found + 1 + int(share * (sum(pages.values()) - 1))))
        job = begin(folder)
        ran = faults.lexmill(job.arguments, folder)
        check_error(ran, folder)
        assert litter(folder) == set()
        kept = finished(job, folder)
        enlarge(folder)
        again = faults.lexmill(job.again, folder)
        assert (again.code, again.errors) == (0, "")
        assert {path: state for path, state in kept.items() if path.exists() and identity(path) != state} == {}
        assert tree(folder) == expected


# What is joined so far holds parts that are gone, so the run that goes on needs these.
JOINED = {"tokens/.train.bin.tmp", "tokens/.val.bin.tmp"}


def litter(folder: Path) -> set[str]:
    return {name for name in tree(folder) if name.endswith((".tmp", ".lexmill-lock"))} - JOINED


CALLS = {"write": errno.ENOSPC, "fsync": errno.EIO, "close": errno.EIO, "rename": errno.ENOSPC, "create": errno.ENOSPC}


@pytest.mark.parametrize("call", CALLS)
def test_calls_that_fail(faults: Faults, begin: Begin, tmp_path: Path, call: str) -> None:
    """Each kind of call fails at several places, whatever file it is for."""
    whole = tmp_path / "whole"
    whole.mkdir()
    ran = faults.lexmill(begin(whole).arguments, whole, Fault((call,)))
    assert ran.code == 0
    expected = tree(whole)
    # The first write is that of the lock.
    first = {1} if call == "write" else set()
    for moment in sorted(first.union(moments(ran.calls, 20 if FULL else 1, seed=len(ran.calls)))):
        folder = tmp_path / str(moment)
        folder.mkdir()
        job, what = begin(folder), f"{moment}: {ran.calls[moment - 1]}"
        # A full disk stays full; a failure of the hardware comes once.
        fault = Fault((call,), moment, CALLS[call], is_sticky=CALLS[call] == errno.ENOSPC)
        failed = faults.lexmill(job.arguments, folder, fault)
        if call == "close" and failed.code == 0:
            # Rust does not tell. The bytes are on the disk since fsync said so, or are read again and have checksums.
            assert tree(folder) == expected, what
        else:
            check_error(failed, folder, CALLS[call])
        assert litter(folder) == set(), what
        kept = finished(job, folder)
        again = faults.lexmill(job.again, folder)
        assert (again.code, again.errors) == (0, ""), what
        assert {path: state for path, state in kept.items() if path.exists() and identity(path) != state} == {}, what
        assert tree(folder) == expected, what
        shutil.rmtree(folder)
