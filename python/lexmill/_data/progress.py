"""Progress of training on standard error; the core calls `report(stage, done, total, eta, rss)`."""

from __future__ import annotations

import json
import sys

from lexmill._types import OnProgress


def terminal() -> OnProgress | None:
    """Returns a report that keeps one line up to date, or None where nobody watches."""
    if not sys.stderr.isatty():
        return None

    def report(stage: str, done: int, total: int, _eta: float | None, _rss: int | None) -> None:
        share = f"{100 * done // total}%" if total else f"{done:,}"
        ending = "\n" if done == total else ""
        sys.stderr.write(f"\r{stage:<16} {share:>12}{ending}")
        sys.stderr.flush()

    return report


def json_lines() -> OnProgress:
    """Returns a report that writes one JSON object a line."""

    def report(stage: str, done: int, total: int, _eta: float | None, _rss: int | None) -> None:
        sys.stderr.write(json.dumps({"stage": stage, "current": done, "total": total}) + "\n")
        sys.stderr.flush()

    return report
