"""Reports on tokenizers and a corpus, as numbers and as a page.

    lexmill.report("tokenizer.json", "corpus.jsonl.zst").save("report.html")

The guide `docs/guides/report.md` explains the numbers.
"""

from __future__ import annotations

from lexmill.reports._report import Report, report
from lexmill.reports.curve import Curve
from lexmill.reports.numbers import (
    Coverage,
    Group,
    Lengths,
    Numbers,
    Sample,
    SampleToken,
    TokenCount,
    TokenizerNumbers,
)
from lexmill.reports.vocabulary import Unreachable

__all__ = [
    "Coverage",
    "Curve",
    "Group",
    "Lengths",
    "Numbers",
    "Report",
    "Sample",
    "SampleToken",
    "TokenCount",
    "TokenizerNumbers",
    "Unreachable",
    "report",
]
