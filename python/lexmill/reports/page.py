"""The page of a report: HTML that holds its styles, its figures, the library that draws them, and its numbers."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from lexmill.reports import sections
from lexmill.reports.figures import figures_of, plotly_js
from lexmill.reports.numbers import Numbers

__all__ = ["page_of"]

# Draws each figure into the element of its name. Nothing is loaded: all data is in the page.
_DRAW = """
const figures = JSON.parse(document.getElementById("figures").textContent);
for (const [name, figure] of Object.entries(figures)) {
  const place = document.getElementById("figure-" + name);
  if (place) Plotly.newPlot(place, figure.data, figure.layout, {responsive: true, displayModeBar: false});
}
"""


def page_of(numbers: Numbers) -> str:
    """The page, which is the same text for the same numbers and version of plotly.

    Raises:
        LexmillError: plotly is not installed.
    """
    figures = figures_of(numbers)
    style = Path(__file__).with_name("style.css").read_text(encoding="utf-8")
    title = "Tokenizer report: " + ", ".join(tokenizer.name for tokenizer in numbers.tokenizers)
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        # An empty icon of the page's own, or the browser would ask for one.
        '<link rel="icon" href="data:,">',
        f"<title>{html.escape(title)}</title>",
        f"<style>\n{style}</style>",
        f"<script>{plotly_js()}</script>",
        "</head><body><main>",
        *_body(numbers, figures.keys()),
        "</main>",
        _json("figures", json.dumps(figures, ensure_ascii=False)),
        _json("numbers", numbers.to_json()),
        f"<script>{_DRAW}</script>",
        "</body></html>",
    ]
    return "\n".join(parts) + "\n"


def _json(name: str, values: str) -> str:
    # The text must not hold the end of the element, nor the start of a comment.
    escaped = values.replace("<", "\\u003c")
    return f'<script type="application/json" id="{name}">{escaped}</script>'


def _body(numbers: Numbers, figures: Iterable[str]) -> list[str]:
    has = set(figures)
    body: Sequence[str | None] = [
        sections.heading(numbers),
        sections.overview(numbers),
        sections.evaluation(numbers),
        sections.parallel(numbers),
        sections.scripts(numbers),
        sections.languages(numbers) if numbers.languages is not None else None,
        sections.files(numbers) if len(numbers.files) > 1 else None,
        '<div class="pair">',
        sections.token_lengths(numbers),
        sections.text_lengths(numbers),
        "</div>",
        '<div class="pair">' if "curve" in has else None,
        sections.curve(numbers) if "curve" in has else None,
        sections.coverage(numbers),
        "</div>" if "curve" in has else None,
        sections.vocabulary(numbers),
        sections.samples(numbers),
    ]
    return [part for part in body if part is not None]
