"""The output of `lexmill bench`: a table a job on the terminal or in Markdown, and the panels of the chart."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any, TextIO

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from lexmill.cli.display import columns, megabytes, printable, wants_color
from lexmill.comparison.adapters import NO_CALL
from lexmill.comparison.chart import Panel

__all__ = ["as_markdown", "as_text", "panel_of"]

_JOBS = {
    "list": "list of texts, fastest result",
    "one": "one call a short text",
    "encodings": "list of texts to encodings with offsets",
    "count": "number of tokens",
    "file": "one file",
    "train-bpe": "training BPE, 32,000 tokens",
}
_NOT_COMPARED = "trains by another rule, so results are not compared"
# Why a library is not there, by its status.
_ABSENT = {"not-installed": "not installed", "other-version": "installed in another version"}
# How wide a table is where there is no terminal to fit.
_WIDTH = 120
_NO_FIGURES = ("-",) * 6
# The unit of a job's figures, where it is not MB of text a second.
_UNITS = {"one": "µs", "train-bpe": "s"}

_Row = dict[str, Any]


def as_text(data: _Row, stream: TextIO, *, named: bool) -> str:
    """A table a job, fastest library first.

    Args:
        data: the outcome.
        stream: where the text will be written, which decides on colours and width.
        named: true if the user named the libraries; if not, libraries that are not installed, or have no call for the
            job, share a line unless they have an interpreter of their own.
    """
    color = wants_color(stream)
    target = io.StringIO()
    console = Console(
        file=target,
        width=None if stream.isatty() else _WIDTH,
        force_terminal=color,
        no_color=not color,
        highlight=False,
        emoji=False,
    )
    for job in data["jobs"]:
        console.print(Text(title_of(data, job)))
        shown = [row for row in _ordered(job) if named or row["library"] in data["pythons"] or not _left_out(row)]
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True, header_style="")
        for index, title in enumerate(_titles(job)):
            table.add_column(Text(title), justify="right" if index else "left")
        for row in shown:
            cells = [Text(cell) for cell in _cells(job, row)]
            if row["library"] == job["fastest"]:
                cells[0].stylize("bold")
                cells[1].stylize("bold")
            table.add_row(*cells)
        console.print(table)
        notes = [(row["library"], note_of(job, row)) for row in shown]
        notes = [(name, printable(note)) for name, note in notes if note]
        notes += [(why, ", ".join(names)) for why, names in _unshown(job, shown).items()]
        console.print(*(Text(f"{name}: {note}\n") for name, note in notes), sep="")
    console.print(Text(columns(_footer(data), "<<")))
    lines = [line.rstrip() for line in target.getvalue().rstrip().splitlines()]
    return "\n".join(line for line, after in zip(lines, [*lines[1:], ""], strict=True) if line or after)


def as_markdown(data: _Row) -> str:
    """The same for a page."""
    lines = []
    for job in data["jobs"]:
        titles = [title.replace("\n", ", ") for title in _titles(job)]
        lines += [title_of(data, job), "", f"| {' | '.join((*titles, 'note'))} |"]
        lines.append(f"|---|{'---:|' * len(_NO_FIGURES)}---|")
        for row in _ordered(job):
            cells = [*_cells(job, row), note_of(job, row)]
            if row["library"] == job["fastest"]:
                cells[1] = f"**{cells[1]}**"
            lines.append(f"| {' | '.join(_escaped(cell) for cell in cells)} |")
        lines.append("")
    return "\n".join([*lines, *(f"- {name}: {_escaped(text)}" for name, text in _footer(data))])


def title_of(data: _Row, job: _Row) -> str:
    """The title of a table."""
    threads = "1 thread" if job["threads"] == 1 else f"{job['threads']} threads"
    texts = "1 text" if job["texts"] == 1 else f"{job['texts']:,} texts"
    rounds = "1 round" if data["rounds"] == 1 else f"{data['rounds']} rounds"
    reference = f"checked against {job['reference']['library']} {job['reference']['version']}"
    size = megabytes(job["bytes"])
    return f"{_JOBS[job['job']]} ({job['job']}): {size} in {texts}, {threads}, {rounds}, {reference}"


def note_of(job: _Row, row: _Row) -> str:
    """The reason why a library has no figure, or a remark on its figure; empty in most cases."""
    if row["status"] == "differs":
        return _difference(row["difference"], job["reference"]["library"])
    if row["status"] == "not-compared":
        return _NOT_COMPARED
    return str(row.get("reason", ""))


def panel_of(data: _Row, job: _Row) -> Panel:
    """The bars of a job: calls or MB a second, so that more is better everywhere."""
    unit, speed = ("calls", _calls) if job["job"] == "one" else ("MB", _megabytes)
    speeds = [(row["library"], speed(job, row["seconds_cold"])) for row in _finished(job)]
    bars = [(library, value, _digits(value)) for library, value in speeds]
    threads = "1 thread" if job["threads"] == 1 else f"{job['threads']} threads"
    return Panel(f"{_JOBS[job['job']]}: {unit}/s, first pass, {megabytes(job['bytes'])}, {threads}", bars)


def _difference(found: _Row, reference: str) -> str:
    if "merge" in found:
        return f"merge {found['merge']} is {_pair(found['pair'])}, {_pair(found['expected_pair'])} by {reference}"
    text = f"document {found['document']}"
    if "tokens" in found:
        return f"{text} has {found['tokens']} tokens, {found['expected_tokens']} by {reference}"
    text += f", token {found['token']}"
    if "offsets" in found:
        own, expected = (found[name] for name in ("offsets", "expected_offsets"))
        text += f" has offsets {own[0]}-{own[1]}, {expected[0]}-{expected[1]} by {reference}"
    else:
        own, expected = ("no id" if found[name] is None else f"id {found[name]}" for name in ("id", "expected_id"))
        text += f" has {own}, {expected} by {reference}"
    return f"{text}: {found['before']!r} before it, {found['after']!r} from it on"


def _pair(pair: Sequence[str] | None) -> str:
    return "none" if pair is None else " + ".join(map(repr, pair))


def _left_out(row: _Row) -> bool:
    return row["status"] in _ABSENT or row.get("reason") == NO_CALL


def _unshown(job: _Row, shown: Sequence[_Row]) -> dict[str, list[str]]:
    """The libraries without a row, by the reason."""
    found: dict[str, list[str]] = {}
    for row in job["libraries"]:
        if row not in shown:
            found.setdefault(_ABSENT.get(row["status"], "no such call"), []).append(row["library"])
    return found


def _ordered(job: _Row) -> list[_Row]:
    """Fastest first; libraries without figures last, in the order of `job`."""
    return sorted(job["libraries"], key=lambda row: row.get("seconds_cold", float("inf")))


def _finished(job: _Row) -> list[_Row]:
    return [row for row in job["libraries"] if "seconds_cold" in row]


def _titles(job: _Row) -> tuple[str, ...]:
    unit = _UNITS.get(job["job"], "MB/s")
    return "library", f"first pass\n{unit}", "least to most", f"later passes\n{unit}", "load\ns", "peak\nMB", "times"


def _cells(job: _Row, row: _Row) -> tuple[str, ...]:
    name = f"{row['library']} {row['version']}" if row["version"] else row["library"]
    if "seconds_cold" not in row:
        return name, *_NO_FIGURES
    best = min(other["seconds_cold"] for other in _finished(job))
    spread = sorted(_figure(job, row[f"seconds_cold_{end}"]) for end in ("min", "max"))
    return (
        name,
        _digits(_figure(job, row["seconds_cold"])),
        " to ".join(map(_digits, spread)),
        _digits(_figure(job, row["seconds_warm"])),
        f"{row['seconds_load']:.2f}",
        f"{row['mb_peak']:,.0f}",
        f"{row['seconds_cold'] / best:.2f}",
    )


def _megabytes(job: _Row, seconds: float) -> float:
    return float(job["bytes"]) / seconds / 1e6


def _calls(job: _Row, seconds: float) -> float:
    return float(job["texts"]) / seconds


def _figure(job: _Row, seconds: float) -> float:
    """A time in the unit of the job: µs a call, seconds, or MB a second."""
    if job["job"] == "one":
        return 1e6 / _calls(job, seconds)
    return seconds if job["job"] == "train-bpe" else _megabytes(job, seconds)


def _digits(value: float) -> str:
    """Three digits or more."""
    return f"{value:,.{0 if value >= 100 else 1 if value >= 10 else 2}f}"


def _footer(data: _Row) -> list[tuple[str, str]]:
    machine, corpus = data["machine"], data["corpus"]
    load = "load unknown" if data["load_before"] is None else f"load {data['load_before']} before"
    rows = [
        (
            "first pass",
            "the first call of a fresh process; later passes: the same texts again; medians over the rounds",
        ),
        ("times", "the first pass beside the fastest one"),
        ("machine", f"{machine['cpu']}, {machine['processors']} processors, {machine['system']}, {load}"),
        ("python", ", ".join([machine["python"], *(f"{name}: {path}" for name, path in data["pythons"].items())])),
        ("corpus", f"{megabytes(corpus['bytes'])} of {', '.join(corpus['paths'])}, sha256 {corpus['sha256'][:16]}"),
    ]
    return [(name, printable(text)) for name, text in rows]


def _escaped(cell: str) -> str:
    return printable(cell).replace("|", "\\|")
