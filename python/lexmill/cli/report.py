"""`lexmill report`: a page on how tokenizers cut a corpus."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Literal

from lexmill import Tokenizer
from lexmill.cli.display import columns, megabytes, printable
from lexmill.cli.files import STANDARD, check_output
from lexmill.cli.load import load_tokenizer
from lexmill.cli.outcome import Outcome, UsageError
from lexmill.cli.progress import ProgressBar
from lexmill.cli.sources import InputName, ReadOptions, named_sources
from lexmill.reports import Numbers, report

__all__ = ["Options", "make"]


@dataclass(frozen=True)
class Options:
    """The options of `lexmill report`, each as its `--help` says."""

    tokenizer: str
    files: list[str]
    output: str
    against: list[str]
    input: InputName | None
    field: str
    group_by: str | None
    errors: Literal["strict", "replace"]
    on_error: Literal["raise", "skip"]
    threads: int | None
    as_json: bool


def make(options: Options) -> Outcome:
    """Measures the tokenizers and writes the page and the numbers."""
    if options.output == STANDARD:
        message = f"the page must be a file, not stdout ({STANDARD}), since the numbers are written beside it"
        raise UsageError(message)
    target = Path(options.output)
    if target.exists() and not (target.is_file() or target.is_dir()):
        message = f"the page must be a file, and {options.output} is a device or a pipe"
        raise UsageError(message)
    paths = [options.tokenizer, *options.against]
    check_output(options.output)
    numbers_file = str(Path(options.output).with_suffix(".json"))
    for output in dict.fromkeys([options.output, numbers_file]):
        check_output(output, [*paths, *(path for path in options.files if Path(path).is_file())])
    read = ReadOptions(options.input, options.field, options.errors, options.on_error)
    sources = named_sources(options.files, read)
    tokenizers: dict[str, Tokenizer] = dict(zip(_names(paths), map(load_tokenizer, paths), strict=True))
    started = time.perf_counter()
    with ProgressBar(not options.as_json, in_bytes=("read",)) as progress:
        made = report(
            tokenizers,
            sources,
            group_by=options.group_by,
            num_threads=options.threads,
            on_progress=progress.callback,
        )
    made.save(options.output)
    seconds = time.perf_counter() - started
    return _outcome(options.output, numbers_file, made.numbers, seconds)


def _names(paths: list[str]) -> list[str]:
    """The names of the tokenizers: each path without the beginning and the end that all paths share.

    Raises:
        UsageError: a tokenizer is named twice.
    """
    for path in paths:
        if paths.count(path) > 1:
            message = f"{path} is named {paths.count(path)} times"
            raise UsageError(message)
    parts = [PurePath(path).with_suffix("").parts for path in paths]
    if len(paths) == 1:
        # The name of nearly every file, which says nothing.
        return [parts[0][-2] if parts[0][-1] == "tokenizer" and len(parts[0]) > 1 else parts[0][-1]]
    shortest = min(map(len, parts))
    first = next((at for at in range(shortest) if len({part[at] for part in parts}) > 1), shortest - 1)
    last = next((at for at in range(1, shortest - first) if len({part[-at] for part in parts}) > 1), shortest - first)
    names = ["/".join(part[first : len(part) - last + 1]) for part in parts]
    return names if all(names) and len(set(names)) == len(names) else paths


def _outcome(output: str, numbers_file: str, numbers: Numbers, seconds: float) -> Outcome:
    corpus = numbers.corpus
    rows = [("tokens", "bytes/token", "tokens/word", "never used", "tokenizer")]
    for tokenizer in numbers.tokenizers:
        rows.append(
            (
                f"{tokenizer.tokens:,}",
                f"{corpus.bytes / tokenizer.tokens:.3f}" if tokenizer.tokens else "-",
                f"{tokenizer.tokens / corpus.words:.3f}" if corpus.words else "-",
                f"{len(tokenizer.unused):,}",
                printable(tokenizer.name),
            )
        )
    data: dict[str, object] = {
        "output": output,
        "numbers": numbers_file,
        "texts": corpus.texts,
        "bytes": corpus.bytes,
        "words": corpus.words,
        "tokenizers": [
            {"name": tokenizer.name, "tokens": tokenizer.tokens, "unused": len(tokenizer.unused)}
            for tokenizer in numbers.tokenizers
        ],
        "seconds": round(seconds, 6),
    }
    note = f"{output}: {corpus.texts:,} texts, {megabytes(corpus.bytes)} in {seconds:.1f} s"
    return Outcome(data, text=columns(rows, ">>>><"), note=note)
