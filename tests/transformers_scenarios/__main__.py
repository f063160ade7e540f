"""What transformers and datasets do with one tokenizer, as JSON: run in a process of its own for each backend.

Usage: transformers_scenarios BACKEND FOLDER SCRATCH SCENARIO...
"""

from __future__ import annotations

import json
import sys
import traceback
from importlib import import_module
from pathlib import Path
from typing import Any

from common import FAILED, SCENARIOS, backend, plain

# Each puts its scenarios into `SCENARIOS`.
MODULES = ["calls", "texts", "objects", "tasks"]


def run(name: str, folder: Path, scratch: Path) -> dict[str, Any]:
    try:
        return {key: plain(value) for key, value in SCENARIOS[name](folder, scratch)}
    except Exception:
        return {FAILED: traceback.format_exc()}


def main() -> None:
    if backend() == "install":
        import lexmill

        lexmill.install()
    for module in MODULES:
        import_module(module)
    folder, scratch, *names = sys.argv[2:]
    print(json.dumps({name: run(name, Path(folder), Path(scratch)) for name in names}))


if __name__ == "__main__":
    main()
