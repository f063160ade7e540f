"""The arithmetic of instruction counts: callgrind's output, the record, and jobs that grow."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "benches"))

import instructions
from instruction_counts import Record, changes, total

BENCHES = Path(__file__).parents[2] / "benches"
OUTPUT = "version: 1\nevents: Ir\n\nfn=(1) counted_job\n12 400\n13 600\n\nsummary: 1000\n"


def test_total_is_the_summary() -> None:
    assert total(OUTPUT) == 1000


@pytest.mark.parametrize("output", ["", OUTPUT.replace("1000", "0")])
def test_output_without_instructions_is_an_error(output: str) -> None:
    with pytest.raises(ValueError, match="counted no instruction"):
        total(output)


@pytest.mark.parametrize(
    ("count", "over", "notes"),
    [
        (1000, [], []),
        (1030, [], []),
        (1031, ["train: 1,031 instructions, +3.1% beside the recorded 1,000"], []),
        (970, [], []),
        (960, [], ["train: 960 instructions, -4.0% beside the recorded 1,000"]),
    ],
)
def test_job_grows_beyond_the_tolerance(count: int, over: list[str], notes: list[str]) -> None:
    assert changes({"train": count}, {"train": 1000, "scan": 1}) == (over, notes)


def test_job_without_a_record_is_noted() -> None:
    assert changes({"train": 7}, {}) == ([], ["train: 7 instructions, not recorded"])


def test_record_is_read_as_written(tmp_path: Path) -> None:
    record = Record("1.95.0", "x86_64-unknown-linux-gnu", {"scan": 12})
    record.write(tmp_path / "record.json")
    assert Record.read(tmp_path / "record.json") == record


@pytest.mark.parametrize(("options", "code"), [([], 0), (["--strict"], 2)])
def test_missing_valgrind_is_told(
    options: list[str], code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["instructions.py", *options])
    monkeypatch.setattr("shutil.which", lambda name: None)
    assert instructions.main() == code
    assert capsys.readouterr().out == "skipped: valgrind is not installed\n"


def test_other_compiler_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    Record("1.95.0", "x86_64-unknown-linux-gnu", {"scan": 12}).write(tmp_path / "record.json")
    monkeypatch.setattr(instructions, "RECORD", tmp_path / "record.json")
    monkeypatch.setattr("sys.argv", ["instructions.py"])
    monkeypatch.setattr("shutil.which", lambda name: name)
    monkeypatch.setattr(instructions, "compiler", lambda: ("1.0.0", "elsewhere"))
    assert instructions.main() == 0
    assert capsys.readouterr().out.startswith("skipped: this compiler is rustc 1.0.0 for elsewhere")


def test_committed_record_has_every_job() -> None:
    listed = re.search(
        r"const JOBS: \[&str; 6\] = \[(.*)\];", (BENCHES / "instructions.rs").read_text(encoding="utf-8")
    )
    assert listed is not None
    assert tuple(re.findall(r'"([\w-]+)"', listed[1])) == instructions.JOBS
    assert tuple(Record.read(instructions.RECORD).instructions) == instructions.JOBS
