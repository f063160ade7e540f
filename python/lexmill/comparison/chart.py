"""Bars of speeds, a panel a job or corpus, drawn by matplotlib."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import BinaryIO

# Legible on white and on black, as the drawing has no background of its own.
TEXT, BAR, OUR_BAR = "#7d8590", "#8b949e", "#d2691e"
OURS = "lexmill"


@dataclass(frozen=True)
class Panel:
    """Bars of one job, in any order: more is better.

    Attributes:
        title: the quantity that the bars show, with its unit.
        bars: libraries, their values, and how these are written.
    """

    title: str
    bars: Sequence[tuple[str, float, str]]


def draw_panels(panels: Sequence[Panel], target: BinaryIO, kind: str = "svg") -> None:
    """Draws the panels one below the other, the fastest library on top, as `svg` or `png`.

    The same values give the same bytes.
    """
    import matplotlib as mpl

    mpl.use("svg" if kind == "svg" else "agg")
    # Text stays text.
    mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": OURS, "font.family": "sans-serif"})
    from matplotlib import pyplot

    heights = [len(panel.bars) for panel in panels]
    figure, all_axes = pyplot.subplots(
        len(panels), 1, figsize=(8, 0.32 * sum(heights) + 0.7 * len(panels)), height_ratios=heights, squeeze=False
    )
    for axes, panel in zip(all_axes[:, 0], panels, strict=True):
        bars = sorted(panel.bars, key=lambda bar: bar[1])
        names, values, labels = zip(*bars, strict=True)
        drawn = axes.barh(names, values, color=[OUR_BAR if name == OURS else BAR for name in names], height=0.7)
        axes.bar_label(drawn, labels, padding=4, color=TEXT, fontsize=9)
        axes.set_title(panel.title, loc="left", color=TEXT, fontsize=10)
        axes.tick_params(colors=TEXT, length=0, labelsize=9)
        axes.set_xticks([])
        axes.set_xlim(0, max(values) * 1.12)
        for spine in axes.spines.values():
            spine.set_visible(False)
    figure.tight_layout()
    figure.savefig(target, format=kind, transparent=kind == "svg", metadata={"Date": None} if kind == "svg" else None)
    pyplot.close(figure)


def draw_page(panels: Sequence[Panel], title: str, target: BinaryIO) -> None:
    """Writes a page that holds the drawing and needs no other file."""
    import html

    drawing = io.BytesIO()
    draw_panels(panels, drawing)
    # A page has no declaration of XML within.
    svg = drawing.getvalue().decode()
    page = f"""<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>{html.escape(title)}</title></head>
<body style="font-family: sans-serif; max-width: 60em; margin: 2em auto">
<h1>{html.escape(title)}</h1>
{svg[svg.index("<svg") :]}
</body>
</html>
"""
    target.write(page.encode())
