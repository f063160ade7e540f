"""Two processes that write to one folder of a store, the second one before any request of the first one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from lexmill import Tokenizer, errors, open_tokens, tokenize_files
from lexmill._data import run_state, store_folder
from lexmill.sources import JsonLines
from token_runs import contents

pytest.importorskip("fsspec")

from faulty_store import FaultyFileSystem
from interleaved import Interrupted, interrupted
from stored_files import OPTIONS, URL, Killed, Run, stored

ENDED = rf"^{URL}: (process \d+ of \S+ has taken the run over|another process has finished the run); this process ends$"
REFUSED = rf"^{URL}: it holds token files"
OTHER = {"part_bytes": 10_000, "seed": 5}


class Writers:
    """Two processes, and the files that their runs make on a disk."""

    def __init__(
        self, store: FaultyFileSystem, tokenizer: Tokenizer, source: JsonLines, path: Path, **way: Any
    ) -> None:
        lines = Path(source.paths[0]).read_bytes().splitlines(keepends=True)
        (path / "a.jsonl").write_bytes(b"".join(lines[:500]))
        (path / "other machine").mkdir()
        self.store, self.path, self.way = store, path, {"part_bytes": 16_000, **way}
        # Calls after which an earlier run was killed.
        self.before: int | None = None
        self.given = (tokenizer, JsonLines(path / "a.jsonl"))

    def run(self, calls: int | None = None, **options: Any) -> None:
        """A run, killed after some calls that write."""
        self.store.write_faults[:] = [] if calls is None else [*[None] * calls, Killed()]
        with suppress(Killed):
            Run(*self.given, **self.way)(**options)
        self.store.write_faults.clear()

    def local(self, **options: Any) -> Path:
        folder = self.path / f"local {sorted(options)}"
        if not folder.exists():
            tokenize_files(*self.given, folder, **{**OPTIONS, **self.way, **options})
        return folder

    def is_stored(self, **options: Any) -> bool:
        return stored(self.store) == contents(self.local(**options))

    def each(self, second: Callable[[], Any], step: int, told: str, **first: Any) -> Iterator[tuple[Interrupted, bool]]:
        """Runs both for some requests of the first one, and for its first eight; tells if the first one finished."""
        for at in [*range(8), *range(8, 1000, step)]:
            self.store.store.clear()
            self.store.tags.clear()
            if self.before is not None:
                self.run(self.before, resume=True)
            is_finished = False
            with interrupted(at, self.path / "other machine", second) as found:
                try:
                    self.run(**first)
                    is_finished = True
                except errors.OutputError as error:
                    message = str(error)
            # The run has ended when its manifest is read.
            if len(found.requests) <= at or found.requests[at] == ("cat_file", "/b/tokens/manifest.json"):
                assert at > 20
                return
            assert is_finished or re.search(told, message)
            yield found, is_finished


@pytest.fixture
def writers(
    store: FaultyFileSystem, tokenizer: Tokenizer, source: JsonLines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Writers:
    # Lists of two parts, and removals in order.
    monkeypatch.setattr(run_state, "_LINES", 2)
    monkeypatch.setattr(store_folder, "_REMOVERS", 1)
    return Writers(store, tokenizer, source, tmp_path)


WAYS: list[tuple[dict[str, Any], int | None, int]] = [({}, None, 1), ({}, 3, 9), ({}, 7, 9), ({}, 14, 9), ({}, 20, 9)]
WAYS += [(way, calls, 9) for way in ({"format": "parquet"}, {"join": True}, {"shuffle": True}) for calls in (None, 7)]


@pytest.mark.parametrize(("way", "calls", "step"), WAYS, ids=str)
def test_a_run_that_is_taken_over_has_all_its_files(
    writers: Writers, way: dict[str, Any], calls: int | None, step: int
) -> None:
    writers.way |= way
    finished = 0
    for found, is_finished in writers.each(lambda: writers.run(calls, resume=True), step, ENDED, resume=True):
        assert found.error is None
        finished += is_finished
        writers.run(resume=True)
        assert writers.is_stored(), found.requests[found.at]
    assert finished


@pytest.mark.parametrize("calls", [None, 5, 9])
def test_a_run_that_two_processes_resume_has_all_its_files(writers: Writers, calls: int | None) -> None:
    writers.before = 11
    for found, _ in writers.each(lambda: writers.run(calls, resume=True), 12, ENDED, resume=True):
        assert found.error is None
        writers.run(resume=True)
        assert writers.is_stored(), found.requests[found.at]


@pytest.mark.parametrize(("calls", "step"), [(None, 3), (3, 7), (9, 7)])
def test_a_run_that_is_overwritten_leaves_no_file(writers: Writers, calls: int | None, step: int) -> None:
    manifest = ("pipe_file", "/b/tokens/manifest.json")
    for found, is_finished in writers.each(
        lambda: writers.run(calls, overwrite=True, **OTHER), step, f"{ENDED}|{REFUSED}"
    ):
        assert found.error is None
        request, name = found.requests[found.at]
        is_ended = manifest in found.requests[: found.at]
        # The identifier of the first process, on its way before, came last.
        is_last = found.at == 2 and calls is not None
        assert not is_finished or is_ended or is_last
        try:
            writers.run(resume=True, **OTHER)
            read = [ids.tolist() for ids in open_tokens(URL)]
        except (errors.OutputError, errors.FileError):
            # A file that was on its way came late; or the finished run lacks files, and still has its manifest.
            is_late = request == "pipe_file" and "/.lexmill-run/" not in name
            assert is_late or is_last or (calls is not None and is_ended)
            writers.run(overwrite=True, **OTHER)
        else:
            assert read == [ids.tolist() for ids in open_tokens(writers.local(**OTHER))]
        assert writers.is_stored(**OTHER)


def test_of_two_runs_that_begin_together_one_is_stored(writers: Writers) -> None:
    first = []
    for found, is_finished in writers.each(lambda: writers.run(**OTHER), 5, f"{ENDED}|{REFUSED}"):
        assert (found.error is not None) is is_finished
        assert not is_finished or re.search(REFUSED, str(found.error))
        assert writers.is_stored(**({} if is_finished else OTHER))
        first.append(is_finished)
    # The second run wins only where the first one has not written yet.
    assert first == sorted(first)
    assert first.count(False) == 3


def test_a_list_of_an_overwritten_run_that_comes_late_is_not_read(writers: Writers) -> None:
    with interrupted(-1, writers.path / "other machine", lambda: None) as found:
        writers.run()
    lists = [at for at, (request, name) in enumerate(found.requests) if request == "pipe_file" and "-00001.j" in name]
    # Among these are the ends of the first two parts, after which the late line would go on.
    for calls in range(24, 36, 2):
        writers.store.store.clear()
        with (
            interrupted(
                lists[-1], writers.path / "other machine", partial(writers.run, calls, overwrite=True, **OTHER)
            ),
            pytest.raises(errors.OutputError, match=ENDED),
        ):
            writers.run()
        writers.run(resume=True, **OTHER)
        assert writers.is_stored(**OTHER)


@pytest.mark.parametrize("calls", [None, 3])
def test_a_process_that_is_overwritten_as_it_publishes_does_not_finish(writers: Writers, calls: int | None) -> None:
    with interrupted(-1, writers.path / "other machine", lambda: None) as found:
        writers.run()
    at = found.requests.index(("pipe_file", "/b/tokens/manifest.json"))
    writers.store.store.clear()
    with (
        interrupted(at, writers.path / "other machine", partial(writers.run, calls, overwrite=True, **OTHER)),
        pytest.raises(errors.OutputError, match=ENDED),
    ):
        writers.run()
    writers.run(overwrite=True, **OTHER)
    assert writers.is_stored(**OTHER)
