"""`lexmill run`: a script in which `import tokenizers` gives lexmill."""

from __future__ import annotations

import importlib.util
import os
import runpy
import sys
from collections.abc import Sequence
from pathlib import Path

import lexmill
from lexmill._compat.names import VERSIONS
from lexmill.cli.hook import VARIABLE

__all__ = ["run_script"]


def run_script(arguments: Sequence[str]) -> int:
    """Runs a script as Python itself does, with lexmill in the place of `tokenizers`.

    Args:
        arguments: the path of the script, or `-m` and the name of a module; then the arguments of the script. Before
            them may stand `--version` and the interface, as `lexmill.install` takes it.

    Returns:
        0, or 2 if there is no such version, script or module. The script's exceptions come through, its exit code too.
    """
    version = "0.23"
    if arguments[0] == "--version":
        version, arguments = "".join(arguments[1:2]), arguments[2:] or [""]
        if version not in VERSIONS:
            print(f"error: --version is {version!r} but must be {' or '.join(map(repr, VERSIONS))}", file=sys.stderr)
            return 2
    is_module = arguments[0] == "-m"
    target, *rest = (arguments[1:] or [""]) if is_module else arguments
    if is_module:
        sys.path.insert(0, "")
    if not (_is_module(target) if is_module else Path(target).is_file()):
        print(f"error: no {'module' if is_module else 'script'} {target or 'named'}", file=sys.stderr)
        return 2
    # Where the hook is installed, processes that the script spawns get lexmill too.
    if version == "1":
        os.environ[VARIABLE] = "v1"
    else:
        os.environ.setdefault(VARIABLE, "1")
    lexmill.install(version)
    sys.argv = [target, *rest]
    if is_module:
        runpy.run_module(target, run_name="__main__", alter_sys=True)
    else:
        sys.path.insert(0, str(Path(target).resolve().parent))
        runpy.run_path(target, run_name="__main__")
    return 0


def _is_module(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False
