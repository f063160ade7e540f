"""Finds `comparison`, the part of this checkout's lexmill that measures, and interpreters; imported before it.

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

# Libraries that cannot share an environment with the others, each with its own (see the Makefile).
ENVIRONMENTS = {"tokenizers_1": Path(__file__).parents[2] / ".venv-hf1"}


def python_of(library: str) -> str:
    """The interpreter of a library: of its own environment if there is one, else this one."""
    python = ENVIRONMENTS[library] / "bin" / "python" if library in ENVIRONMENTS else None
    return str(python) if python and python.is_file() else sys.executable
