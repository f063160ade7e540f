"""Finds `comparison`, the part of this checkout's lexmill that measures, and interpreters. Import this module first.

As a package of its own, it does not import lexmill, which must not be in the process of another library, and may be
installed from elsewhere.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

# The folder has modules that are named as other libraries are, so it is on the path for this import alone.
sys.path.insert(0, str(Path(__file__).parents[2] / "python" / "lexmill"))
importlib.import_module("comparison")
del sys.path[0]

# The environments of libraries that cannot share one with the others (see the Makefile).
ENVIRONMENTS = {"tokenizers_1": Path(__file__).parents[2] / ".venv-hf1"}


def python_of(library: str) -> str:
    """The interpreter of the library's own environment, or this one if there is none."""
    if library in ENVIRONMENTS and (python := ENVIRONMENTS[library] / "bin" / "python").is_file():
        return str(python)
    return sys.executable
