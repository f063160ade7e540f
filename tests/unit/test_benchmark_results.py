"""The figures of the benchmarks: merging runs, refusing to mix them, and the committed tables."""

from __future__ import annotations

import argparse
import re
import shlex
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

sys.path.append(str(Path(__file__).parents[2] / "benches" / "compare"))

import first_passes
import harness
import render
import results
import sweep
import tables
from results import Row


def make_row(library: str = "lexmill", *, seconds: str = "0.5", run: str = "first", **other: str) -> Row:
    row = dict.fromkeys(results.COLUMNS, "") | {
        **{"job": "encode-arrays", "tokenizer": "gpt2", "corpus": "english", "bytes": "8000000", "texts": "2"},
        **{"threads": "2", "library": library, "version": "1.0", "status": "ok", "mb_peak": "50"},
        **{"seconds_cold": seconds, "seconds_warm": seconds},
        **{"commit": "a" * 40, "dirty": "no", "date": "2026-11-01T10:00+00:00", "rustc": "rustc 1", "python": "3.11"},
        **{"cpu": "one", "run": run},
    }
    if seconds:
        row |= dict.fromkeys(("mb_per_second_cold", "mb_per_second_warm"), str(8 / float(seconds)))
    return row | other


LATER = {"date": "2026-11-02T10:00+00:00", "run": "second"}


def test_newer_row_replaces_the_one_of_its_key_alone() -> None:
    old = [make_row(), make_row("tokie"), make_row(bytes="16000000"), make_row(threads="1")]
    new = make_row(seconds="0.25", **LATER)
    merged = results.merge(old, [new])
    assert len(merged) == 4
    assert [row for row in merged if row["run"] == "second"] == [new]
    assert all(row in merged for row in old[1:])


def test_order_of_merging_does_not_matter_but_for_equal_dates() -> None:
    old, new = make_row(), make_row(seconds="0.25", **LATER)
    assert results.merge([new], [old]) == results.merge([old], [new]) == [new]
    again = make_row(seconds="0.25", run="again")
    assert results.merge([old], [again]) == [again]


def test_row_of_unknown_date_is_older_than_any() -> None:
    undated = make_row(date=results.UNKNOWN, run="undated")
    assert results.merge([make_row()], [undated]) == [make_row()]
    assert results.merge([undated], [make_row()]) == [make_row()]


def test_library_that_is_not_installed_replaces_no_figure() -> None:
    absent = make_row(seconds="", status="unsupported: not installed: No module named 'x'", **LATER)
    assert results.merge([make_row()], [absent]) == [make_row()]


def test_failure_takes_the_bytes_of_its_case_and_replaces_the_figure() -> None:
    origin = {name: make_row()[name] for name in results.ORIGIN} | LATER
    measured: list[dict[str, Any]] = [make_row("tokie"), make_row(seconds="", status="failed: took long", bytes="")]
    merged = results.merge([make_row(), make_row("tokie")], results.complete(measured, origin))
    assert [(row["library"], row["status"], row["bytes"]) for row in merged] == [
        ("lexmill", "failed: took long", "8000000"),
        ("tokie", "ok", "8000000"),
    ]


def test_run_never_takes_the_name_of_another(tmp_path: Path) -> None:
    results.write(tmp_path / results.LATEST, [make_row(run="day-quick")])
    (tmp_path / results.RUNS).mkdir()
    names = []
    for _ in range(2):
        names.append(results.new_run(tmp_path, "day-quick"))
        (tmp_path / results.RUNS / f"{names[-1]}.csv").touch()
    assert names == ["day-quick-2", "day-quick-3"]


def test_run_is_kept_in_full_with_its_circumstances(tmp_path: Path) -> None:
    (tmp_path / results.RUNS).mkdir()
    case = {name: make_row()[name] for name in ("job", "tokenizer", "corpus", "threads", "rounds", "version")}
    measured = {"seconds_cold": 0.5, "mb_per_second_cold": 16.0, "mb_per_second_warm": 16.0, "mb_peak": 50.0}
    rows = [
        case | measured | {"library": "lexmill", "status": "ok", "bytes": 8000000},
        case | {"library": "tokie", "status": "unsupported: not installed"},
    ]
    facts = {name: make_row()[name] for name in ("commit", "date", "rustc", "python", "cpu")}
    sweep.record(tmp_path, "day-quick", rows, facts | {"load before": "0.5"})
    written = results.read(tmp_path / results.RUNS / "day-quick.csv")
    assert [(row["library"], row["commit"], row["run"]) for row in written] == [
        ("lexmill", "a" * 40, "day-quick"),
        ("tokie", "a" * 40, "day-quick"),
    ]
    assert "load before: 0.5" in (tmp_path / results.RUNS / "day-quick.txt").read_text()


