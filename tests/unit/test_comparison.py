"""What the comparison of libraries is made of: documents, rounds, processes, differences."""

from __future__ import annotations

import contextlib
import functools
import io
import itertools
import os
import select
import signal
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexmill.comparison.chart import Panel, draw_panels
from lexmill.comparison.digests import Rows
from lexmill.comparison.expected import first_difference
from lexmill.comparison.passes import time_passes
from lexmill.comparison.processes import child_environment, interleave, run
from lexmill.comparison.rounds import status_of, summarise
from lexmill.comparison.texts import TextFile, documents, read_lines, short_texts

Lists = list[list[int]]
# Writes its number to a pipe, holds it open, and waits.
WAITING = """
import os, sys, threading
pipe = open(sys.argv[1], "w")
pipe.write(str(os.getpid()))
pipe.flush()
threading.Event().wait()
"""


def test_each_round_begins_with_another_library() -> None:
    orders = list(interleave(["a", "b", "c"], 4))
    assert orders == [["a", "b", "c"], ["b", "c", "a"], ["c", "a", "b"], ["a", "b", "c"]]


def test_documents_are_cut_where_no_splitter_looks_across() -> None:
    lines = ["one\n", "two\n", " three\n", "four \n", "five\n", "\n", "six\n", "seven"]
    # Not before a space, nor after one, nor beside an empty line.
    assert list(documents(lines, 1)) == ["one\n", "two\n three\n", "four \nfive\n\nsix\n", "seven"]
    assert list(documents(["a \n"] * 6, 4)) == ["a \n" * 6]
    assert list(documents(["a \n"] * 8, 2, safe=False)) == ["a \n" * 3, "a \n" * 3, "a \n" * 2]


@given(st.lists(st.text(st.sampled_from("ab \r\né東"), max_size=6)), st.integers(0, 12), st.booleans())
def test_documents_are_the_text(parts: list[str], size: int, safe: bool) -> None:
    lines = "".join(parts).splitlines(keepends=True)
    cut = list(documents(lines, size, safe=safe))
    assert "".join(cut) == "".join(lines)
    assert all(len(text.encode()) > size for text in cut[:-1])


@given(texts=st.lists(st.text(st.characters(exclude_categories=["Cs"]))))
def test_texts_come_back_from_disk(tmp_path_factory: pytest.TempPathFactory, texts: list[str]) -> None:
    kept = TextFile(tmp_path_factory.mktemp("texts"), "some")
    kept.write(texts)
    assert kept.read() == texts
    assert [kept.read_one(index) for index in range(len(kept))] == texts
    assert kept.bytes == sum(len(text.encode()) for text in texts)


def test_short_texts_are_lines_of_some_length(tmp_path: Path) -> None:
    path = tmp_path / "lines.txt"
    path.write_bytes(b"short\r\n" + b"a" * 30 + b"\r\n" + b"b" * 250 + b"\n" + b"c" * 40)
    assert short_texts(read_lines(path)) == ["a" * 30 + "\r", "c" * 40]


def rows_of(lists: Lists, offsets: bool = False) -> Rows:
    ids = np.asarray([id_ for row in lists for id_ in row], np.uint32)
    pairs = np.stack([ids, ids + 1], axis=1) if offsets else None
    return Rows(ids, np.asarray([len(row) for row in lists], np.int64), pairs)


def naive_difference(own: Lists, expected: Lists) -> tuple[int, int, int | None, int | None] | None:
    for document in range(max(len(own), len(expected))):
        one, other = (lists[document] if document < len(lists) else [] for lists in (own, expected))
        for token in range(max(len(one), len(other))):
            ids = [row[token] if token < len(row) else None for row in (one, other)]
            if ids[0] != ids[1]:
                return document, token, ids[0], ids[1]
    return None


ROWS = st.lists(st.lists(st.integers(0, 2), max_size=4), max_size=5)


@given(ROWS, ROWS)
def test_first_difference_matches_naive(own: Lists, expected: Lists) -> None:
    shared = min(len(own), len(expected))
    own, expected = own[:shared], expected[:shared]
    found = first_difference("encode-arrays", rows_of(own), rows_of(expected))
    place = found and (found["document"], found["token"], found["id"], found["expected_id"])
    assert place == naive_difference(own, expected)


def test_missing_rows_and_other_offsets_and_counts_differ() -> None:
    expected = rows_of([[1, 2], [], [3, 4]], offsets=True)
    assert first_difference("encode-arrays", rows_of([[1, 2], []]), expected) == {
        **{"document": 2, "token": 0, "id": None, "expected_id": 3},
    }
    assert first_difference("encode-encodings", expected, expected) is None
    moved = Rows(expected.ids, expected.lengths, np.asarray([[1, 2], [2, 3], [3, 4], [4, 6]], np.uint32))
    assert first_difference("encode-encodings", moved, expected) == {
        **{"document": 2, "token": 1, "offsets": [4, 6], "expected_offsets": [4, 5]},
    }
    assert first_difference("count-tokens", rows_of([[1, 2], [9], [3, 4]]), expected) == {
        **{"document": 1, "tokens": 1, "expected_tokens": 0},
    }
    # One file is one row, however a library cuts it.
    assert first_difference("encode-file", rows_of([[1], [2, 3, 4]]), expected) is None
    assert first_difference("encode-file", rows_of([[1, 2, 3]]), expected) == {
        **{"document": 0, "token": 3, "id": None, "expected_id": 4},
    }


