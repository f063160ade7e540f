"""Renders the results of one machine.

A table of selected cases and the chart go into README.md, all rows into docs/benchmarks.md, and the origin of the rows
of every machine into benches/results/README.md, each between markers. Rows of several commits, library versions or
processors are refused, unless `--mixed-commits` is given: then both pages say so, and docs/benchmarks.md names the
commit of each row.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterable
from pathlib import Path

from chart import draw
from corpora import ROOT
from results import LATEST, RESULTS, Row, machine_folder, machines, read
from selected import SELECTED
from tables import (
    ABSENT,
    FIRST_PASS,
    JOBS,
    UNITS,
    Line,
    build,
    circumstances,
    earlier_table,
    make_lines,
    measured,
    mixed_builds,
    mixtures,
    origins,
    summary,
    table,
)

README, PAGE, ORIGINS = ROOT / "README.md", ROOT / "docs" / "benchmarks.md", RESULTS / "README.md"
CHART = RESULTS / "chart.svg"
BEGIN, END = "<!-- benchmarks -->", "<!-- /benchmarks -->"


def main() -> None:
    """Renders all three and the chart."""
    arguments = parse_arguments()
    rows = [row for row in read(machine_folder(arguments.machine) / LATEST) if of_commit(row, arguments.commit)]
    lines = make_lines(rows)
    if not lines:
        raise SystemExit(f"no figures of '{arguments.machine}'; run `make bench-peers MACHINE={arguments.machine}`")
    refuse_mixtures(shown_rows(lines), allowed=arguments.mixed_commits)
    threads = arguments.threads or max(int(line.first["threads"]) for line in lines)
    with_threads = [line for line in lines if int(line.first["threads"]) == threads]
    # Says how to render again, and lets a test do so.
    command = f"<!-- {' '.join(['render.py', *command_of(arguments)])} -->\n\n"
    texts = {
        README: command + render_selection(arguments.machine, with_threads + one_thread(lines, threads), threads),
        PAGE: command + render_page(arguments.machine, lines),
        ORIGINS: "\n\n".join("\n".join(origins_of(machine)) for machine in machines()),
    }
    for path, text in texts.items():
        write_between(path, text, check=arguments.check)
    panels = chart_lines(with_threads)
    if not arguments.check and draw(panels, CHART, mixed=bool(mixtures(line_rows(panels)))):
        print(f"wrote {CHART.relative_to(ROOT)}")


def parse_arguments() -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--machine", required=True, help=f"one of: {', '.join(machines())}")
    parser.add_argument("--commit", default="", help="show the rows of this commit alone")
    parser.add_argument("--mixed-commits", action="store_true", help="show rows of several commits, each with its own")
    parser.add_argument(
        "--threads", type=int, help="of README.md and the chart; the most that were measured by default"
    )
    parser.add_argument("--check", action="store_true", help="fail if a file is not what would be written")
    return parser.parse_args()


def command_of(arguments: argparse.Namespace) -> list[str]:
    """The arguments that choose what is shown."""
    text = ["--machine", arguments.machine]
    text += ["--commit", arguments.commit] if arguments.commit else []
    text += ["--mixed-commits"] if arguments.mixed_commits else []
    return [*text, *(["--threads", str(arguments.threads)] if arguments.threads else [])]


def of_commit(row: Row, commit: str) -> bool:
    """Whether a row is of the commit asked for."""
    return row["commit"].startswith(commit)


def shown_rows(lines: Iterable[Line]) -> list[Row]:
    """All rows that have a place in a table, figure or not."""
    return [row for line in lines for row in [*line.rows, *(row for row in line.earlier if row["seconds_cold"])]]


def line_rows(lines: Iterable[Line]) -> list[Row]:
    """The rows of the lines themselves."""
    return [row for line in lines for row in line.rows]


def refuse_mixtures(rows: list[Row], *, allowed: bool) -> None:
    """Stops if the rows are not of one build and one version of each library on one processor."""
    found = mixtures(rows)
    if found and not allowed:
        raise SystemExit(
            f"the rows to be shown mix {'; '.join(found)}. Measure them in one run, choose one commit with --commit, "
            "or say --mixed-commits, and each row will name its commit."
        )


def one_thread(lines: list[Line], threads: int) -> list[Line]:
    """The jobs that have one thread whatever is asked for."""
    return [line for line in lines if line.first["job"] == "encode-one" and int(line.first["threads"]) != threads]


def choose(lines: list[Line], job: str, tokenizer: str, corpus: str) -> Line | None:
    """The line of a case; of several sizes, the one with the most libraries, then the newest."""
    wanted = (job, tokenizer, corpus)
    found = [line for line in lines if tuple(line.first[name] for name in ("job", "tokenizer", "corpus")) == wanted]
    return max(found, key=lambda line: (len(line.figures), line.first["date"]), default=None)


def title_of(row: Row) -> str:
    """The case of a row of README.md."""
    return f"{JOBS.get(row['job'], row['job'])}: {', '.join(filter(None, [row['tokenizer'], row['corpus']]))}"


def render_selection(machine: str, lines: list[Line], threads: int) -> str:
    """The table of README.md."""
    chosen = [line for case in SELECTED if (line := choose(lines, *case))] or lines
    with_threads = "1 thread" if threads == 1 else f"{threads} threads"
    rows = line_rows(chosen)
    units = (
        f"Speed is MB of UTF-8 text per second with {with_threads}, in {FIRST_PASS}; the fastest is bold. "
        "*Fastest call*: each library makes its fastest kind of result, such as arrays or lazy objects. "
        "*One call a line* is the time of a call, in one thread. "
        "A library is timed only if its result equals Hugging Face's, except where a "
        f"note marks the figure. `-`: {ABSENT}."
    )
    builds = mixed_builds(rows) or f"All rows: commit {build(rows[0])}."
    links = (
        "More: [all rows](docs/benchmarks.md), with later calls and memory; [the rules of the comparison]"
        "(benches/README.md#compare); [the circumstances of each run](benches/results/README.md)."
    )
    return "\n".join(
        [
            *summary(chosen, [title_of(line.first) for line in chosen]),
            *["", units, "", f"{builds} {measured(machine, rows)}. {links}"],
            *["", f"![{chart_title(lines)}]({CHART.relative_to(ROOT).as_posix()})"],
        ]
    )


def chart_title(lines: list[Line]) -> str:
    """The chart in words."""
    panels = [line.first for line in chart_lines(lines)]
    names = ", ".join(row["corpus"] for row in panels)
    return f"MB per second of the first pass: {panels[0]['tokenizer']} on {names}" if panels else "MB per second"


def chart_lines(lines: list[Line]) -> list[Line]:
    """One tokenizer on each corpus."""
    lines = [line for line in lines if line.first["job"] == "encode-arrays"]
    names = [line.first["tokenizer"] for line in lines]
    tokenizer = "gpt2" if "gpt2" in names else next(iter(names), "")
    corpora = dict.fromkeys(line.first["corpus"] for line in lines if line.first["tokenizer"] == tokenizer)
    return [line for corpus in corpora if (line := choose(lines, "encode-arrays", tokenizer, corpus))]


def render_page(machine: str, lines: list[Line]) -> str:
    """All lines, a section a job."""
    rows = shown_rows(lines)
    mixed = bool(mixtures(rows))
    text = [circumstances(machine, rows), "", *UNITS]
    for job, members in itertools.groupby(lines, key=lambda line: line.first["job"]):
        group = list(members)
        heading = JOBS.get(job, job)
        text += ["", f"## {heading[:1].upper()}{heading[1:]}", ""]
        text += table(group, [case_title(line.first) for line in group], title="case", mixed=mixed)
    earlier = [row for line in lines for row in line.earlier if row["seconds_cold"]]
    if earlier:
        text += ["", "## Libraries that the newest run of a case left out", ""]
        text += ["Measured in earlier runs, so not side by side with the lines above.", "", *earlier_table(earlier)]
    return "\n".join(text)


def case_title(row: Row) -> str:
    """What a row of a section measures."""
    threads = "1 thread" if row["threads"] == "1" else f"{row['threads']} threads"
    return ", ".join(filter(None, [row["tokenizer"], row["corpus"], threads]))


def origins_of(machine: str) -> list[str]:
    """The origin of the rows of one machine."""
    return origins(machine, read(RESULTS / machine / LATEST))


def write_between(path: Path, text: str, *, check: bool) -> None:
    """Puts the text between the markers of a file."""
    before = path.read_text(encoding="utf-8")
    if BEGIN not in before or END not in before:
        raise SystemExit(f"{path.relative_to(ROOT)} has no {BEGIN} and {END} to write between")
    head, rest = before.split(BEGIN, 1)
    rendered = f"{head}{BEGIN}\n{text}\n{END}{rest.split(END, 1)[1]}"
    if check and rendered != before:
        raise SystemExit(f"{path.relative_to(ROOT)} does not show the newest results; run benches/compare/render.py")
    if rendered != before:
        path.write_text(rendered, encoding="utf-8")
        print(f"wrote {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
