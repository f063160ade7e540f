"""The folder that the workers of a job share: locks, attempts, and files that killed tasks leave."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from lexmill import errors
from lexmill._engines.groups import Group
from lexmill._engines.jobs import Job, Outcome
from lexmill._engines.shared_folder import attempt, locked, publish
from lexmill.sources import Lines
from shared_jobs import counted, files_of, in_turn, tokenized


def test_a_folder_that_workers_do_not_share_is_refused(tmp_path: Path) -> None:
    (file,) = files_of(tmp_path, ["a b\n"])

    def elsewhere(job: Job, groups: Sequence[Group]) -> Iterator[Outcome]:
        (tmp_path / "other").mkdir()
        return in_turn(replace(job, folder=tmp_path / "other"), groups)

    def nowhere(job: Job, groups: Sequence[Group]) -> Iterator[Outcome]:
        return in_turn(replace(job, folder=tmp_path / "missing"), groups)

    with pytest.raises(errors.FileError, match=r"is not there, but .* wrote it; the folder must be shared"):
        counted([file], tmp_path / "shared", elsewhere)
    with pytest.raises(errors.FileError, match=r"cannot write to the shared folder on .*: No such file"):
        counted([file], tmp_path / "shared", nowhere)
    with pytest.raises(errors.FileError, match="cannot make the shared folder"):
        counted([file], file / "shared")


def test_two_jobs_do_not_work_in_one_folder(tmp_path: Path) -> None:
    (file,) = files_of(tmp_path, ["a b\n"])
    with locked(tmp_path), pytest.raises(errors.OutputError, match="another job works in it"):
        counted([file], tmp_path)
    counted([file], tmp_path / "shared")


def test_what_killed_tasks_left_is_removed_and_nothing_else(tmp_path: Path) -> None:
    (file,) = files_of(tmp_path, ["a b\n"])
    folder = tmp_path / "shared"
    (folder / ".lexmill-attempt-x").mkdir(parents=True)
    (folder / ".lexmill-attempt-x" / "part").touch()
    (folder / "mine").touch()

    def kill(job: Job, groups: Sequence[Group]) -> Iterator[Outcome]:
        # Files of an earlier job are removed before this one begins, and files of this one at its end.
        assert not (folder / ".lexmill-attempt-x").exists()
        (folder / ".lexmill-attempt-y").mkdir()
        return in_turn(job, groups)

    counted([file], folder, kill)
    assert sorted(path.suffix or path.name for path in folder.iterdir()) == [".counts", "mine"]


def test_of_two_attempts_the_first_one_counts(tmp_path: Path) -> None:
    for is_folder in (False, True):
        target = tmp_path / f"target-{is_folder}"
        with attempt(tmp_path, "x") as first, attempt(tmp_path, "x") as second:
            for folder in (first, second):
                made = folder / "made"
                if is_folder:
                    made.mkdir()
                    made /= "file"
                made.write_text(folder.name, encoding="utf-8")
            publish(first / "made", target)
            publish(second / "made", target)
            expected = first.name
        assert (target / "file" if is_folder else target).read_text(encoding="utf-8") == expected
    assert sorted(path.name for path in tmp_path.iterdir()) == ["target-False", "target-True"]


def test_attempts_at_the_same_time_do_not_disturb_each_other(tmp_path: Path) -> None:
    files = files_of(tmp_path, ["a b\n" * 1000, "b c\n" * 1000])

    def twice(job: Job, groups: Sequence[Group]) -> Iterator[Outcome]:
        work = [threading.Thread(target=job.run, args=(group,)) for group in groups for _ in range(4)]
        for thread in work:
            thread.start()
        for thread in work:
            thread.join()
        return in_turn(job, groups)

    tokens = tokenized(Lines(files), tmp_path / "out", twice)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["00000", "00001", "manifest.json"]
    tokens.verify()