def make_run(**other: Any) -> dict[str, Any]:
    names = ("seconds_cold", "seconds_warm", "seconds_import", "seconds_load", "mb_before", "mb_peak")
    return {"version": "1.0", "correct": True, **dict.fromkeys(names, 1.0)} | other


def test_medians_and_spread_are_over_rounds() -> None:
    row = summarise("splintr_rs", [make_run(seconds_cold=seconds) for seconds in (3.0, 1.0, 2.5)])
    assert (row["library"], row["status"]) == ("splintr-rs", "ok")
    assert [row[f"seconds_cold{end}"] for end in ("", "_min", "_max")] == [2.5, 1.0, 3.0]


@pytest.mark.parametrize(
    ("last", "status"),
    [
        (make_run(), "ok"),
        (make_run(correct=None), "not-compared"),
        (make_run(correct=False, difference={"document": 0}), "differs"),
        ({"not_installed": "why"}, "not-installed"),
        ({"other_version": "why"}, "other-version"),
        ({"unsupported": "why"}, "unsupported"),
        ({"failed": "why"}, "failed"),
        ({"timed_out": "why"}, "timed-out"),
    ],
)
def test_the_last_round_decides_on_a_figure(last: dict[str, Any], status: str) -> None:
    runs = [make_run(), last]
    row = summarise("tokie", runs)
    assert status_of(runs) == row["status"] == status
    assert ("seconds_cold" in row) == (status in ("ok", "not-compared"))


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such pipes")
def test_a_process_is_ended_at_its_limit_and_its_children_too(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    # The end of the pipe tells that nobody holds it any more.
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {WAITING!r}, sys.argv[1]])"
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    done = run([sys.executable, "-c", code, str(tmp_path / "pipe")], timeout=3)
    assert (done.timed_out, done.failure) == (True, "took longer than 3 s")
    found = b""
    try:
        while select.select([reader], [], [], 10)[0]:
            data = os.read(reader, 100)
            found += data
            if not data:
                return
        pytest.fail("the process of the process is still there")
    finally:
        os.close(reader)
        with contextlib.suppress(ProcessLookupError, ValueError):
            os.kill(int(found), signal.SIGKILL)


def test_failures_are_told_in_a_line() -> None:
    def failure(code: str) -> str | None:
        return run([sys.executable, "-c", code], timeout=60).failure

    assert failure("print('all is well')") is None
    assert failure("raise ValueError('no cat')") == "ValueError: no cat"
    assert failure("raise SystemExit(3)") == "exit status 3"
    if os.name == "posix":
        assert failure("import os; os.kill(os.getpid(), 11)") == "was ended by SIGSEGV"


def test_charts_are_the_same_bytes_each_time() -> None:
    pytest.importorskip("matplotlib", reason="charts are an extra")
    panels = [Panel("list", [("tokie", 2.5, "2.5"), ("lexmill", 9.0, "9")]), Panel("one", [("lexmill", 1.0, "1")])]

    def draw(kind: str) -> bytes:
        drawing = io.BytesIO()
        draw_panels(panels, drawing, kind)
        return drawing.getvalue()

    for kind, start in [("svg", b"<?xml"), ("png", b"\x89PNG")]:
        assert draw(kind).startswith(start)
        assert draw(kind) == draw(kind)


def test_a_process_finds_the_libraries_under_their_own_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEXMILL_INSTALL", "1")
    monkeypatch.setattr(sys, "path", ["", "/elsewhere"])
    environment = child_environment({"RAYON_NUM_THREADS": "2"})
    assert "LEXMILL_INSTALL" not in environment
    assert environment["RAYON_NUM_THREADS"] == "2"
    assert environment["PYTHONPATH"] == os.pathsep.join([str(Path.cwd()), "/elsewhere"])
    monkeypatch.setenv("PYTHONPATH", "/elsewhere")
    assert not {"PYTHONPATH", "LEXMILL_INSTALL"} & set(child_environment({}, shares_packages=False))


def test_passes_are_timed_by_the_clock_and_by_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    clocks = {"perf_counter": itertools.count(0, 10), "process_time": itertools.count(0, 3)}
    clock = SimpleNamespace(**{name: functools.partial(next, numbers) for name, numbers in clocks.items()})
    monkeypatch.setattr("lexmill.comparison.passes.time", clock)
    passes, result = time_passes(lambda work: [*work, 2], [1], warm=9)
    # Later passes end after WARM_SECONDS of the clock.
    assert (passes, result) == ([(10, 3)] * 3, [1, 2])
