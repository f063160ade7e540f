"""Writes the newest results as a table between the markers in README.md, and as benches/results/chart.svg."""

from __future__ import annotations

import argparse
import csv
import itertools
from pathlib import Path
from typing import Any

from corpora import ROOT

RESULTS = ROOT / "benches" / "results"
README = ROOT / "README.md"
BEGIN, END = "<!-- benchmarks -->", "<!-- /benchmarks -->"
OURS = "lexmill"
JOBS = {
    "encode-arrays": "list of texts, fastest result",
    "encode-file": "one file",
    "encode-lists": "list of texts to `list[list[int]]`",
    "encode-encodings": "list of texts to encodings",
    "encode-offsets": "the same, ids and offsets read",
    "encode-one": "one call a line",
    "count-tokens": "counting tokens",
    "train-bpe": "training BPE, 32k",
    "train-bpe-128k": "training BPE, 128k",
    "train-wordpiece": "training WordPiece, 30k",
    "train-wordpiece-likelihood": "the same by likelihood",
    "train-unigram": "training Unigram, 16k",
    "count-words": "counting words",
}
# Legible on white and on black, as the drawing has no background of its own.
TEXT, BAR, OUR_BAR = "#7d8590", "#8b949e", "#d2691e"
Row = dict[str, Any]


def main() -> None:
    """Renders both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--machine", help="folder of benches/results; the one written to last by default")
    parser.add_argument("--threads", type=int, help="the most that were measured by default")
    parser.add_argument("--check", action="store_true", help="fail if README.md is not what would be written")
    arguments = parser.parse_args()
    files = result_files(arguments.machine)
    rows = read(files)
    threads = arguments.threads or max(row["threads"] for row in rows)
    rows = [row for row in rows if row["threads"] == threads or row["job"] == "encode-one"]
    write_readme(render(rows, files, threads), check=arguments.check)
    if not arguments.check:
        draw(rows, threads, RESULTS / "chart.svg")


def result_files(machine: str | None) -> list[Path]:
    """The sweeps' CSV files of one machine by date, those of one day by name."""
    found = sorted(RESULTS.glob(f"{machine or '*'}/*.csv"), key=lambda path: path.stem)
    # Other measurements lie beside them, with other columns.
    files = [path for path in found if path.read_text(encoding="utf-8").startswith("job,")]
    if not files:
        raise SystemExit("no results yet; run `make bench-peers`")
    return [file for file in files if file.parent == files[-1].parent]


def read(files: list[Path]) -> list[Row]:
    """All rows; of a case measured in several files, those of the last one alone: a line never mixes runs."""
    measured: dict[tuple[str, ...], list[Row]] = {}
    for path in files:
        fresh: dict[tuple[str, ...], list[Row]] = {}
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                key = tuple(row[name] for name in ("job", "tokenizer", "corpus", "threads"))
                numbers = {name: float(value) for name, value in row.items() if value and "second" in name}
                fresh.setdefault(key, []).append({**row, **numbers, "threads": int(row["threads"])})
        measured.update(fresh)
    return [row for rows in measured.values() for row in rows]


def render(rows: list[Row], files: list[Path], threads: int) -> str:
    """Markdown: a line a case, a column a library that finished any."""
    libraries = [name for name in dict.fromkeys(row["library"] for row in rows) if any_figure(rows, name)]
    libraries.sort(key=lambda name: name != OURS)
    lines = [
        f"| job | {' | '.join(name.replace('_', '-') for name in libraries)} |",
        f"|---|{'---:|' * len(libraries)}",
    ]
    notes: set[str] = set()
    for job in JOBS:
        for (tokenizer, corpus), members in cases(rows, job):
            group = list(members)
            by_library = {row["library"]: row for row in group}
            best = min((row["seconds_cold"] for row in group if row["seconds_cold"]), default=0)
            cells = [cell(by_library.get(name), best, notes) for name in libraries]
            title = ", ".join(filter(None, [JOBS[job], tokenizer, corpus]))
            lines.append(f"| {title} | {' | '.join(cells)} |")
    circumstances = facts(files[-1].with_suffix(".txt"))
    lines += [
        "",
        f"First pass of a fresh process / a later pass: MB of UTF-8 text a second with {threads} threads, medians over "
        "rounds of one process a library. One call a line: microseconds a call in one thread. Training: seconds, then "
        "peak memory. Bold: the fastest first pass. Each result was proven equal to Hugging Face's before it counted, "
        "save those marked with ¹; - means that a library has no such call, cannot load the tokenizer or was not run "
        "there.",
        "",
        f"Measured on {circumstances.get('cpu', 'an unknown processor')} with "
        f"{circumstances.get('processors', '?')} processors, commit `{circumstances.get('commit', '?')[:12]}`, "
        f"{circumstances.get('rustc', '')}, CPython {circumstances.get('python', '?')}; "
        f"{circumstances.get('libraries', '')}. Files: "
        f"{', '.join(f'[{file.stem}]({file.relative_to(ROOT).as_posix()})' for file in files)}.",
    ]
    if "1" in notes:
        lines += ["", "¹ Not compared: another documented rule, or numbers and scores that change from run to run."]
    if "2" in notes:
        lines += ["", "² Gives other ids than Hugging Face on this text."]
    return "\n".join(lines)


