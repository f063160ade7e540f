"""`lexmill run`: a script in which `import tokenizers` gives lexmill."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Sequence
from pathlib import Path

import lexmill

__all__ = ["run_script"]


def run_script(arguments: Sequence[str]) -> int:
    """Runs a script as Python itself does, with lexmill in the place of `tokenizers`.

    Args:
        arguments: the path of the script, or `-m` and the name of a module; then what the script gets.

    Returns:
        0, or 2 if there is no such script. What the script raises comes through, its exit code too.
    """
    is_module = arguments[0] == "-m"
    target, *rest = arguments[1:] if is_module else arguments
    if not is_module and not Path(target).is_file():
        print(f"error: no script {target}", file=sys.stderr)
        return 2
    lexmill.install()
    sys.argv = [target, *rest]
    if is_module:
        sys.path.insert(0, "")
        runpy.run_module(target, run_name="__main__", alter_sys=True)
    else:
        sys.path.insert(0, str(Path(target).resolve().parent))
        runpy.run_path(target, run_name="__main__")
    return 0
