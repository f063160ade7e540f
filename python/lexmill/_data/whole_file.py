"""Files that appear whole or not at all, as the core writes them."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from lexmill._core import local_path

__all__ = ["to_disk", "whole_file"]

# The names of temporary files, here and in the core.
_TEMPORARY = re.compile(r"\.lexmill-[0-9]+-[0-9a-f]{16}\.tmp")


@contextlib.contextmanager
def whole_file(path: str) -> Iterator[BinaryIO]:
    """Opens a file that takes its place only when it is complete.

    The bytes go to a temporary name beside it, are flushed to disk and renamed; on any error, an interrupt
    included, the temporary file is removed and the old file stays. Temporary files that killed processes have left in
    the folder are removed. Anything but a regular file (a pipe, `/dev/null`) is written directly, since it must not be
    replaced.
    """
    target = Path(local_path(path))
    if target.exists() and not target.is_file():
        with target.open("wb") as device:
            yield device
        return
    # Through a symbolic link, the file it points to is replaced, not the link.
    target = target.resolve()
    temporary: Path | None = None
    try:
        _remove_litter(target.parent)
        temporary, stream, is_locked = _create_temporary(target.parent)
        with stream:
            if target.exists():
                os.chmod(stream.fileno(), stat.S_IMODE(target.stat().st_mode))  # noqa: PTH101 (a descriptor)
            yield stream
            to_disk(stream)
            # A locked file is nobody's litter. Without locks, as on Windows, the file has to be closed first.
            if is_locked:
                temporary.replace(target)
        if not is_locked:
            temporary.replace(target)
        _sync_folder(target.parent)
    except BaseException as error:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename in (None, str(temporary), str(target.parent)):
            error.filename = path
        raise


def _create_temporary(folder: Path) -> tuple[Path, BinaryIO, bool]:
    """A new file, opened, and true if it is locked. The core's temporary files are named and locked in the same way."""
    while True:
        path = folder / f".lexmill-{os.getpid()}-{secrets.token_hex(8)}.tmp"
        # "x" creates with the modes that the user's umask allows, unlike the tempfile module.
        stream = path.open("xb")
        is_locked = _lock(stream)
        # Another writer may have taken it for litter before it was locked.
        if path.exists():
            return path, stream, is_locked
        stream.close()


def _lock(stream: BinaryIO) -> bool:
    """Locks a file until it is closed; false if another process has the lock, or files have none."""
    try:
        import fcntl

        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):
        return False
    return True


def _remove_litter(folder: Path) -> None:
    """Removes the temporary files of a folder whose writers have ended, as far as they can be removed."""
    with contextlib.suppress(OSError):
        for path in folder.iterdir():
            if _TEMPORARY.fullmatch(path.name) and path.is_file() and not path.is_symlink():
                # While the lock is held, so that nobody begins to write to the file.
                with contextlib.suppress(OSError), path.open("r+b") as stream:
                    if _lock(stream):
                        path.unlink()


def _sync_folder(folder: Path) -> None:
    """Makes a rename last through a power cut, where folders can be read and synced."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = None
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EACCES, errno.EPERM, errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        if descriptor is not None:
            os.close(descriptor)


def to_disk(stream: BinaryIO) -> None:
    """Flushes a stream; the bytes of a regular file reach the disk, so that a full disk is an error here."""
    stream.flush()
    if stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
        os.fsync(stream.fileno())
