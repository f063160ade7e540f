"""Results as Markdown: lines that never mix runs, and words for what the figures come from."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from results import CASE, CHANGED, LATEST, UNKNOWN, Row, date_of

OURS, PEER = "lexmill", "tokenizers"
JOBS = {
    "encode-arrays": "texts to ids, fastest call",
    "encode-file": "one file to ids",
    "encode-lists": "texts to lists of ids",
    "encode-encodings": "texts to encodings",
    "encode-offsets": "texts to encodings whose ids and offsets are read",
    "encode-one": "one call a line",
    "count-tokens": "counting tokens",
    "train-bpe": "training BPE, 32,000 tokens",
    "train-bpe-128k": "training BPE, 128,000 tokens",
    "train-wordpiece": "training WordPiece, 30,000 tokens",
    "train-wordpiece-likelihood": "training WordPiece by likelihood, 30,000 tokens",
    "train-unigram": "training Unigram, 16,000 pieces",
    "count-words": "counting words",
}
NOTES = {
    "¹": "Results not compared: the libraries train by different rules, or their scores change from run to run.",
    "²": "Not timed, because the ids differ from Hugging Face's on this text.",
}
FIRST_PASS = "the first call of a fresh process with the tokenizer loaded"
ABSENT = "the library has no such call, cannot load the tokenizer, or was not in this run"
UNITS = [
    f"- **Encoding**: MB of UTF-8 text per second, first pass / later pass. The first pass is {FIRST_PASS}. A "
    "later pass encodes the same texts again.",
    "- **One call a line**: microseconds per call, first pass / later pass, in one thread.",
    "- **Training**: seconds, then the peak memory.",
    "- Each figure is the median of several processes. The fastest first pass is bold. *MB* is the size of the text.",
    "- A library is timed only if its result equals Hugging Face's, except where a note marks the figure.",
    f"- `-`: {ABSENT}.",
]


@dataclass(frozen=True)
class Line:
    """One case: the rows of its newest run, and those that other libraries have from earlier runs alone."""

    rows: list[Row]
    earlier: list[Row]

    @property
    def first(self) -> Row:
        """A row of the run, for what all of them share."""
        return self.rows[0]

    @property
    def figures(self) -> list[Row]:
        """The libraries that finished."""
        return [row for row in self.rows if row["seconds_cold"]]


def make_lines(rows: Iterable[Row]) -> list[Line]:
    """A line for each case with a figure, by job, tokenizer, corpus, threads and bytes."""

    def case(row: Row) -> tuple[str, ...]:
        return tuple(row[name] for name in CASE)

    lines = []
    for _, members in itertools.groupby(sorted(rows, key=case), key=case):
        group = list(members)
        # The newest run is one that measured our own library, if there is any such.
        own = [row for row in group if row["library"] == OURS] or group
        run = max(own, key=date_of)["run"]
        line = Line([row for row in group if row["run"] == run], [row for row in group if row["run"] != run])
        if line.figures:
            lines.append(line)
    return sorted(lines, key=_order)


def _order(line: Line) -> tuple[int, str, str, int, int]:
    row = line.first
    job = list(JOBS).index(row["job"]) if row["job"] in JOBS else len(JOBS)
    return job, row["tokenizer"], row["corpus"], -int(row["threads"]), -int(row["bytes"])


def build(row: Row) -> str:
    """The commit that was measured, for people."""
    if row["commit"] == UNKNOWN:
        return UNKNOWN
    return f"`{row['commit'][:8]}`{CHANGED if row['dirty'] != 'no' else ''}"


def mixtures(rows: list[Row]) -> list[str]:
    """What the rows mix that makes them states of different things; nothing if they are of one build."""
    found = []
    # Trees with changes may differ between two runs although their commit is one, and unknown commits anyway.
    builds = {build(row) if row["dirty"] == "no" else (build(row), row["run"]) for row in rows}
    if len(builds) > 1:
        counts = Counter(build(row) for row in rows).most_common()
        found.append(f"{len(counts)} commits ({', '.join(f'{name}: {count} rows' for name, count in counts)})")
    versions: dict[str, set[str]] = {}
    for row in rows:
        if row["seconds_cold"]:
            versions.setdefault(row["library"], set()).add(row["version"])
    for library, several in sorted(versions.items()):
        if len(several) > 1:
            found.append(f"{len(several)} versions of {library} ({', '.join(sorted(several))})")
    cpus = sorted({row["cpu"] for row in rows})
    if len(cpus) > 1:
        found.append(f"{len(cpus)} processors ({', '.join(cpus)})")
    return found


def table(lines: list[Line], titles: list[str], *, title: str, mixed: bool) -> list[str]:
    """Lines of Markdown with a column a library that finished any, then the notes that the cells refer to."""
    libraries = sorted({row["library"] for line in lines for row in line.figures})
    libraries.sort(key=lambda name: (name != OURS, -sum(name in _names(line) for line in lines)))
    notes: set[str] = set()
    heads = [title, "MB", *(name.replace("_", "-") for name in libraries), *(["commit"] if mixed else [])]
    text = [f"| {' | '.join(heads)} |", f"|---|{'---:|' * (1 + len(libraries))}{'---|' if mixed else ''}"]
    for line, head in zip(lines, titles, strict=True):
        by_library = {row["library"]: row for row in line.rows}
        best = min(map(seconds, line.figures))
        cells = [head, megabytes(line.first), *(cell(by_library.get(name), best, notes) for name in libraries)]
        text.append(f"| {' | '.join([*cells, *([build(line.first)] if mixed else [])])} |")
    return [*text, *notes_of(notes)]


def notes_of(notes: set[str]) -> list[str]:
    """The notes that cells refer to, a paragraph each."""
    return [line for note, text in NOTES.items() if note in notes for line in ("", f"{note} {text}")]


def _names(line: Line) -> set[str]:
    return {row["library"] for row in line.figures}


def megabytes(row: Row) -> str:
    """The size of the text."""
    return f"{int(row['bytes']) / 1e6:.3g}"


def cell(row: Row | None, best: float, notes: set[str]) -> str:
    """One library's figures, bold if its first pass took the best time; adds the notes that it refers to."""
    if row is None or not row["seconds_cold"]:
        if row is not None and row["status"] == "differs":
            notes.add("²")
            return "²"
        return "-"
    first, second = figures(row)
    if row["status"] == "not compared":
        notes.add("¹")
        second += "¹"
    return f"**{first}**{second}" if seconds(row) == best else first + second