def test_runs_are_ignored_by_git() -> None:
    ignored = (results.ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert f"/benches/results/*/{results.RUNS}/" in ignored


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"commit": "b" * 40}, "2 commits (`aaaaaaaa`: 1 rows, `bbbbbbbb`: 1 rows)"),
        ({"dirty": "yes"}, "`aaaaaaaa` with changes"),
        ({"commit": results.UNKNOWN, "dirty": results.UNKNOWN}, "unknown: 1 rows"),
        ({"version": "2.0"}, "2 versions of lexmill (1.0, 2.0)"),
        ({"cpu": "two"}, "2 processors (one, two)"),
    ],
)
def test_rows_of_several_builds_versions_or_processors_are_refused(other: dict[str, str], said: str) -> None:
    rows = [make_row(), make_row(job="encode-file", **other)]
    with pytest.raises(SystemExit, match="--mixed-commits") as refused:
        render.refuse_mixtures(rows, allowed=False)
    assert said in str(refused.value)
    render.refuse_mixtures(rows, allowed=True)


def test_rows_of_one_build_are_not_refused() -> None:
    render.refuse_mixtures([make_row(), make_row("tokie", version="9"), make_row(**LATER)], allowed=False)


def test_changed_trees_of_two_runs_are_two_builds() -> None:
    rows = [make_row(dirty="yes"), make_row(job="encode-file", dirty="yes", **LATER)]
    assert tables.mixtures(rows[:1]) == []
    assert tables.mixtures(rows) != []


def test_line_shows_the_newest_run_of_our_library_and_no_other() -> None:
    rows = [make_row(seconds="0.25", **LATER), make_row("tokie", **LATER), make_row("gigatoken", seconds="0.1")]
    (line,) = tables.make_lines(rows)
    assert [row["library"] for row in line.rows] == ["lexmill", "tokie"]
    assert [row["library"] for row in line.earlier] == ["gigatoken"]
    assert "gigatoken" in render.render_page("machine", [line])


def test_mixed_table_says_so_and_each_row_names_its_commit() -> None:
    lines = tables.make_lines([make_row(), make_row("tokie"), make_row(corpus="german", commit="b" * 40, **LATER)])
    page = render.render_page("machine", lines)
    assert "**The rows come from 2 commits.**" in page
    assert "| gpt2, english, 2 threads | 8 | **16** / 16 | **16** / 16 | `aaaaaaaa` |" in page
    assert "| gpt2, german, 2 threads | 8 | **16** / 16 | - | `bbbbbbbb` |" in page
    page = render.render_page("machine", lines[:1])
    assert "All rows: commit `aaaaaaaa`." in page
    assert "| case | MB | lexmill | tokie |" in page


def test_selection_keeps_its_order_and_prefers_the_size_with_most_libraries() -> None:
    rows = [
        make_row(),
        make_row("tokie"),
        make_row(bytes="60000000", **LATER),
        make_row(job="train-unigram", tokenizer=""),
    ]
    text = render.render_selection("machine", tables.make_lines(rows), 2)
    assert table_of(text) == [
        ["texts to ids, fastest call: gpt2, english", "**16 MB/s**", "-", "-", "**16 MB/s**, tokie"],
        ["training Unigram, 16,000 pieces: english", "**0.50 s**", "-", "-", "-"],
    ]


