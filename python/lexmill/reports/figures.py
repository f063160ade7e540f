"""The figures of a report, as Plotly's JSON."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Sequence
from typing import Any

from lexmill._data.optional import optional_module
from lexmill.reports.numbers import Group, Lengths, Numbers, points_of

__all__ = ["COLORS", "figures_of", "plotly_js"]

# One for each tokenizer, in their order; readable beside each other, also without colour vision.
COLORS = ("#2f6f9f", "#d08a3e", "#5a8f69", "#9a5f88", "#7d7d7d", "#b5534f", "#4b9aa3", "#a89a3c")
# Bars of a figure: more are not readable, and are in the table.
_BARS = 24
# Bars have at least this share of the corpus: a ratio over a few words says nothing.
_LEAST_SHARE = 1e-4
# Lengths of a histogram of tokens.
_LONGEST = 24
_FONT = "system-ui, -apple-system, 'Segoe UI', sans-serif"
_GRID = "#e6e8ea"


def _plotly(module: str) -> Any:  # noqa: ANN401 (a module that may be absent)
    return optional_module(module, "the page of a report needs plotly: pip install 'lexmill[report]'")


def plotly_js() -> str:
    """The library that draws the figures.

    Raises:
        LexmillError: plotly is not installed.
    """
    library: str = _plotly("plotly.offline").get_plotlyjs()
    return library


def figures_of(numbers: Numbers) -> dict[str, dict[str, Any]]:
    """The figures by name: data and layout, as Plotly's JavaScript takes them.

    Raises:
        LexmillError: plotly is not installed.
    """
    figures = {
        "scripts": _ratios(numbers, numbers.scripts, "bytes per token", _bytes_per_token),
        "script-words": _ratios(
            numbers, [group for group in numbers.scripts if group.words], "tokens per word", _tokens_per_word
        ),
        "token-bytes": _token_lengths(numbers),
        "text-lengths": _text_lengths(numbers),
        "coverage": _coverage(numbers),
    }
    if len(numbers.files) > 1:
        figures["files"] = _ratios(numbers, _largest(numbers.files), "bytes per token", _bytes_per_token)
    if numbers.languages is not None and len(numbers.languages) > 1:
        figures["languages"] = _ratios(numbers, numbers.languages, "bytes per token", _bytes_per_token)
        figures["language-words"] = _ratios(numbers, numbers.languages, "tokens per word", _tokens_per_word)
    if any(tokenizer.curve is not None for tokenizer in numbers.tokenizers):
        figures["curve"] = _curves(numbers)
    return {name: _checked(*figure) for name, figure in figures.items()}


_Figure = tuple[list[dict[str, Any]], dict[str, Any]]


def _checked(data: list[dict[str, Any]], layout: dict[str, Any]) -> dict[str, Any]:
    """A figure that Plotly has accepted, with the layout that all figures share."""
    shared: dict[str, Any] = {
        "template": "none",
        "font": {"family": _FONT, "size": 13, "color": "#39424a"},
        "margin": {"l": 60, "r": 16, "t": 16, "b": 52},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
        "hoverlabel": {"font": {"family": _FONT}},
        "colorway": list(COLORS),
    }
    for axis in ("xaxis", "yaxis"):
        given = layout.get(axis, {})
        given["title"] = {"font": {"size": 13}, "standoff": 10, **given.get("title", {})}
        layout[axis] = {"gridcolor": _GRID, "zeroline": False, "automargin": True, **given}
    figure = _plotly("plotly.graph_objects").Figure(data=data, layout=shared | layout)
    checked: dict[str, Any] = json.loads(figure.to_json())
    return checked


def _largest(groups: Sequence[Group]) -> list[Group]:
    return sorted(groups, key=lambda group: -group.bytes)


def _bytes_per_token(group: Group, tokenizer: int) -> float | None:
    tokens = group.tokens[tokenizer]
    return group.bytes / tokens if tokens else None


def _tokens_per_word(group: Group, tokenizer: int) -> float | None:
    return group.tokens[tokenizer] / group.words if group.words else None


def _ratios(
    numbers: Numbers, groups: Sequence[Group], title: str, ratio: Callable[[Group, int], float | None]
) -> _Figure:
    """Horizontal bars of a ratio for the largest groups, the largest at the top."""
    shown = [group for group in groups[:_BARS] if group.bytes >= _LEAST_SHARE * numbers.corpus.bytes]
    data = [
        {
            "type": "bar",
            "orientation": "h",
            "name": tokenizer.name,
            "y": [group.name for group in shown],
            "x": [ratio(group, number) for group in shown],
            "marker": {"color": COLORS[number % len(COLORS)]},
            "hovertemplate": "%{y}: %{x:.3f} " + title + "<extra></extra>",
        }
        for number, tokenizer in enumerate(numbers.tokenizers)
    ]
    height = 90 + len(shown) * max(22, 12 * len(numbers.tokenizers))
    layout = {
        "barmode": "group",
        "bargap": 0.3,
        "height": height,
        "xaxis": {"title": {"text": title}, "rangemode": "tozero"},
        "yaxis": {"autorange": "reversed", "type": "category", "gridcolor": "rgba(0,0,0,0)", "ticksuffix": "  "},
        "showlegend": len(numbers.tokenizers) > 1,
    }
    return data, layout


def _shares(lengths: Lengths) -> list[float]:
    """The share of each length from 1 on; the last one has all that are longer."""
    total = sum(lengths.counts) or 1
    shares = [0.0] * _LONGEST
    for length, count in zip(lengths.lengths, lengths.counts, strict=True):
        if length:
            shares[min(length, _LONGEST) - 1] += count / total
    return shares


def _token_lengths(numbers: Numbers) -> _Figure:
    names = [str(length) for length in range(1, _LONGEST)] + [f"{_LONGEST}+"]
    data: list[dict[str, Any]] = []
    for number, tokenizer in enumerate(numbers.tokenizers):
        color = COLORS[number % len(COLORS)]
        several = len(numbers.tokenizers) > 1
        for title, lengths, dash in (
            ("vocabulary", tokenizer.token_bytes, "dot"),
            ("text", tokenizer.used_bytes, "solid"),
        ):
            data.append(
                {
                    "type": "scatter",
                    "mode": "lines+markers",
                    "name": tokenizer.name if several else title,
                    "legendgroup": tokenizer.name if several else title,
                    "showlegend": not several or title == "text",
                    "x": names,
                    "y": _shares(lengths),
                    "line": {"color": color, "dash": dash, "width": 2},
                    "marker": {"size": 5},
                    "hovertemplate": "%{x} bytes: %{y:.2%}<extra>" + title + "</extra>",
                }
            )
    layout = {
        "height": 340,
        "xaxis": {"title": {"text": "bytes of a token"}, "type": "category"},
        "yaxis": {"title": {"text": "share of tokens"}, "tickformat": ".0%", "rangemode": "tozero"},
    }
    return data, layout


def _bins(longest: int) -> list[int]:
    """Where bins of lengths begin: 0, 1, 2, 3, 4, 6, 8, 12, 16, 24 and so on."""
    bins = [0, 1, 2]
    while bins[-1] <= longest:
        bins.append(bins[-1] * 3 // 2 if bins[-1] & (bins[-1] - 1) == 0 else bins[-1] * 4 // 3)
    return bins


def _text_lengths(numbers: Numbers) -> _Figure:
    longest = max((lengths.lengths[-1] for t in numbers.tokenizers if (lengths := t.text_lengths).lengths), default=0)
    bins = _bins(longest)
    shortest = min((lengths.lengths[0] for t in numbers.tokenizers if (lengths := t.text_lengths).lengths), default=0)
    bins = [low for low, high in itertools.pairwise([*bins, bins[-1] + 1]) if high > shortest]
    names = [str(low) if high == low + 1 else f"{low:,}-{high - 1:,}" for low, high in itertools.pairwise(bins)]
    data = []
    for number, tokenizer in enumerate(numbers.tokenizers):
        counts = [0] * len(names)
        at = 0
        for length, count in zip(tokenizer.text_lengths.lengths, tokenizer.text_lengths.counts, strict=True):
            while bins[at + 1] <= length:
                at += 1
            counts[at] += count
        data.append(
            {
                "type": "bar",
                "name": tokenizer.name,
                "x": names,
                "y": counts,
                "marker": {"color": COLORS[number % len(COLORS)]},
                "hovertemplate": "%{x} tokens: %{y:,} texts<extra></extra>",
            }
        )
    layout = {
        "height": 340,
        "barmode": "group",
        "bargap": 0.15,
        "xaxis": {"title": {"text": "tokens of a text"}, "type": "category", "nticks": 12, "tickangle": -45},
        "yaxis": {"title": {"text": "texts"}, "rangemode": "tozero"},
        "showlegend": len(numbers.tokenizers) > 1,
    }
    return data, layout


def _coverage(numbers: Numbers) -> _Figure:
    data = [
        {
            "type": "scatter",
            "mode": "lines+markers",
            "name": tokenizer.name,
            "x": list(tokenizer.coverage.ranks),
            "y": list(tokenizer.coverage.shares),
            "line": {"color": COLORS[number % len(COLORS)], "width": 2},
            "marker": {"size": 5},
            "hovertemplate": "the %{x:,} most frequent tokens: %{y:.2%}<extra></extra>",
        }
        for number, tokenizer in enumerate(numbers.tokenizers)
    ]
    layout = {
        "height": 340,
        "xaxis": {"title": {"text": "most frequent tokens"}, "type": "log"},
        "yaxis": {"title": {"text": "share of all tokens"}, "tickformat": ".0%", "range": [0, 1.02]},
        "showlegend": len(numbers.tokenizers) > 1,
    }
    return data, layout


def _curves(numbers: Numbers) -> _Figure:
    data = []
    for number, tokenizer in enumerate(numbers.tokenizers):
        if tokenizer.curve is None:
            continue
        points = points_of(tokenizer.curve)
        data.append(
            {
                "type": "scatter",
                "mode": "lines",
                "name": tokenizer.name,
                "x": points["vocabulary"],
                "y": [numbers.corpus.bytes / tokens if tokens else None for tokens in points["tokens"]],
                "line": {"color": COLORS[number % len(COLORS)], "width": 2},
                "hovertemplate": "%{x:,} tokens in the vocabulary: %{y:.3f} bytes per token<extra></extra>",
            }
        )
    layout = {
        "height": 360,
        "xaxis": {"title": {"text": "tokens in the vocabulary"}, "rangemode": "tozero", "tickformat": ",d"},
        "yaxis": {"title": {"text": "bytes per token"}, "rangemode": "tozero"},
        "showlegend": len(numbers.tokenizers) > 1,
    }
    return data, layout
