"""`lexmill count`: how many tokens text files have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lexmill import Tokenizer
from lexmill._data.corpus_warnings import warn_of_repeated
from lexmill._data.file_names import is_compressed
from lexmill.cli.display import columns, printable
from lexmill.cli.encode import groups
from lexmill.cli.files import read_stream
from lexmill.cli.load import load_tokenizer
from lexmill.cli.options import Corpus, Json, ReadOptions, SpecialTokens, Threads, TokenizerFile
from lexmill.cli.outcome import Outcome
from lexmill.cli.progress import ProgressBar
from lexmill.cli.sources import Input, inputs_of

__all__ = ["Options", "count"]


@dataclass(frozen=True, kw_only=True)
class Options:
    """The arguments and options of `lexmill count`."""

    tokenizer: TokenizerFile
    files: Corpus
    special_tokens: SpecialTokens = True
    read: ReadOptions
    threads: Threads = None
    as_json: Json = False


@dataclass(frozen=True)
class _Count:
    path: str
    tokens: int
    size: int
    is_text: bool

    @property
    def as_json(self) -> dict[str, object]:
        return {"path": self.path, "tokens": self.tokens, "bytes": self.size}

    @property
    def cells(self) -> tuple[str, ...]:
        ratio = f"{self.size / self.tokens:.2f}" if self.tokens and self.is_text else "-"
        return f"{self.tokens:,}", f"{self.size:,}", ratio, printable(self.path)


def count(options: Options) -> Outcome:
    """Count the tokens of the texts of files."""
    counts = list(_counts(options))
    is_text = all(count.is_text for count in counts)
    total = _Count("total", sum(count.tokens for count in counts), sum(count.size for count in counts), is_text)
    shown = [*counts, total] if len(counts) > 1 else counts
    table = [("tokens", "bytes", "bytes/token", "file"), *(count.cells for count in shown)]
    data: dict[str, object] = {
        "files": [count.as_json for count in counts],
        "tokens": total.tokens,
        "bytes": total.size,
    }
    return Outcome(data, text=columns(table, ">>><"))


def _counts(options: Options) -> Iterator[_Count]:
    inputs = inputs_of(options.files, options.read)
    total = sum(one.size for one in inputs)
    warn_of_repeated(one.name for one in inputs)
    tokenizer = load_tokenizer(options.tokenizer)
    done = 0
    with ProgressBar(not options.as_json, in_bytes=("count",)) as progress:
        for group in groups(inputs):
            progress("count", done, total)
            for counted in _count_group(tokenizer, options, group):
                done += counted.size
                yield counted


def _count_group(tokenizer: Tokenizer, options: Options, group: list[Input]) -> Iterator[_Count]:
    special, threads = options.special_tokens, options.threads
    if group[0].is_stream:
        name = group[0].name
        text, size = read_stream(name, options.read.errors.value)
        (tokens,) = tokenizer.count_tokens([text], add_special_tokens=special, num_threads=threads).tolist()
        yield _Count(name, tokens, size, is_text=True)
        return
    counts = tokenizer.count_tokens_files(
        [one.source or one.name for one in group],
        errors=options.read.errors.value,
        add_special_tokens=special,
        num_threads=threads,
    )
    if group[0].source is not None:
        yield _Count(group[0].name, int(counts.sum()), group[0].size, is_text=False)
        return
    for one, count in zip(group, counts.tolist(), strict=True):
        yield _Count(one.name, count, one.size, is_text=not is_compressed(one.name))
