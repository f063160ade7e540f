"""The process that measures one library: `python path/to/comparison TASK`, where TASK is a JSON object.

Run by its path and not by `-m`, which would import lexmill beside the library that is measured.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

if __name__ == "__main__":
    # The folder above has modules that are named as other libraries are, so it is on the path for this import alone.
    sys.path[0] = str(Path(__file__).resolve().parents[1])
    importlib.import_module("comparison")
    del sys.path[0]
    importlib.import_module("comparison.task").main()
