"""One module a library, each with a class `Library`; only the one that is measured is ever imported."""

from __future__ import annotations

import importlib
from importlib import metadata

from .base import Adapter, NotInstalled, OtherVersion, Unsupported

__all__ = ["NAMES", "NO_CALL", "REFERENCE", "Adapter", "NotInstalled", "OtherVersion", "Unsupported", "load_adapter"]

# Module names, which are the libraries' names with `_` for `-`.
NAMES = [
    "lexmill",
    "tokenizers",
    "tokenizers_1",
    "tiktoken",
    "sentencepiece",
    "gigatoken",
    "rustbpe",
    "tokie",
    "splintr_rs",
    "fastokens",
    "transformers",
]
# Said of a library without a method for the job.
NO_CALL = "has no call for this job"
# Whose results are the right ones.
REFERENCE = "tokenizers"


def load_adapter(name: str, threads: int) -> Adapter:
    """Imports the library and returns its adapter.

    Raises:
        NotInstalled: the library cannot be imported.
        OtherVersion: it is of a version with other calls.
    """
    try:
        module = importlib.import_module(f".{name}", __package__)
    except ImportError as error:
        raise NotInstalled(f"not installed: {error}") from error
    library: type[Adapter] = module.Library
    if library.series and not (version := metadata.version(library.distribution)).startswith(library.series):
        raise OtherVersion(
            f"not installed: {library.distribution} here is {version}, and this row is {library.series}x; "
            f"lexmill bench --python {name.replace('_', '-')}=PATH takes the interpreter of another environment"
        )
    return library(threads)
