"""`lexmill bench`: the tokenizer libraries that are installed, side by side on a user's own text."""

from __future__ import annotations

import datetime
import importlib.util
import io
import json
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, Literal

from lexmill import __version__
from lexmill.cli.bench_corpus import Corpus, prepare
from lexmill.cli.bench_tables import as_markdown, as_text, panel_of
from lexmill.cli.display import printable
from lexmill.cli.files import STANDARD, check_output, write_whole
from lexmill.cli.load import load_tokenizer
from lexmill.cli.outcome import Outcome, UsageError
from lexmill.cli.progress import ProgressBar
from lexmill.cli.sources import InputName
from lexmill.comparison import machine
from lexmill.comparison.adapters import NAMES
from lexmill.comparison.chart import draw_page, draw_panels
from lexmill.comparison.digests import file_digest
from lexmill.comparison.expected import texts_of_job
from lexmill.comparison.passes import processors
from lexmill.comparison.rounds import DIFFERS, OURS, NoReferenceError, Plan, compare, name_of
from lexmill.errors import OptionError

__all__ = ["JobName", "Options", "bench"]

# Passes of a process after the first one.
_WARM_PASSES = 3
# Characters that are shown on each side of a difference.
_AROUND = 30
_CHARTS = ("svg", "png", "html")


class JobName(str, Enum):
    """The jobs that are timed."""

    LIST = "list"
    ONE = "one"
    ENCODINGS = "encodings"
    COUNT = "count"
    FILE = "file"
    TRAIN_BPE = "train-bpe"

    @property
    def method(self) -> str:
        """The job by the name that adapters know."""
        return _METHODS[self]


_METHODS = {
    JobName.LIST: "encode-arrays",
    JobName.ONE: "encode-one",
    JobName.ENCODINGS: "encode-encodings",
    JobName.COUNT: "count-tokens",
    JobName.FILE: "encode-file",
    JobName.TRAIN_BPE: "train-bpe",
}


@dataclass(frozen=True)
class Options:
    """The options of `lexmill bench`, each as its `--help` says."""

    tokenizer: str
    files: list[str]
    against: str | None
    pythons: list[str]
    jobs: str
    megabytes: float
    document_bytes: int
    rounds: int
    timeout: float
    input: InputName | None
    field: str
    errors: Literal["strict", "replace"]
    on_error: Literal["raise", "skip"]
    threads: int | None
    output: str | None
    chart: str | None
    markdown: bool
    as_json: bool


def bench(options: Options) -> Outcome:
    """Compares, and writes the outputs; nothing is written unless all went well."""
    libraries, jobs = _libraries(options.against), _jobs(options.jobs)
    pythons = _pythons(options.pythons, libraries)
    _check_outputs(options)
    load_tokenizer(options.tokenizer)
    load = machine.load_average()
    at_hand = len(processors())
    threads = options.threads or at_hand
    if threads > at_hand:
        print(f"note: threads is {threads} but this process may use {at_hand} processors", file=sys.stderr)
    with tempfile.TemporaryDirectory(prefix="lexmill-") as folder:
        corpus = prepare(
            options.files,
            Path(folder).resolve(),
            limit=int(options.megabytes * 1e6),
            document_bytes=options.document_bytes,
            kind=options.input,
            field=options.field,
            errors=options.errors,
            on_error=options.on_error,
        )
        plan = Plan(
            tokenizer=Path(options.tokenizer).resolve(),
            corpus=corpus.folder,
            libraries=libraries,
            pythons=pythons,
            threads=threads,
            rounds=options.rounds,
            warm=_WARM_PASSES,
            timeout=options.timeout,
        )
        results = [_measure(plan, job, options.as_json) for job in jobs]
    data = _describe(options, pythons, corpus, threads, load, results)
    _write(options, data)
    if options.markdown:
        return Outcome(data, text=as_markdown(data))
    return Outcome(data, text=as_text(data, sys.stdout, named=options.against is not None))


def _libraries(against: str | None) -> list[str]:
    """The adapters' names of the libraries asked for, ours first."""
    if against is None:
        return NAMES
    named = [_adapter_of(name) for name in against.split(",") if name.strip()]
    unknown = [name_of(name) for name in named if name not in NAMES]
    if unknown:
        known = ", ".join(name_of(name) for name in NAMES if name != OURS)
        message = f"--against names {', '.join(unknown)}; the libraries known are {known}"
        raise UsageError(message)
    return list(dict.fromkeys([OURS, *named]))


def _adapter_of(name: str) -> str:
    return name.strip().replace("-", "_").lower()


def _pythons(given: Sequence[str], libraries: Sequence[str]) -> dict[str, str]:
    """The interpreters of libraries that have one of their own, from `NAME=PATH`."""
    pythons = {}
    for text in given:
        name, _, path = text.partition("=")
        library, python = _adapter_of(name), shutil.which(path)
        if library not in libraries:
            message = f"--python is {text} but must be NAME=PATH, NAME one of {', '.join(map(name_of, libraries))}"
            raise UsageError(message)
        if python is None:
            message = f"--python is {text} but {path or 'an empty path'} is no program"
            raise UsageError(message)
        # Not resolved: the link in a virtual environment tells the interpreter where its packages are.
        pythons[library] = str(Path(python).absolute())
    return pythons


