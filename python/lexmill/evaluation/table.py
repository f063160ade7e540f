"""The main numbers of an evaluation as tables in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lexmill.evaluation.numbers import CorpusNumbers, Evaluation, Parallel, VocabularyNumbers

__all__ = ["corpus_rows", "pair_rows", "parallel_rows", "share", "table_of", "vocabulary_rows"]

Rows = list[list[str]]


def table_of(evaluation: Evaluation) -> str:
    """A table for each corpus, for parallel lines, for vocabularies and for pairs of tokenizers."""
    parts = [
        (f"{corpus.name}: {corpus.texts:,} texts, {corpus.bytes:,} bytes", corpus_rows(corpus))
        for corpus in evaluation.corpora
    ]
    if evaluation.parallel is not None:
        parts.append((f"parallel: {evaluation.parallel.lines:,} lines", parallel_rows(evaluation.parallel)))
    parts.append(("vocabularies", vocabulary_rows(evaluation.vocabularies)))
    if evaluation.overlaps:
        parts.append(("pairs", pair_rows(evaluation)))
    parameters = ", ".join(
        f"{name} {value}" for name, value in evaluation.manifest.parameters.items() if value is not None
    )
    return "\n".join([*(f"{title}\n\n{_markdown(rows)}\n" for title, rows in parts), parameters + "\n"])


def corpus_rows(corpus: CorpusNumbers) -> Rows:
    """A row for each tokenizer, after the titles."""
    rows = [
        [
            "tokenizer",
            "tokens",
            "bytes/token",
            "NSL",
            "Shannon, bits",
            "Rényi, bits",
            "Rényi efficiency",
            "whole words",
            "continued words",
            "round trip",
        ]
    ]
    for one in corpus.tokenizers:
        rows.append(
            [
                one.name,
                f"{one.tokens:,}",
                _number(one.bytes_per_token),
                _number(one.nsl),
                _number(one.shannon_entropy),
                _number(one.renyi_entropy),
                _number(one.renyi_efficiency),
                share(one.words.whole_share),
                share(one.words.continued_share),
                f"{one.round_trip.equal:,} of {one.round_trip.texts:,}",
            ]
        )
    return rows


def parallel_rows(parallel: Parallel) -> Rows:
    """Premiums by language, the dearest of the first tokenizer first; then parity and Gini coefficient."""
    rows = [["premium", *(f"{one.name} / {one.base}" for one in parallel.tokenizers)]]
    first = parallel.tokenizers[0].tokens
    for at in sorted(range(len(first)), key=lambda at: (-first[at], parallel.languages[at].name)):
        rows.append([parallel.languages[at].name, *(_number(one.premiums[at]) for one in parallel.tokenizers)])
    rows.append(["parity", *(_number(one.parity) for one in parallel.tokenizers)])
    rows.append(["Gini", *(_number(one.gini) for one in parallel.tokenizers)])
    return rows


def vocabulary_rows(vocabularies: Sequence[VocabularyNumbers]) -> Rows:
    """A row for each vocabulary, after the titles."""
    rows = [["tokenizer", "model", "vocabulary", "not whole characters", "residue", "unreachable", "candidates"]]
    for one in vocabularies:
        rows.append(
            [
                one.name,
                one.model,
                f"{one.tokens:,}",
                f"{one.partial:,}",
                "-" if one.residue is None else f"{one.residue:,}",
                f"{sum(candidate.kind == 'unreachable' for candidate in one.candidates):,}",
                f"{len(one.candidates):,}",
            ]
        )
    return rows


def pair_rows(evaluation: Evaluation) -> Rows:
    """A row for each two tokenizers: shared tokens, and shared boundaries in each corpus."""
    rows = [["tokenizers", "shared tokens", *(f"shared boundaries, {corpus.name}" for corpus in evaluation.corpora)]]
    for at, pair in enumerate(evaluation.overlaps):
        agreements = [share(corpus.agreements[at].agreement) for corpus in evaluation.corpora]
        rows.append([f"{pair.first}, {pair.second}", share(pair.overlap), *agreements])
    return rows


def share(value: float | None) -> str:
    """A share in percent."""
    return "-" if value is None else f"{100 * value:.2f} %"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def _markdown(rows: Rows) -> str:
    # A name may be anything.
    cells = [[cell.replace("\n", " ").replace("|", "\\|") for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]

    def line(row: Iterable[str]) -> str:
        padded = (
            cell.rjust(width) if at else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        return f"| {' | '.join(padded)} |"

    return "\n".join(line(row) for row in [cells[0], rule, *cells[1:]])
