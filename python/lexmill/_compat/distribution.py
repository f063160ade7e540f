"""The metadata of `tokenizers` while lexmill stands in its place and the package is not installed."""

from __future__ import annotations

import importlib.metadata
import sys
from collections.abc import Iterable
from os import PathLike
from pathlib import Path

from lexmill._compat.names import NAME
from lexmill.errors import LexmillError


class Distribution(importlib.metadata.Distribution):
    """The package as `importlib.metadata` sees it where it is not installed."""

    def __init__(self, version: str) -> None:
        """A distribution of a version."""
        self._version = version

    def read_text(self, filename: str) -> str | None:
        texts = {
            "METADATA": f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {self._version}\n",
            "top_level.txt": NAME,
        }
        return texts.get(filename)

    def locate_file(self, path: str | PathLike[str]) -> Path:
        raise LexmillError(f"{NAME} is not installed, lexmill stands in its place: there is no file {path}")


class Finder(importlib.metadata.DistributionFinder):
    """Finds that distribution, and no modules."""

    version = ""

    def find_spec(self, *_: object) -> None:
        return None

    def find_distributions(
        self, context: importlib.metadata.DistributionFinder.Context | None = None
    ) -> Iterable[importlib.metadata.Distribution]:
        name = None if context is None else context.name
        return [Distribution(self.version)] if name is None or name.lower() == NAME else []


FINDER = Finder()


def show(version: str) -> None:
    """Makes the distribution known, unless the package itself is installed."""
    FINDER.version = version
    try:
        importlib.metadata.version(NAME)
    except importlib.metadata.PackageNotFoundError:
        sys.meta_path.append(FINDER)


def hide() -> None:
    """Undoes `show`."""
    if FINDER in sys.meta_path:
        sys.meta_path.remove(FINDER)