def summary(lines: list[Line], titles: list[str]) -> list[str]:
    """Lines of Markdown with our first pass, Hugging Face's and the best of the others, then the notes of the cells."""
    text = [
        f"| job | {OURS} | `{PEER}` | speed-up | best other library |",
        "|---|---:|---:|---:|---|",
    ]
    notes: set[str] = set()
    for line, title in zip(lines, titles, strict=True):
        by_library = {row["library"]: row for row in line.figures}
        ours, peer = by_library.pop(OURS, None), by_library.pop(PEER, None)
        rival = min(by_library.values(), key=seconds, default=None)
        best = min(map(seconds, line.figures))
        cells = [title, first_pass(ours, best, notes), first_pass(peer, best, notes), times(ours, peer)]
        name = f", {rival['library'].replace('_', '-')}" if rival else ""
        text.append(f"| {' | '.join([*cells, first_pass(rival, best, notes) + name])} |")
    return [*text, *notes_of(notes)]


def seconds(row: Row) -> float:
    """The time of the first pass."""
    return float(row["seconds_cold"])


def first_pass(row: Row | None, best: float, notes: set[str]) -> str:
    """The first pass of one library with its unit, bold if it took the best time; adds the notes that it refers to."""
    if row is None:
        return "-"
    figure = figures(row)[0]
    text = figure if " " in figure else f"{figure} MB/s"
    text = f"**{text}**" if seconds(row) == best else text
    if row["status"] == "not compared":
        notes.add("¹")
        text += "¹"
    return text


def times(ours: Row | None, peer: Row | None) -> str:
    """The first pass of the peer, divided by ours."""
    if ours is None or peer is None:
        return "-"
    factor = seconds(peer) / seconds(ours)
    return f"{factor:.0f}x" if factor >= 10 else f"{factor:.1f}x"


def figures(row: Row) -> tuple[str, str]:
    """The first pass, and the figure beside it."""
    cold, warm = float(row["seconds_cold"]), float(row["seconds_warm"])
    if row["job"].startswith("train-"):
        return f"{cold:.2f} s", f", {float(row['mb_peak']):.0f} MB"
    if row["job"] == "encode-one":
        texts = int(row["texts"])
        return f"{cold / texts * 1e6:.1f} µs", f" / {warm / texts * 1e6:.1f}"
    return rate(row["mb_per_second_cold"]), f" / {rate(row['mb_per_second_warm'])}"


