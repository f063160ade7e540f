"""Programs by number, run by processes that may die: one that kills the peer costs no other."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from differential import surface
from differential.programs import Program, function_program, name_program, program

TESTS = Path(__file__).parents[1]
STEPS = 6
# A program takes milliseconds; a process that is silent for so long hangs.
PATIENCE = 30.0


@dataclass
class Report:
    """What the processes have seen together."""

    compared: Counter[str] = field(default_factory=Counter)
    panics: Counter[str] = field(default_factory=Counter)
    explained: Counter[str] = field(default_factory=Counter)
    unexplained: list[str] = field(default_factory=list)
    crashes: list[str] = field(default_factory=list)

    @classmethod
    def read(cls, path: Path) -> Report:
        """What one process has written."""
        found = json.loads(path.read_text(encoding="utf-8"))
        return cls(
            compared=Counter(found["compared"]),
            panics=Counter(found["panics"]),
            explained=Counter(found["explained"]),
            unexplained=found["unexplained"],
        )

    def add(self, other: Report) -> None:
        """Adds what another report has seen."""
        self.compared += other.compared
        self.panics += other.panics
        self.explained += other.explained
        self.unexplained += other.unexplained
        self.crashes += other.crashes

    def __str__(self) -> str:
        return (
            f"{self.compared.total():,} comparisons of {len(self.compared)} names, {self.panics.total()} panics and "
            f"{len(self.crashes)} crashes of the peer, {self.explained.total():,} differences that are meant, "
            f"{len(self.unexplained)} that are not"
        )


def numbered(seed: int, number: int) -> Program:
    """A program; numbers that follow each other are about all classes in turn."""
    classes, functions = [*surface.classes()], [*surface.functions()]
    round_, place = divmod(number, len(classes) + len(functions))
    path = (classes + functions)[place]
    rng = Random(f"{seed} {round_} {path}")
    return program(rng, path, round_, STEPS) if place < len(classes) else function_program(rng, path)


def programs_of_round() -> int:
    """How many programs there are until each class has had one."""
    return len(surface.classes()) + len(surface.functions())


def names() -> list[Program]:
    """A program for each name of each module."""
    return [name_program(path) for path in surface.exported()]


def run_chunk(seed: int, start: int, stop: int, folder: Path) -> Report:
    """Runs programs in a process of their own, and in another one from the next on where one dies."""
    report = Report()
    while start < stop:
        progress = folder / "progress"
        progress.write_text(str(start))
        result = folder / "result.json"
        result.unlink(missing_ok=True)
        died = run_process([str(seed), str(start), str(stop), str(folder.absolute())], progress)
        if result.exists():
            report.add(Report.read(result))
        if died is None:
            return report
        number, _, library = progress.read_text().strip().partition(" ")
        if library == "lexmill":
            report.unexplained.append(f"lexmill: {died}\n{numbered(seed, int(number))}")
        report.crashes.append(f"{library}: {died}\n{numbered(seed, int(number))}")
        start = int(number) + 1
    return report


def run_process(arguments: list[str], progress: Path) -> str | None:
    """Runs a process to its end; says what became of it if that was not the end of its work."""
    paths = [str(TESTS), *(str(Path(path).absolute()) for path in sys.path if path)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, "-m", "differential", *arguments]
    # Programs write files by names of their own.
    process = subprocess.Popen(
        command, env=environment, cwd=progress.parent, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    seen = ""
    while True:
        try:
            code = process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            now = progress.read_text()
            if now != seen:
                seen = now
                continue
            process.kill()
            process.wait()
            return "hangs"
        return None if code == 0 else f"exit code {code}"
