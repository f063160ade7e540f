"""Groups, workers and counts of shared jobs, whose tasks run one after the other in this process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lexmill.ray
import lexmill.spark
from killed_sources import KilledOnce
from lexmill import count_words, errors, merge_counts, tokenize_files
from lexmill._core import FileSource
from lexmill._engines.counting import CountJob, CountOptions
from lexmill._engines.groups import Group, InputFile, plan
from lexmill._engines.jobs import Job, Outcome
from lexmill.sources import ArrowStream, JsonLines, Lines
from lexmill.trainers import SuperwordOptions
from shared_jobs import BYTE_LEVEL, counted, files_of, in_turn, tokenized, tokenizer


def saved(counts: Any, folder: Path) -> bytes:
    counts.save(folder / "saved.counts")
    return (folder / "saved.counts").read_bytes()


def sized(sizes: Sequence[int]) -> list[InputFile]:
    return [InputFile(str(number), str(number), size, 0, 0) for number, size in enumerate(sizes)]


@given(st.lists(st.integers(0, 9)), st.integers(1, 20), st.integers(0, 3))
def test_groups_are_the_longest_runs_of_files_within_the_limit(sizes: list[int], limit: int, first: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lexmill._engines.groups._input_files", lambda file: [file])
        groups = plan(sized(sizes), group_bytes=limit, first_source=first)  # type: ignore[arg-type]
    assert [file.bytes for group in groups for file in group.files] == sizes
    assert [group.number for group in groups] == list(range(len(groups)))
    start = first
    for at, group in enumerate(groups):
        assert group.first_source == start
        start += len(group.files)
        assert group.files or not sizes
        assert group.bytes <= limit or len(group.files) == 1
        if at + 1 < len(groups):
            assert group.bytes + groups[at + 1].files[0].bytes > limit


def test_what_no_other_machine_can_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a", encoding="utf-8")
    os.mkfifo(tmp_path / "pipe")
    for source, message in (
        (Lines("-"), "standard input is on one machine only"),
        (ArrowStream(object()), "is on one machine only"),  # type: ignore[arg-type]
        (tmp_path / "pipe", "pipe can be read only once"),
    ):
        with pytest.raises(errors.OptionError, match=message):
            plan([tmp_path / "a.txt", source], group_bytes=1)
    with pytest.raises(errors.FileError, match=r"missing\.txt"):
        plan(tmp_path / "missing.txt", group_bytes=1)
    with pytest.raises(errors.OptionError, match="group_bytes is 0 but must be at least 1"):
        counted([], tmp_path, group_bytes=0)


def test_counts_are_those_of_one_process_however_many_runs_are_merged(tmp_path: Path) -> None:
    files = files_of(tmp_path, [f"{'ab' * (number % 7)} {number}\n" for number in range(70)])
    local = saved(count_words(files, pre_tokenizer=BYTE_LEVEL, first_source=5), tmp_path)
    seen: list[Any] = []
    counts = counted(files, tmp_path / "shared", first_source=5, on_progress=lambda *progress: seen.append(progress))
    assert saved(counts, tmp_path) == local
    total = sum(file.stat().st_size for file in files)
    assert (len(seen), seen[-1]) == (70, ("tasks", total, total, 0, None))
    assert all(eta > 0 for *_, eta, _ in seen[:-1])
    assert len(list((tmp_path / "shared").iterdir())) == 70
    # Runs are of value by themselves.
    assert saved(merge_counts((tmp_path / "shared").iterdir()), tmp_path) == local


@pytest.mark.parametrize("algorithm", ["boundless", "superbpe"])
def test_phrases_are_counted_as_by_one_process(algorithm: Literal["boundless", "superbpe"], tmp_path: Path) -> None:
    superwords = SuperwordOptions(0, algorithm=algorithm)
    files = files_of(tmp_path, [f"of the sea, {'ab' * (number % 7)} of {number}\n" for number in range(9)])
    local = count_words(files, pre_tokenizer=BYTE_LEVEL, superwords=superwords)
    assert local.phrases > 0
    shared = counted(files, tmp_path / "shared", superwords=superwords)
    assert saved(shared, tmp_path) == saved(local, tmp_path)


def test_without_sources_there_is_nothing(tmp_path: Path) -> None:
    assert saved(counted([], tmp_path / "shared"), tmp_path) == saved(
        count_words([], pre_tokenizer=BYTE_LEVEL), tmp_path
    )
    with pytest.warns(errors.EmptyCorpusWarning, match="no tokens were written, from no inputs, with no records"):
        tokens = tokenized([], tmp_path / "out")
    assert (len(tokens), tokens.tokens) == (0, 0)


def test_damaged_runs_are_counted_again(tmp_path: Path) -> None:
    files = files_of(tmp_path, ["a b\n", "b c\n"])
    expected = saved(counted(files, tmp_path / "shared"), tmp_path)
    path = min((tmp_path / "shared").iterdir())
    path.write_bytes(path.read_bytes()[:-1])
    assert saved(counted(files, tmp_path / "shared"), tmp_path) == expected


def test_a_run_has_the_name_of_all_that_it_was_made_from(tmp_path: Path) -> None:
    (file,) = files_of(tmp_path, ["a b\n"])
    options = CountOptions.of(None, BYTE_LEVEL, (), None, None, None, "strict")
    job = CountJob(tmp_path, lexmill.__version__, 1, options)
    (group,) = plan(file, group_bytes=1)
    other_stages = replace(options, stages=CountOptions.of(None, None, (), None, None, None, "strict").stages)
    input_file = group.files[0]
    groups = [
        replace(group, first_source=1),
        replace(group, files=(replace(input_file, bytes=5),)),
        replace(group, files=(replace(input_file, modified=5),)),
        replace(group, files=(replace(input_file, edges=5),)),
        replace(group, files=(replace(input_file, source=Lines(file)),)),
        replace(group, files=(replace(input_file, source=Lines(file, errors="replace")),)),
    ]
    jobs = [
        replace(job, lexmill="0"),
        replace(job, options=other_stages),
        replace(job, options=replace(options, errors="replace")),
        replace(job, options=replace(options, superwords=SuperwordOptions(0))),
        replace(job, options=replace(options, superwords=SuperwordOptions(0, algorithm="superbpe"))),
    ]
    names = [job.name(group), *(job.name(other) for other in groups), *(other.name(group) for other in jobs)]
    assert len(set(names)) == len(names) == 12
    # What decides nothing is not in it.
    assert (
        replace(job, num_threads=2, options=replace(options, max_memory=1)).name(replace(group, number=7)) == names[0]
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a b c\n", "has 6 bytes on .* but 4 on the driver"),
        ("b b\n", "begins or ends with other bytes on .* than on the driver"),
        (None, "cannot read it on .*: No such file"),
    ],
)
def test_a_worker_that_sees_another_file_says_so(tmp_path: Path, text: str | None, message: str) -> None:
    (file,) = files_of(tmp_path, ["a b\n"])

    def change_first(job: Job, groups: Sequence[Group]) -> Iterator[Outcome]:
        if text is None:
            file.unlink()
        else:
            file.write_text(text, encoding="utf-8")
        return in_turn(job, groups)

    with pytest.raises(errors.FileError, match=message):
        counted([file], tmp_path / "shared", change_first)
    assert not list((tmp_path / "shared").iterdir())


@dataclass(frozen=True)
class Growing(Lines):
    """A file that grows while it is read."""

    def _open(self) -> FileSource:
        with Path(self.paths[0]).open("a", encoding="utf-8") as file:
            file.write("more\n")
        return super()._open()


def test_what_was_made_from_a_file_that_changed_is_not_kept(tmp_path: Path) -> None:
    (file,) = files_of(tmp_path, ["a b\n"])
    for call in (counted, tokenized):
        with pytest.raises(errors.FileError, match=r"bytes on .* on the driver"):
            call(Growing(file), tmp_path / call.__name__)
        assert [path.name for path in (tmp_path / call.__name__).iterdir()] in ([], ["manifest.json"])


def test_another_version_on_a_worker_is_refused(tmp_path: Path) -> None:
    (file,) = files_of(tmp_path, ["a b\n"])

    def age(job: Job, groups: Sequence[Group]) -> Iterator[Outcome]:
        return in_turn(replace(job, lexmill="0.0.1"), groups)

    with pytest.raises(errors.OptionError, match=r"lexmill is .* on .* but 0\.0\.1 on the driver"):
        counted([file], tmp_path / "shared", age)


def test_skipped_records_are_told_as_by_one_process(tmp_path: Path) -> None:
    files = files_of(tmp_path, ['{"text": "a"}\n{}\n', '{"text": "b"}\n', "{}\n{}\n"])
    with pytest.warns(errors.SkippedRecordsWarning) as told:
        counts = counted(JsonLines(files, on_error="skip"), tmp_path / "shared")
    assert counts.total == 2
    assert [str(warning.message)[:24] for warning in told] == ["a record was left out: /", "2 records were left out:"]


KILLED_DRIVER = """
import sys
from pathlib import Path
from killed_sources import KilledOnce
from shared_jobs import counted, tokenized
folder = Path(sys.argv[1])
source = KilledOnce([folder / "0.txt", folder / "1.txt"], marker=str(folder / "killed"))
counted(source, folder / "shared") if sys.argv[2] == "count" else tokenized(source, folder / "out", part_bytes=9_999)
"""


@pytest.mark.parametrize("work", ["count", "tokenize"])
def test_a_job_goes_on_after_its_driver_was_killed(tmp_path: Path, work: str) -> None:
    # Longer than what a pipe holds. The last group is read first, and its reading kills.
    files = files_of(tmp_path, ["abc def\n" * 20_000, "ghi jab\n" * 20_000])
    (tmp_path / "local").mkdir()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    command = [sys.executable, "-c", KILLED_DRIVER, str(tmp_path), work]
    assert subprocess.run(command, env=environment, check=False).returncode == -signal.SIGKILL
    left = tmp_path / ("shared" if work == "count" else "out")
    assert any(path.name.startswith(".lexmill-attempt-00") for path in left.iterdir())
    if work == "count":
        counts = counted(Lines(files), tmp_path / "shared")
        assert saved(counts, tmp_path) == saved(count_words(files, pre_tokenizer=BYTE_LEVEL), tmp_path)
        assert {path.suffix for path in left.iterdir()} == {".counts"}
    else:
        # What a manifest says of a source is what its `repr` says.
        source = KilledOnce(files, marker=str(tmp_path / "killed"))
        tokens = tokenized(source, tmp_path / "out", part_bytes=9_999, resume=True)
        local = tokenize_files(tokenizer(), Lines(files), tmp_path / "local", part_bytes=9_999)
        assert [ids.tolist() for ids in tokens] == [ids.tolist() for ids in local]
        assert sorted(path.name for path in left.iterdir()) == ["00000", "00001", "manifest.json"]


@pytest.mark.parametrize("package", ["ray", "pyspark"])
def test_a_missing_package_is_named_with_its_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    for name in [package, f"{package}.data", f"{package}.sql"]:
        monkeypatch.setitem(sys.modules, name, None)
    module, extra = (lexmill.ray, "ray") if package == "ray" else (lexmill.spark, "spark")
    with pytest.raises(errors.LexmillError, match=rf"pip install 'lexmill\[{extra}\]'"):
        module.count_words([], folder=tmp_path)
    with pytest.raises(errors.LexmillError, match=rf"pip install 'lexmill\[{extra}\]'"):
        module.tokenize(tokenizer(), [], tmp_path)


def test_jobs_read_files_of_a_store(tmp_path: Path) -> None:
    pytest.importorskip("fsspec")
    from faulty_store import faulty_store

    texts = [f"{'ab' * (number % 7)} {number % 3}\n" * 9 for number in range(12)]
    files = files_of(tmp_path, texts)
    with faulty_store() as store:
        for path in files:
            store.put_file(str(path), f"/b/t/{path.name}")
        urls = [f"faulty://b/t/{path.name}" for path in files]
        found = counted([Lines(url) for url in urls], tmp_path / "remote")
        assert sorted(found) == sorted(counted([Lines(path) for path in files], tmp_path / "local"))
        known = tokenizer("abcdefghij 0123456789")
        rows = [
            [ids.tolist() for ids in tokenized([Lines(path) for path in paths], tmp_path / name, tokenizer=known)]
            for name, paths in (("remote-ids", urls), ("ids", files))
        ]
        assert rows[0] == rows[1]
        groups = plan(urls, group_bytes=1)
        store.pipe_file("/b/t/3.txt", texts[3].encode())
        with pytest.raises(errors.FileError, match=r"faulty://b/t/3\.txt is another version on \S+ than on the driver"):
            groups[3].check()
