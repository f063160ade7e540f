"""One module a library, each with a class `Library`; only the one that is measured is ever imported."""

from __future__ import annotations

import importlib

from .base import Adapter, NotInstalled, Unsupported

__all__ = ["NAMES", "NO_CALL", "REFERENCE", "Adapter", "NotInstalled", "Unsupported", "load_adapter"]

# Module names, which are the libraries' names with `_` for `-`.
NAMES = [
    "lexmill",
    "tokenizers",
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
    """Imports the library and returns its adapter; `NotInstalled` if it cannot be imported."""
    try:
        module = importlib.import_module(f".{name}", __package__)
    except ImportError as error:
        raise NotInstalled(f"not installed: {error}") from error
    adapter: Adapter = module.Library(threads)
    return adapter
