"""`lexmill install-hook`: where LEXMILL_INSTALL is set, `import tokenizers` gives lexmill in every program."""

from __future__ import annotations

import argparse
import errno
import os
import sysconfig
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from lexmill.cli.files import write_whole
from lexmill.cli.outcome import Outcome, UsageError, execute, fail
from lexmill.errors import FileError

__all__ = ["FILE", "VARIABLE", "hook_line", "install_hook", "remove_hook", "run_hook"]

FILE = "lexmill-install.pth"
VARIABLE = "LEXMILL_INSTALL"
DESCRIPTION = (
    f"Makes `import tokenizers` give lexmill in every program that this Python runs with {VARIABLE}=1 set, "
    f"and lexmill.v1 with {VARIABLE}=v1."
)


def hook_line() -> str:
    """The line that Python runs when it starts: it looks at the variable, and does more only if that is set.

    A `.pth` file can only hold single lines, so the source of `lexmill._compat.startup` is in it as a literal.
    """
    source = (Path(__file__).parents[1] / "_compat" / "startup.py").read_text(encoding="utf-8")
    run = f"exec({source + 'watch_imports()'!a}, {{'__name__': 'lexmill_install'}})"
    return f"import os; os.environ.get({VARIABLE!r}, '0') in ('', '0') or {run}\n"


def install_hook(folder: Path) -> Outcome:
    """Writes the file, which takes its place only when it is complete.

    Raises:
        FileError: the folder is missing, or must not be written.
    """
    path = folder / FILE
    _check_folder(folder)
    with write_whole(str(path)) as stream:
        stream.write(hook_line().encode("ascii"))
    text = f"wrote {path}: with {VARIABLE}=1 set, `import tokenizers` gives lexmill"
    return Outcome({"file": str(path), "written": True}, text)


def remove_hook(folder: Path) -> Outcome:
    """Removes the file, if it is there.

    Raises:
        FileError: the folder must not be written.
    """
    path = folder / FILE
    if not path.exists():
        return Outcome({"file": str(path), "removed": False}, f"no {FILE} in {folder}: nothing to remove")
    _check_folder(folder)
    path.unlink()
    return Outcome({"file": str(path), "removed": True}, f"removed {path}")


def run_hook(arguments: Sequence[str]) -> int:
    """Runs the command, without typer and rich, and answers its exit code."""
    parser = _Parser(prog="lexmill install-hook", description=DESCRIPTION, allow_abbrev=False)
    parser.add_argument("--remove", action="store_true", help="take the hook away again")
    parser.add_argument("--folder", help="the site-packages to use; else the site-packages of this Python")
    parser.add_argument("--json", action="store_true", help="print the outcome as JSON")
    try:
        given = parser.parse_args(arguments)
    except UsageError as error:
        return fail("install-hook", "--json" in arguments, "UsageError", str(error), 2)
    if given.folder == "":
        return fail("install-hook", given.json, "UsageError", "--folder is empty", 2)
    folder = Path(given.folder or sysconfig.get_path("purelib"))
    work = remove_hook if given.remove else install_hook
    return execute("install-hook", given.json, lambda: work(folder))


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(message)


def _check_folder(folder: Path) -> None:
    if not folder.is_dir():
        raise FileError(errno.ENOENT, "no such directory", str(folder))
    if not os.access(folder, os.W_OK):
        raise FileError(errno.EACCES, "not writable: run this as its owner, or in a virtual environment", str(folder))
