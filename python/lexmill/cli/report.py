"""`lexmill report`: a page on how tokenizers cut a corpus."""

from __future__ import annotations

import time
from dataclasses import dataclass
from enum import Enum
from pathlib import Path, PurePath
from typing import Annotated

import typer

from lexmill import Tokenizer
from lexmill.cli.display import columns, megabytes, printable
from lexmill.cli.files import STANDARD, check_output
from lexmill.cli.load import load_tokenizer
from lexmill.cli.options import LARGEST, Corpus, Json, ReadOptions, Threads, TokenizerFile
from lexmill.cli.outcome import Outcome, UsageError
from lexmill.cli.progress import ProgressBar
from lexmill.cli.sources import named_sources
from lexmill.reports import Numbers, report

__all__ = ["Options", "make"]


class WordsName(str, Enum):
    """The rule that divides words."""

    WHITESPACE = "whitespace"
    UNICODE = "unicode"


@dataclass(frozen=True, kw_only=True)
class Options:
    """The arguments and options of `lexmill report`."""

    tokenizer: TokenizerFile
    files: Corpus
    output: Annotated[
        str,
        typer.Option("--output", "-o", help="The page; its numbers go beside it, to a name that ends in .json."),
    ] = "report.html"
    against: Annotated[
        list[str] | None,
        typer.Option(metavar="TOKENIZER", help="Another tokenizer.json to compare with; may be given again."),
    ] = None
    group_by: Annotated[
        str | None,
        typer.Option(help="The field (a.b for b in a) or column that holds the language.", show_default=False),
    ] = None
    parallel: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER",
            help="Files of parallel lines, one a language; line n of each is the same sentence.",
            show_default=False,
        ),
    ] = None
    base: Annotated[
        str | None,
        typer.Option(
            metavar="LANGUAGE",
            help="The language of FOLDER to compare with; the one with the fewest tokens unless given.",
            show_default=False,
        ),
    ] = None
    alpha: Annotated[float, typer.Option(min=0, help="The order of Rényi's entropy.")] = 2.5
    words: Annotated[
        WordsName, typer.Option(help="How words are divided that tokens may cut: by white space, or by UAX 29.")
    ] = WordsName.WHITESPACE
    sample_every: Annotated[
        int,
        typer.Option(min=1, max=LARGEST, help="Of a large corpus, look at the words of every n-th text; 1 for all."),
    ] = 16
    read: ReadOptions
    threads: Threads = None
    as_json: Json = False


def make(options: Options) -> Outcome:
    """Make a page on how tokenizers cut a corpus: ratios, lengths, coverage, compression, published measures, samples.

    With an OUTPUT that ends in .json only the numbers are written; the page needs the extra lexmill[report].
    """
    if options.output == STANDARD:
        message = f"the page must be a file, not stdout ({STANDARD}), since the numbers are written beside it"
        raise UsageError(message)
    target = Path(options.output)
    if target.exists() and not (target.is_file() or target.is_dir()):
        message = f"the page must be a file, and {options.output} is a device or a pipe"
        raise UsageError(message)
    paths = [options.tokenizer, *(options.against or [])]
    check_output(options.output)
    numbers_file = str(Path(options.output).with_suffix(".json"))
    for output in dict.fromkeys([options.output, numbers_file]):
        check_output(output, [*paths, *(path for path in options.files if Path(path).is_file())])
    sources = named_sources(options.files, options.read)
    tokenizers: dict[str, Tokenizer] = dict(zip(_names(paths), map(load_tokenizer, paths), strict=True))
    started = time.perf_counter()
    with ProgressBar(not options.as_json, in_bytes=("read",)) as progress:
        made = report(
            tokenizers,
            sources,
            group_by=options.group_by,
            parallel=options.parallel,
            base=options.base,
            alpha=options.alpha,
            words=options.words.value,
            sample_every=options.sample_every,
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
