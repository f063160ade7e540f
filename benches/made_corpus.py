"""Corpora that benchmarks make for themselves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

__all__ = ["made_corpus"]


def made_corpus(given: Path | None, make: Callable[[Path], object], suffix: str, *options: object) -> Path:
    """A corpus, made if it is missing.

    Args:
        given: the file; by default a file in this folder, with a name made of `options`.
        make: writes the corpus to a path.
        suffix: the end of the name, such as `.txt`.
        options: all options that the contents depend on, and the name of the benchmark.
    """
    path = given or Path("-".join(map(str, options)) + suffix)
    if not path.exists():
        # A corpus that was cut short is not taken for a whole one.
        begun = path.with_name(f"{path.name}.begun")
        make(begun)
        begun.rename(path)
    return path