def rate(text: str) -> str:
    """MB per second, with a decimal below 10."""
    return f"{float(text):.0f}" if float(text) >= 10 else f"{float(text):.1f}"


def circumstances(machine: str, rows: list[Row]) -> str:
    """The machine, the dates and the versions of the rows, and a warning if they mix builds."""
    versions = sorted({f"{row['library']} {row['version']}" for row in rows if row["seconds_cold"]})
    text = f"{measured(machine, rows)}, {_all(rows, 'rustc')}, CPython {_all(rows, 'python')}; {', '.join(versions)}."
    warning = mixed_builds(rows)
    if not warning:
        return f"{text} All rows: commit {build(rows[0])}."
    return f"{warning} Each row names its commit. {text}"


def measured(machine: str, rows: list[Row]) -> str:
    """The machine, its processor and the dates of the rows."""
    dates = sorted({row["date"][:10] for row in rows})
    return f"Machine `{machine}`: {_all(rows, 'cpu')}, {' to '.join(dict.fromkeys([dates[0], dates[-1]]))}"


def mixed_builds(rows: list[Row]) -> str:
    """A warning that the rows are of several builds; nothing if they are of one."""
    kinds = " and ".join(kind.split(" (")[0] for kind in mixtures(rows))
    if not kinds:
        return ""
    advice = "Compare figures within a row only: the libraries of a row took turns in one run."
    return f"**The rows come from {kinds}.** {advice}"


def _all(rows: list[Row], name: str) -> str:
    return " and ".join(sorted({row[name] for row in rows}))


def earlier_table(rows: list[Row]) -> list[str]:
    """Figures of libraries that the newest run of their case left out."""
    text = ["| job | MB | threads | library | figure | commit | date |", "|---|---:|---:|---|---:|---|---|"]
    for row in rows:
        title = ", ".join(filter(None, [JOBS.get(row["job"], row["job"]), row["tokenizer"], row["corpus"]]))
        library = f"{row['library'].replace('_', '-')} {row['version']}"
        text.append(
            f"| {title} | {megabytes(row)} | {row['threads']} | {library} | {''.join(figures(row))} | "
            f"{build(row)} | {row['date'][:10]} |"
        )
    return text


def origins(machine: str, rows: list[Row]) -> list[str]:
    """The circumstances of each run, and the rows of `latest.csv` that come from it."""
    text = [f"### {machine}", "", f"[{LATEST}]({machine}/{LATEST}): {len(rows)} rows.", ""]
    text += ["| run | date | commit | processor | rustc, CPython | libraries | rows |", "|---|---|---|---|---|---|---|"]

    def run_of(row: Row) -> tuple[str, str]:
        return date_of(row), row["run"]

    for (_, run), members in itertools.groupby(sorted(rows, key=run_of), key=run_of):
        group, first = list(members), next(row for row in rows if row["run"] == run)
        known = {f"{row['library']} {row['version']}" for row in group if row["version"] != UNKNOWN}
        commit = first["commit"] if first["dirty"] == "no" else f"{first['commit']}, changes: {first['dirty']}"
        text.append(
            f"| {run} | {first['date']} | {commit} | {first['cpu']} | "
            f"{first['rustc'].removeprefix('rustc ')}, {first['python']} | {', '.join(sorted(known))} | "
            f"{'; '.join(_summary(group))} |"
        )
    return text


def _summary(rows: list[Row]) -> list[str]:
    """The cases of a run, by job: `encode-file (gpt2, qwen2; english; 2 threads)`, then the number of rows."""
    text = []
    for job, members in itertools.groupby(rows, key=lambda row: row["job"]):
        group = list(members)
        names = [", ".join(sorted({row[name] for row in group if row[name]})) for name in ("tokenizer", "corpus")]
        threads = "/".join(sorted({row["threads"] for row in group}))
        sizes = "/".join(dict.fromkeys(megabytes(row) for row in group if row["bytes"]))
        said = "; ".join(filter(None, [*names, f"{sizes} MB", f"threads {threads}"]))
        text.append(f"{job} ({said}): {len(group)}")
    return text
