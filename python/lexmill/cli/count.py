"""`lexmill count`: how many tokens text files have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lexmill import Tokenizer
from lexmill._corpus_warnings import warn_of_repeated
from lexmill.cli.display import columns, printable
from lexmill.cli.encode import Source, groups
from lexmill.cli.files import check_inputs, is_stream, read_stream
from lexmill.cli.load import load_tokenizer
from lexmill.cli.outcome import Outcome
from lexmill.cli.progress import ProgressBar

__all__ = ["count"]


@dataclass(frozen=True)
class _Count:
    path: str
    tokens: int
    size: int

    @property
    def as_json(self) -> dict[str, object]:
        return {"path": self.path, "tokens": self.tokens, "bytes": self.size}

    @property
    def cells(self) -> tuple[str, ...]:
        ratio = f"{self.size / self.tokens:.2f}" if self.tokens else "-"
        return f"{self.tokens:,}", f"{self.size:,}", ratio, printable(self.path)


def count(source: Source) -> Outcome:
    """Counts the tokens of each file, and of all."""
    counts = list(_counts(source))
    total = _Count("total", sum(count.tokens for count in counts), sum(count.size for count in counts))
    shown = [*counts, total] if len(counts) > 1 else counts
    table = [("tokens", "bytes", "bytes/token", "file"), *(count.cells for count in shown)]
    data: dict[str, object] = {
        "files": [count.as_json for count in counts],
        "tokens": total.tokens,
        "bytes": total.size,
    }
    return Outcome(data, text=columns(table, ">>><"))


def _counts(source: Source) -> Iterator[_Count]:
    total = check_inputs(source.files)
    warn_of_repeated(source.files)
    tokenizer = load_tokenizer(source.tokenizer)
    done = 0
    with ProgressBar(not source.as_json, in_bytes=("count",)) as progress:
        for group in groups(source.files):
            progress("count", done, total)
            for counted in _count_group(tokenizer, source, group):
                done += counted.size
                yield counted


def _count_group(tokenizer: Tokenizer, source: Source, paths: list[str]) -> Iterator[_Count]:
    special, threads = source.special_tokens, source.threads
    if is_stream(paths[0]):
        text, size = read_stream(paths[0], source.errors)
        sizes = [size]
        tokens = tokenizer.count_tokens([text], add_special_tokens=special, num_threads=threads)
    else:
        sizes = [Path(path).stat().st_size for path in paths]
        tokens = tokenizer.count_tokens_files(
            paths, errors=source.errors, add_special_tokens=special, num_threads=threads
        )
    for path, count, size in zip(paths, tokens.tolist(), sizes, strict=True):
        yield _Count(path, count, size)