def any_figure(rows: list[Row], library: str) -> bool:
    """Whether a library finished anything."""
    return any(row["seconds_cold"] for row in rows if row["library"] == library)


def cases(rows: list[Row], job: str) -> itertools.groupby[tuple[str, str], Row]:
    """The rows of one job by tokenizer and corpus."""

    def key(row: Row) -> tuple[str, str]:
        return row["tokenizer"], row["corpus"]

    return itertools.groupby(sorted((row for row in rows if row["job"] == job), key=key), key=key)


def cell(row: Row | None, best: float, notes: set[str]) -> str:
    """One library's figures."""
    if row is None or not row["seconds_cold"]:
        if row is not None and row["status"] == "differs":
            notes.add("2")
            return "²"
        return "-"
    cold, warm = row["seconds_cold"], row["seconds_warm"]
    if row["job"].startswith("train-"):
        first, second = f"{cold:.2f} s", f", {float(row['mb_peak']):.0f} MB"
    elif row["job"] == "encode-one":
        texts = float(row["texts"])
        first, second = f"{cold / texts * 1e6:.1f} µs", f" / {warm / texts * 1e6:.1f}"
    else:
        first, second = f"{row['mb_per_second_cold']:.0f}", f" / {row['mb_per_second_warm']:.0f}"
    if row["status"] == "not compared":
        notes.add("1")
        second += "¹"
    return f"**{first}**{second}" if cold == best else first + second


def facts(path: Path) -> dict[str, str]:
    """The circumstances at the head of a `.txt` of results."""
    head = path.read_text(encoding="utf-8").split("\n\n")[0] if path.is_file() else ""
    return dict(line.split(": ", 1) for line in head.splitlines() if ": " in line)


def write_readme(text: str, *, check: bool) -> None:
    """Puts the text between the markers."""
    readme = README.read_text(encoding="utf-8")
    if BEGIN not in readme or END not in readme:
        raise SystemExit(f"README.md has no {BEGIN} and {END} to write between; the table is:\n\n{text}")
    before, rest = readme.split(BEGIN, 1)
    rendered = f"{before}{BEGIN}\n{text}\n{END}{rest.split(END, 1)[1]}"
    if check and rendered != readme:
        raise SystemExit("README.md does not show the newest results; run benches/compare/render.py")
    if rendered != readme:
        README.write_text(rendered, encoding="utf-8")
        print("wrote the table in README.md")


def draw(rows: list[Row], threads: int, target: Path) -> None:
    """Bars of the first pass, a panel a corpus, of the job that most libraries can do."""
    import matplotlib as mpl

    mpl.use("svg")
    # Text stays text, and two runs over the same figures give the same file.
    mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": OURS, "font.family": "sans-serif"})
    from matplotlib import pyplot

    panels = [
        (tokenizer, corpus, [row for row in group if row["seconds_cold"]])
        for (tokenizer, corpus), group in cases(rows, "encode-arrays")
    ]
    names = [tokenizer for tokenizer, _, _ in panels]
    first = "gpt2" if "gpt2" in names else next(iter(names), "")
    panels = [panel for panel in panels if panel[0] == first and panel[2]]
    if not panels:
        return
    heights = [len(group) for _, _, group in panels]
    figure, all_axes = pyplot.subplots(
        len(panels), 1, figsize=(8, 0.32 * sum(heights) + 0.7 * len(panels)), height_ratios=heights, squeeze=False
    )
    for axes, (tokenizer, corpus, group) in zip(all_axes[:, 0], panels, strict=True):
        group.sort(key=lambda row: row["mb_per_second_cold"])
        libraries = [row["library"].replace("_", "-") for row in group]
        speeds = [row["mb_per_second_cold"] for row in group]
        bars = axes.barh(libraries, speeds, color=[OUR_BAR if name == OURS else BAR for name in libraries], height=0.7)
        axes.bar_label(bars, fmt="%.0f", padding=4, color=TEXT, fontsize=9)
        axes.set_title(
            f"{tokenizer}, {corpus}: MB/s, first pass, {threads} threads", loc="left", color=TEXT, fontsize=10
        )
        axes.tick_params(colors=TEXT, length=0, labelsize=9)
        axes.set_xticks([])
        axes.set_xlim(0, max(speeds) * 1.12)
        for spine in axes.spines.values():
            spine.set_visible(False)
    figure.tight_layout()
    figure.savefig(target, transparent=True, metadata={"Date": None})
    print(f"wrote {target.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
