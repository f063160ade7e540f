"""The chart: bars of the first pass, a panel a corpus, of the job that most libraries can do."""

from __future__ import annotations

from pathlib import Path

import harness  # noqa: F401 (finds `comparison`)
from comparison.chart import Panel, draw_panels
from tables import Line, build, megabytes


def draw(lines: list[Line], target: Path, *, mixed: bool) -> bool:
    """Draws the lines, a panel each, fastest library on top; says whether there were any."""
    if not lines:
        return False
    with target.open("wb") as file:
        draw_panels([panel_of(line, mixed=mixed) for line in lines], file)
    return True


def panel_of(line: Line, *, mixed: bool) -> Panel:
    """The speeds of a line."""
    speeds = [(row["library"].replace("_", "-"), float(row["mb_per_second_cold"])) for row in line.figures]
    bars = [(library, speed, f"{speed:.0f}") for library, speed in speeds]
    return Panel(panel_title(line, mixed=mixed), bars)


def panel_title(line: Line, *, mixed: bool) -> str:
    """What a panel shows."""
    row = line.first
    threads = "1 thread" if row["threads"] == "1" else f"{row['threads']} threads"
    text = f"{row['tokenizer']}, {row['corpus']}, {megabytes(row)} MB: MB/s, first pass, {threads}"
    return text + (f", commit {build(row).replace('`', '')}" if mixed else "")
