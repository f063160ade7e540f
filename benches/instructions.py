"""Counts the instructions of six jobs under valgrind (`instructions.rs`), and compares them with the record.

    python benches/instructions.py               # exit 1 if a job has over 3 % more instructions than recorded
    python benches/instructions.py --record      # writes the record
    python benches/instructions.py --only train

Counts, unlike times, are the same on a busy machine. They differ with the compiler and the platform, so with another
compiler than the record's nothing is counted; without valgrind neither. Both cases are told; the exit is 0, with
`--strict` 2.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from instruction_counts import TOLERANCE, Record, changes, total

ROOT = Path(__file__).parents[1]
RECORD = Path(__file__).parent / "results" / "instructions.json"
JOBS = ("scan", "encode-first", "encode-later", "encode-offsets", "decode", "train")


def main() -> int:
    """Counts the jobs that the arguments choose; 1 if one grew."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", action="store_true", help="write the record")
    parser.add_argument("--only", nargs="+", choices=JOBS, default=JOBS, metavar="JOB", help="count these jobs only")
    parser.add_argument("--strict", action="store_true", help="fail where nothing can be counted")
    arguments = parser.parse_args()
    skipped = 2 if arguments.strict else 0
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        print("skipped: valgrind is not installed")
        return skipped
    rustc, host = compiler()
    record = Record.read(RECORD) if RECORD.is_file() else Record(rustc, host, {})
    if (rustc, host) != (record.rustc, record.host) and not arguments.record:
        print(
            f"skipped: this compiler is rustc {rustc} for {host}, and the record is of rustc {record.rustc} for "
            f"{record.host}; choose it with RUSTUP_TOOLCHAIN={record.rustc}, or record this one"
        )
        return skipped
    program = build()
    measured = {}
    for job in arguments.only:
        measured[job] = count(valgrind, program, job)
        print(f"{job:<16}{measured[job]:>16,}", flush=True)
    if arguments.record:
        kept = record.instructions if (rustc, host) == (record.rustc, record.host) else {}
        Record(rustc, host, {**kept, **measured}).write(RECORD)
        return 0
    over, notes = changes(measured, record.instructions)
    for line in notes:
        print(f"note: {line}")
    for line in over:
        print(f"grew: {line}")
    if over:
        print(f"more than {TOLERANCE:.0%} are too many; if they are meant: make instructions INSTRUCTIONS=--record")
    return 1 if over else 0


def compiler() -> tuple[str, str]:
    """The version and the platform of rustc."""
    told = subprocess.run(["rustc", "-vV"], capture_output=True, text=True, check=True).stdout
    fields = dict(re.findall(r"^(release|host): (.*)$", told, re.MULTILINE))
    return fields["release"], fields["host"]


def build() -> Path:
    """Builds the jobs by the profile `instructions`; returns the program."""
    command = ["cargo", "bench", "--locked", "--quiet", "--no-run", "--profile", "instructions"]
    command += ["--bench", "instructions", "--message-format", "json-render-diagnostics"]
    told = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout
    messages = [json.loads(line) for line in told.splitlines()]
    return next(
        Path(message["executable"])
        for message in messages
        if message["reason"] == "compiler-artifact" and message["target"]["name"] == "instructions"
    )


def count(valgrind: str, program: Path, job: str) -> int:
    """The instructions of a job, without its preparation."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "callgrind"
        command = [valgrind, "--quiet", "--tool=callgrind", "--toggle-collect=*counted_job*"]
        subprocess.run([*command, f"--callgrind-out-file={output}", str(program), job], check=True)
        return total(output.read_text(encoding="utf-8"))


if __name__ == "__main__":
    sys.exit(main())
