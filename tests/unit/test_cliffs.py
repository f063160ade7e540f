"""The arithmetic of the search for cliffs: shares, their record, and rows that fall under it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "benches"))

import cliff_shares
from cliff_rows import changes, families
from families import FAMILIES, REFUSED

BENCHES = Path(__file__).parents[2] / "benches"
RECORDS = {"gpt-2": {"english first": 1.0, "english later": 0.5}, "bert": {"english first": 0.8}}


def test_share_is_the_median_of_the_rounds() -> None:
    # In the third round something else ran, and slowed the row down.
    assert cliff_shares.share([(1.0, 2.0), (1.5, 2.0), (1.0, 100.0)]) == 0.5
    assert cliff_shares.share([(2.0, 1.0)]) == 2.0


def test_row_that_falls_is_told() -> None:
    measured = {"gpt-2": {"english first": 0.9, "english later": 0.39}, "bert": {"english first": 0.8}}
    assert cliff_shares.falls(measured, RECORDS) == [
        "gpt-2, english later: 0.39 of the plain speed, and 0.50 is recorded"
    ]


def test_row_within_the_tolerance_or_without_a_record_does_not_fall() -> None:
    measured = {"gpt-2": {"english first": 0.8, "english later": 0.4}, "new": {"english first": 0.01}}
    assert cliff_shares.falls(measured, RECORDS) == []
    assert cliff_shares.falls({"gpt-2": {"multilingual first": 0.01}}, RECORDS) == []


def test_second_measurement_counts_where_it_is_better() -> None:
    first, second = {"english first": 0.2, "english later": 0.9}, {"english first": 0.7, "english later": 0.8}
    assert cliff_shares.better(first, second) == {"english first": 0.7, "english later": 0.9}


def test_record_is_read_as_written(tmp_path: Path) -> None:
    path = tmp_path / "shares.json"
    assert cliff_shares.read(path) == {}
    cliff_shares.write(path, 1000, RECORDS)
    assert cliff_shares.read(path) == RECORDS


def test_each_row_has_a_name_and_each_family_a_row() -> None:
    names = [row.name for row in (*families(), *changes())]
    assert len(set(names)) == len(names)
    assert set(FAMILIES) - set(REFUSED) <= set(names)


def test_record_is_of_the_widest_instructions(tmp_path: Path) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    for flags, name in {"fpu avx2 avx512f avx512vbmi": "avx512vbmi", "fpu avx2 avx512f": "avx2"}.items():
        cpuinfo.write_text(f"model name\t: one\nflags\t\t: {flags}\nbugs\t\t: avx512vbmi\n")
        assert cliff_shares.record_path(tmp_path, cpuinfo) == tmp_path / f"shares-{name}.json"


def test_other_processors_have_no_record(tmp_path: Path) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    assert cliff_shares.record_path(tmp_path, cpuinfo) is None
    cpuinfo.write_text("Features\t: fp asimd\n")
    assert cliff_shares.record_path(tmp_path, cpuinfo) is None


@pytest.mark.parametrize("path", sorted((BENCHES / "results").glob("shares-*.json")), ids=lambda path: path.stem)
def test_committed_record_has_every_row(path: Path) -> None:
    records = cliff_shares.read(path)
    assert records.keys() == {row.name for row in (*families(), *changes())}


def test_nothing_is_measured_without_the_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEXMILL_DATA", str(tmp_path))
    run = subprocess.run([sys.executable, str(BENCHES / "cliffs.py")], check=True, capture_output=True, text=True)
    assert run.stdout.startswith("skipped: no english and no multilingual")