def table_of(text: str) -> list[list[str]]:
    """The cells of the rows of a table in Markdown, without its head."""
    return [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")][1:]


def test_summary_compares_with_hugging_face_and_the_best_other_library() -> None:
    rows = [make_row(), make_row("tokenizers", seconds="5.2"), make_row("tokie", seconds="0.8")]
    rows += [make_row("splintr_rs", seconds="0.25"), make_row("gigatoken", seconds="", status="differs")]
    (cells,) = table_of("\n".join(tables.summary(tables.make_lines(rows), ["job"])))
    assert cells == ["job", "16 MB/s", "1.5 MB/s", "10x", "**32 MB/s**, splintr-rs"]


def test_summary_marks_results_that_were_not_compared() -> None:
    rows = [make_row(status="not compared"), make_row("tokenizers", seconds="0.6")]
    text = tables.summary(tables.make_lines(rows), ["job"])
    assert table_of("\n".join(text)) == [["job", "**16 MB/s**¹", "13 MB/s", "1.2x", "-"]]
    assert text[-1] == f"¹ {tables.NOTES['¹']}"


def test_selection_of_one_build_names_its_commit_once() -> None:
    text = render.render_selection("machine", tables.make_lines([make_row()]), 2)
    assert "All rows: commit `aaaaaaaa`." in text
    mixed = [make_row(), make_row(job="encode-one", commit="b" * 40, **LATER)]
    assert "**The rows come from 2 commits.**" in render.render_selection("machine", tables.make_lines(mixed), 2)


def test_another_processor_does_not_join_a_machine() -> None:
    sweep.refuse_another_processor("new", [], "two")
    sweep.refuse_another_processor("known", [make_row()], "one")
    with pytest.raises(SystemExit, match="known has figures of one; this is two"):
        sweep.refuse_another_processor("known", [make_row()], "two")


def make_passes(cold: float, warm: float, **other: Any) -> dict[str, Any]:
    return {"bytes": 10**6, "correct": True, **dict(zip(first_passes.PASSES, (cold, warm), strict=True)), **other}


def test_first_passes_are_medians_beside_the_best_other_library() -> None:
    case = sweep.Case("encode-arrays", "gpt2", "english", 1)
    case.runs = {
        "lexmill": [make_passes(0.01, 0.005), make_passes(1, 1), make_passes(0.001, 0.001)],
        "tokenizers_1": [make_passes(0.02, 0.02)],
        "gigatoken": [make_passes(0.04, 0.0025)],
        "tokie": [make_passes(0.001, 0.001, correct=False)],
    }
    head, *reasons = first_passes.row_of(case).splitlines()
    cells = ["100 / 200", "50.0 / 50.0", "25.0 / 400", "-", "2.00 / 0.50"]
    assert (re.split(r" {2,}", head), reasons) == (["gpt2 english", *cells], ["  tokie differs"])
    del case.runs["tokenizers_1"], case.runs["gigatoken"]
    assert re.split(r" {2,}", first_passes.row_of(case).splitlines()[0])[1:] == ["100 / 200", "-", "-"]


def test_library_with_its_own_environment_has_its_interpreter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commands: list[list[str]] = []

    def run(command: list[str], timeout: float) -> Any:
        commands.append(command)
        return SimpleNamespace(failure=None, output="{}")

    monkeypatch.setattr(sweep.processes, "run", run)
    monkeypatch.setitem(harness.ENVIRONMENTS, "tokenizers_1", tmp_path)
    case = sweep.Case("encode-arrays", "gpt2", "english", 1)
    for library in ("tokenizers_1", "tokenizers"):
        sweep.measure(case, library, argparse.Namespace(megabytes=1, warm=1, timeout=1))
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    python.touch()
    sweep.measure(case, "tokenizers_1", argparse.Namespace(megabytes=1, warm=1, timeout=1))
    assert [command[0] for command in commands] == [sys.executable, sys.executable, str(python)]
    # The reference is not in that environment.
    assert {command[command.index("--reference-python") + 1] for command in commands} == {sys.executable}


@pytest.mark.parametrize("machine", results.machines())
def test_committed_rows_have_a_key_and_an_origin_each(machine: str) -> None:
    rows = results.read(results.RESULTS / machine / results.LATEST)
    assert rows == results.merge([], rows)
    assert rows
    for row in rows:
        assert all(row[name] for name in results.ORIGIN), row
        assert row["version"] != results.UNKNOWN or not row["seconds_cold"], row


def run_render(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, render.__file__, *arguments], capture_output=True, text=True, check=False)


def test_committed_tables_show_what_latest_has() -> None:
    (command,) = re.findall(r"<!-- render\.py (.*) -->", render.README.read_text(encoding="utf-8"))
    done = run_render(*shlex.split(command), "--check")
    assert done.returncode == 0, done.stderr


def test_claim_of_the_readme_is_the_span_of_its_table() -> None:
    text = render.README.read_text(encoding="utf-8")
    factors = [float(factor) for factor in re.findall(r"\| ([\d.]+)x \|", text)]
    claims = re.findall(r"(\d+) to (\d+) times as fast", text)
    assert claims == [(str(int(min(factors))), str(int(max(factors))))]


def test_machine_must_be_named() -> None:
    done = run_render("--check")
    assert done.returncode == 2
    assert "--machine" in done.stderr
