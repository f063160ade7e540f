"""Finds `comparison`, the part of this checkout's lexmill that measures; to be imported before it.

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
