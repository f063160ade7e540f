"""The pictures of the examples, drawn by matplotlib; the same numbers give the same SVG file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lexmill.evaluation import Evaluation
    from lexmill.reports import Numbers

_COLORS = ("#2f6f9f", "#d08a3e", "#5a8f69", "#9a5f88", "#7d7d7d", "#b5534f")


def draw(folder: Path, evaluation: Evaluation, numbers: Numbers) -> list[Path]:
    """Draws lengths, shares and coverage of tokenizers; returns the files, which are in the folder."""
    paths = [folder / f"{name}.svg" for name in ("bytes_per_token", "shares", "coverage")]
    corpora, names = evaluation.corpora, [tokenizer.name for tokenizer in numbers.tokenizers]
    lengths = {name: [one.tokenizers[at].bytes_per_token or 0 for one in corpora] for at, name in enumerate(names)}
    bars(paths[0], "Bytes per token", [corpus.name for corpus in corpora], lengths)
    totals = [tokenizer.tokens for tokenizer in numbers.tokenizers]
    shares = {one.name: [own.tokens / of for own, of in zip(one.tokenizers, totals, strict=True)] for one in corpora}
    stacked(paths[1], "Share of each domain in all tokens", names, shares)
    coverage = {one.name: (one.coverage.ranks, one.coverage.shares) for one in numbers.tokenizers}
    curves(paths[2], "Share of the most frequent tokens in all tokens", coverage)
    return paths


def bars(path: Path, title: str, names: Sequence[str], series: Mapping[str, Sequence[float]]) -> None:
    """Draws a group of bars for each name, with a bar for each series."""
    figure, axes = _axes(title)
    width = 0.8 / len(series)
    for number, (label, values) in enumerate(series.items()):
        places = [place + (number - (len(series) - 1) / 2) * width for place in range(len(names))]
        axes.bar(places, values, width, label=label, color=_COLORS[number])
    axes.set_xticks(range(len(names)), names)
    _save(figure, axes, path)


def stacked(path: Path, title: str, names: Sequence[str], series: Mapping[str, Sequence[float]]) -> None:
    """Draws a bar for each name, with a part for each series."""
    figure, axes = _axes(title)
    below = [0.0] * len(names)
    for number, (label, values) in enumerate(series.items()):
        axes.bar(names, values, 0.6, bottom=below, label=label, color=_COLORS[number])
        below = [low + value for low, value in zip(below, values, strict=True)]
    _save(figure, axes, path)


def curves(path: Path, title: str, lines: Mapping[str, tuple[Sequence[float], Sequence[float]]]) -> None:
    """Draws a curve for each name, over a logarithmic axis."""
    figure, axes = _axes(title)
    for number, (label, (across, up)) in enumerate(lines.items()):
        axes.plot(across, up, label=label, color=_COLORS[number])
    axes.set_xscale("log")
    _save(figure, axes, path)


def _axes(title: str) -> tuple[Figure, Axes]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4), layout="constrained")
    axes: Axes = figure.subplots()
    axes.set_title(title, loc="left", fontsize=10)
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _save(figure: Figure, axes: Axes, path: Path) -> None:
    import matplotlib as mpl

    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False, fontsize=9)
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "lexmill"}):
        figure.savefig(path, metadata={"Date": None})