def _jobs(given: str) -> list[JobName]:
    names = list(dict.fromkeys(name.strip() for name in given.split(",") if name.strip()))
    known = [job.value for job in JobName]
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        message = f"--job names {', '.join(unknown) or 'nothing'}; the jobs known are {', '.join(known)}"
        raise UsageError(message)
    return [JobName(name) for name in names]


def _check_outputs(options: Options) -> None:
    """Makes sure, before the work, that the outputs can be written.

    Raises:
        UsageError: the chart's name does not say its kind, or one file is two outputs.
        OptionError: matplotlib is not installed.
    """
    if options.chart is not None:
        if _chart_kind(options.chart) not in _CHARTS:
            message = f"--chart is {options.chart} but must end in .{', .'.join(_CHARTS)}"
            raise UsageError(message)
        if importlib.util.find_spec("matplotlib") is None:
            message = "--chart needs matplotlib: pip install 'lexmill[bench]'"
            raise OptionError(message)
    outputs = [path for path in (options.output, options.chart) if path is not None]
    if STANDARD in outputs:
        message = f"--output and --chart must be files, not stdout ({STANDARD}); --json prints what --output holds"
        raise UsageError(message)
    if len({Path(path).resolve() for path in outputs}) < len(outputs):
        message = f"--chart is {options.chart} but must be a file of its own"
        raise UsageError(message)
    for path in outputs:
        # An argument that is no file is a pattern, a folder, or an error to come.
        check_output(path, [options.tokenizer, *(file for file in options.files if Path(file).is_file())])


def _chart_kind(path: str) -> str:
    return Path(path).suffix.lower().removeprefix(".")


def _measure(plan: Plan, job: JobName, as_json: bool) -> dict[str, Any]:
    """One job, with a bar of the processes that have run."""
    with ProgressBar(not as_json, in_bytes=()) as progress:
        try:
            found = compare(plan, job.method, lambda done, total: progress(job.value, done, total))
        except NoReferenceError as error:
            message = f"{job.value}: {error}"
            raise OptionError(message) from None
    for row in found["libraries"]:
        if row["status"] == DIFFERS and "document" in row["difference"]:
            row["difference"] |= _surroundings(plan, job, row["difference"])
    return found | {"job": job.value}


def _surroundings(plan: Plan, job: JobName, difference: dict[str, Any]) -> dict[str, str]:
    """The text before and after the first token that differs.

    The offsets of this package tell the place. Where its own ids differ from the reference, the ids before the first
    difference are still the same.
    """
    texts = texts_of_job(job.method, plan.corpus)
    is_whole = job is JobName.FILE
    text = texts.path.read_text(encoding="utf-8") if is_whole else texts.read_one(difference["document"])
    if "token" not in difference:
        return {"before": "", "after": text[:_AROUND]}
    tokenizer = load_tokenizer(str(plan.tokenizer))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    offsets = tokenizer.encode(text, add_special_tokens=False).offsets
    token = difference["token"]
    start = offsets[token][0] if token < len(offsets) else len(text)
    return {"before": text[max(start - _AROUND, 0) : start], "after": text[start : start + _AROUND]}


def _describe(
    options: Options,
    pythons: dict[str, str],
    corpus: Corpus,
    threads: int,
    load: float | None,
    results: Sequence[dict[str, Any]],
) -> dict[str, object]:
    """Everything that the figures depend on, then the figures."""
    return {
        "lexmill": __version__,
        "date": datetime.datetime.now(tz=datetime.timezone.utc).isoformat(timespec="seconds"),
        "machine": machine.describe(),
        "pythons": {name_of(library): path for library, path in pythons.items()},
        "tokenizer": {"path": options.tokenizer, "sha256": file_digest(Path(options.tokenizer))},
        "corpus": {
            "paths": options.files,
            "texts": corpus.texts,
            "bytes": corpus.bytes,
            "sha256": corpus.sha256,
        },
        "threads": threads,
        "rounds": options.rounds,
        "timeout": options.timeout,
        "load_before": load,
        "jobs": list(results),
    }


def _write(options: Options, data: dict[str, Any]) -> None:
    """Writes the chart and the JSON file of the options; each appears whole or not at all."""
    if options.chart is not None:
        panels = [panel for job in data["jobs"] if (panel := panel_of(data, job)).bars]
        drawing = io.BytesIO()
        kind = _chart_kind(options.chart)
        if kind == "html":
            draw_page(
                panels, f"{printable(Path(options.tokenizer).resolve().parent.name)}: tokenizer libraries", drawing
            )
        else:
            draw_panels(panels, drawing, kind)
        with write_whole(options.chart) as file:
            file.write(drawing.getvalue())
    if options.output is not None:
        with write_whole(options.output) as file:
            file.write(json.dumps({"command": "bench", "ok": True, **data}, indent=1).encode() + b"\n")
