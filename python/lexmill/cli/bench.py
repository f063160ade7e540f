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
from typing import Annotated, Any

import typer

from lexmill import __version__
from lexmill.cli.bench_corpus import PreparedTexts, prepare
from lexmill.cli.bench_tables import as_markdown, as_text, panel_of
from lexmill.cli.display import printable
from lexmill.cli.files import STANDARD, check_output, write_whole
from lexmill.cli.load import load_tokenizer
from lexmill.cli.options import LARGEST, Corpus, Json, ReadOptions, Threads, TokenizerFile
from lexmill.cli.outcome import Outcome, UsageError
from lexmill.cli.progress import ProgressBar
from lexmill.comparison import machine
from lexmill.comparison.adapters import NAMES
from lexmill.comparison.chart import draw_page, draw_panels
from lexmill.comparison.digests import file_digest
from lexmill.comparison.expected import texts_of_job
from lexmill.comparison.passes import processors
from lexmill.comparison.rounds import DIFFERS, OURS, NoReferenceError, Plan, compare, name_of
from lexmill.comparison.texts import DOCUMENT_BYTES
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


_PEERS = ", ".join(name_of(name) for name in NAMES if name != OURS)
_JOBS = ", ".join(job.value for job in JobName)


@dataclass(frozen=True, kw_only=True)
class Options:
    """The arguments and options of `lexmill bench`."""

    tokenizer: TokenizerFile
    files: Corpus
    against: Annotated[
        str | None,
        typer.Option(
            metavar="LIBRARIES",
            help=f"Libraries with commas between them, of {_PEERS}; all that are installed unless given.",
            show_default=False,
        ),
    ] = None
    python: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=PATH",
            help="The interpreter of an environment of its own for a library; may be given several times.",
            show_default=False,
        ),
    ] = None
    job: Annotated[str, typer.Option(metavar="JOBS", help=f"The jobs to time, with commas between: {_JOBS}.")] = (
        f"{JobName.LIST.value},{JobName.ONE.value}"
    )
    megabytes: Annotated[float, typer.Option(min=0.001, help="Take this much text (in 10^6 bytes) at most.")] = 20.0
    document_bytes: Annotated[
        int,
        typer.Option(min=0, max=LARGEST, help="Join lines of text files to documents of this size; 0: each is one."),
    ] = DOCUMENT_BYTES
    rounds: Annotated[int, typer.Option(min=1, max=1000, help="Processes of each library.")] = 5
    timeout: Annotated[float, typer.Option(min=0.1, help="Seconds that one process may take.")] = 300.0
    read: ReadOptions
    threads: Threads = None
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", help="A JSON file of everything, each sample included.", show_default=False),
    ] = None
    chart: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="A drawing, .svg, .png or .html; needs lexmill[bench].", show_default=False),
    ] = None
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the tables as Markdown.")] = False
    as_json: Json = False


def bench(options: Options) -> Outcome:
    """Compare the tokenizer libraries that are installed on texts of yours.

    Each library runs in processes of its own, all in turn. A library has no figure if its ids differ from the ids of
    Hugging Face's tokenizers, or of lexmill if tokenizers is not compared.
    """
    libraries, jobs = _libraries(options.against), _jobs(options.job)
    pythons = _pythons(options.python or [], libraries)
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
            read=options.read,
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
    corpus: PreparedTexts,
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
