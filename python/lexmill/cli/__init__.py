"""The command `lexmill`: trains, runs and looks into tokenizers.

It needs typer and rich, which the extra `lexmill[cli]` brings; the library itself does not.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command and answers its exit code.

    Args:
        argv: the arguments after the command's name; None takes the arguments of the process.

    Returns:
        0 for success, 1 for an error, 2 for wrong usage, 130 if interrupted, 141 if the reader of stdout left.
    """
    arguments = sys.argv[1:] if argv is None else list(argv)
    if arguments[:1] == ["run"] and arguments[1:2] not in ([], ["-h"], ["--help"]):
        # Without typer and rich: the script may have to do without them.
        from lexmill.cli.run import run_script

        return run_script(arguments[1:])
    if arguments[:1] == ["install-hook"]:
        # Nor does this need them.
        from lexmill.cli.hook import run_hook

        return run_hook(arguments[1:])
    if any(importlib.util.find_spec(name) is None for name in ("typer", "rich")):
        print("error: the command line needs typer and rich: pip install 'lexmill[cli]'", file=sys.stderr)
        return 2
    try:
        # Only now: these modules import typer and rich.
        from lexmill.cli.app import run

        return run(argv)
    except KeyboardInterrupt:
        print("error: interrupted", file=sys.stderr)
        return 130
