"""Files and folders that appear whole under their names in a folder that all machines see.

A task works in a folder of its own, an *attempt*, and renames its finished result. So a task that was killed leaves
nothing under a final name, and two attempts of one task, which make the same bytes, do not disturb each other: the
second finds the name taken. The driver removes the attempts that killed tasks have left.
"""

from __future__ import annotations

import errno
import os
import shutil
import socket
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from lexmill._core import local_path
from lexmill.errors import FileError, OutputError

if os.name == "posix":
    import fcntl

__all__ = ["attempt", "locked", "made_folder", "publish", "remove_attempts"]

_ATTEMPT = ".lexmill-attempt-"
_LOCK = ".lexmill-job-lock"


def made_folder(folder: str | os.PathLike[str]) -> Path:
    """The absolute path of a folder, which is made if it is not there.

    Raises:
        FileError: it cannot be made.
    """
    path = Path(local_path(folder)).absolute()
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(error.errno, f"cannot make the shared folder: {error.strerror}", str(path)) from error
    return path


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keeps other drivers on this machine out of a folder, and removes attempts that nobody works on.

    Raises:
        OutputError: another driver works in the folder.
        FileError: the folder cannot be written to.
    """
    path = folder / _LOCK
    try:
        file = _locked_file(path)
    except OutputError:
        raise
    except OSError as error:
        raise FileError(error.errno, f"cannot write to the shared folder: {error.strerror}", str(folder)) from error
    try:
        remove_attempts(folder)
        yield
    finally:
        remove_attempts(folder)
        # While the lock is held, so that nobody else holds the lock of this file.
        path.unlink(missing_ok=True)
        file.close()


def _locked_file(path: Path) -> IO[bytes]:
    while True:
        file = path.open("ab")
        if not _is_lockable(file):
            file.close()
            message = f"{path.parent}: another job works in it"
            raise OutputError(message)
        # A driver that has just ended may have removed the file before it was locked here.
        if path.exists() and os.path.samestat(os.fstat(file.fileno()), path.stat()):
            return file
        file.close()


def _is_lockable(file: IO[bytes]) -> bool:
    """Takes the lock of a file; on a file system without locks, drivers are not kept apart."""
    if os.name != "posix":
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP):
            raise
    return True


@contextmanager
def attempt(folder: Path, name: str) -> Iterator[Path]:
    """A new folder in which `folder/name` is made; it does not outlive the block.

    Raises:
        FileError: the folder cannot be written to.
    """
    path = folder / f"{_ATTEMPT}{name}-{uuid.uuid4().hex}"
    try:
        path.mkdir()
    except OSError as error:
        message = f"cannot write to the shared folder on {socket.gethostname()}: {error.strerror}"
        raise FileError(error.errno, message, str(folder)) from error
    try:
        yield path
    finally:
        # A driver that has given up may have removed it.
        shutil.rmtree(path, ignore_errors=True)


def publish(made: Path, target: Path) -> None:
    """Gives a finished file or folder its name; one that is there already is another attempt's, and stays.

    Raises:
        FileError: it cannot be renamed.
    """
    try:
        if not target.exists():
            made.rename(target)
            _sync(target.parent)
    except OSError as error:
        # A folder is not renamed to one that another attempt has published in the meantime.
        if not target.is_dir():
            raise FileError(error.errno, f"cannot rename it: {error.strerror}", str(target)) from error


def remove_attempts(folder: Path) -> None:
    """Removes the attempts that killed tasks have left."""
    for path in folder.glob(f"{_ATTEMPT}*"):
        # A task that the engine has given up may be writing still; it removes the rest itself.
        shutil.rmtree(path, ignore_errors=True)


def _sync(folder: Path) -> None:
    """Makes a rename in a folder last through a power cut; elsewhere than on POSIX folders cannot be opened."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
