"""Shared by the tests of token files in a store: runs that are cut short, and the files that they leave."""

from __future__ import annotations

import json
from typing import Any

import pytest

from faulty_store import FaultyFileSystem
from lexmill import Tokenizer, tokenize_files
from lexmill.sources import JsonLines

URL = "faulty://b/tokens"
OPTIONS: dict[str, Any] = {"part_bytes": 30_000, "validation": 0.1, "end_token": 0}


def stored(store: FaultyFileSystem) -> dict[str, bytes]:
    """All files below the URL."""
    start = len("/b/tokens/")
    return {name[start:]: store.cat_file(name) for name in list(store.store) if name.startswith("/b/tokens/")}


class Killed(BaseException):
    """Ends a run at once."""


class Run:
    """A run with options, which counts its reports."""

    def __init__(self, tokenizer: Tokenizer, source: JsonLines, **options: Any) -> None:
        self.given, self.options, self.reports = (tokenizer, source), {**OPTIONS, **options}, 0

    def __call__(self, **options: Any) -> Any:
        def report(*_: Any) -> None:
            self.reports += 1

        return tokenize_files(*self.given, URL, **{"on_progress": report, **self.options, **options})


def listed(store: FaultyFileSystem) -> set[str]:
    """The files of finished parts of a run that is not finished."""
    lists = [data for name, data in stored(store).items() if name.startswith(".lexmill-run/parts-")]
    lines = [json.loads(line) for data in lists for line in data.splitlines()]
    return {name for line in lines if "versions" in line for name in line["part"]["files"]}


def stop_after(store: FaultyFileSystem, calls: int, run: Run) -> None:
    """Cuts a run short."""
    store.write_faults[:] = [*[None] * calls, Killed()]
    with pytest.raises(Killed):
        run(resume=True)
    store.write_faults.clear()
