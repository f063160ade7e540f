"""Files in and out: inputs checked before the work, outputs that appear whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
from collections.abc import Iterator, Sequence
from io import BufferedIOBase
from pathlib import Path
from typing import BinaryIO, cast

from lexmill._core import binary_start, is_url, local_path
from lexmill._data import remote
from lexmill._data.whole_file import whole_file
from lexmill.cli.outcome import UsageError
from lexmill.errors import FileError, FormatError, InvalidUtf8Error

__all__ = ["STANDARD", "LineBatches", "check_inputs", "check_output", "is_stream", "read_stream", "write_whole"]

# Stands for stdin among inputs and for stdout as an output.
STANDARD = "-"
# How much is read at a time.
_BLOCK = 1 << 20


def check_inputs(paths: Sequence[str], *, are_texts: bool = False) -> int:
    """Makes sure that files can be read, before any of them is; answers their bytes. Texts may have URLs.

    Raises:
        UsageError: stdin is named twice, or a name is empty.
        FileError: one is missing, a directory, or must not be read.
        RemotePathError: one is a URL, and they are no texts.
    """
    if paths.count(STANDARD) > 1:
        message = f"stdin ({STANDARD}) is named {paths.count(STANDARD)} times but can be read once"
        raise UsageError(message)
    return sum(_size_of_input(path, are_texts) for path in paths if path != STANDARD)


def _check_name(path: str) -> None:
    # It would be the folder that the command runs in.
    if not path:
        message = "the name of a file is empty"
        raise UsageError(message)


def _size_of_input(path: str, is_text: bool) -> int:
    _check_name(path)
    if not is_text:
        local_path(path)
    if is_url(path):
        return remote.status(path, is_now=False).size
    try:
        status = Path(path).stat()
    except (OSError, ValueError) as error:
        code = getattr(error, "errno", None) or errno.EINVAL
        raise FileError(code, os.strerror(code), path) from None
    if stat.S_ISDIR(status.st_mode):
        raise FileError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    if not os.access(path, os.R_OK):
        raise FileError(errno.EACCES, os.strerror(errno.EACCES), path)
    return status.st_size


def check_output(path: str, inputs: Sequence[str] = ()) -> None:
    """Makes sure, before the work, that `path` can be written and is not one of the inputs.

    Raises:
        UsageError: the output is an input too, or its name is empty.
        FileError: it is a directory, or its directory is missing or not writable.
        RemotePathError: it is a URL.
    """
    if path == STANDARD:
        return
    _check_name(path)
    local_path(path)
    target = Path(path)
    if target.is_dir():
        raise FileError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    if target.exists() and not target.is_file():
        return
    folder = target.resolve().parent
    if not folder.is_dir():
        raise FileError(errno.ENOENT, "no such directory", str(folder))
    if not os.access(folder, os.W_OK):
        raise FileError(errno.EACCES, os.strerror(errno.EACCES), path)
    for given in inputs:
        if given != STANDARD and not is_url(given) and target.is_file() and target.samefile(given):
            message = f"{path} is an input and the output"
            raise UsageError(message)


@contextlib.contextmanager
def write_whole(path: str) -> Iterator[BinaryIO]:
    """Opens an output that takes its place only when it is complete; `-` is stdout, which is written directly."""
    if path != STANDARD:
        with whole_file(path) as stream:
            yield stream
        return
    sys.stdout.flush()
    # With PYTHONUNBUFFERED set, sys.stdout.buffer is a bare file, whose write() may stop half way.
    with open(sys.stdout.fileno(), "wb", closefd=False) as standard:
        yield standard


def is_stream(path: str) -> bool:
    """True if an input can be read only once and does not tell its size: stdin, or a pipe by name."""
    return path == STANDARD or not (is_url(path) or Path(path).is_file())


def read_stream(path: str, errors: str) -> tuple[str, int]:
    """The text of an input, and how many bytes it was.

    Raises:
        InvalidUtf8Error: it is not UTF-8 and `errors` is `strict`.
    """
    with _open(path) as stream:
        data = stream.read()
    _check_text(data, _name(path))
    return _decode(data, _name(path), errors), len(data)


def _open(path: str) -> BufferedIOBase:
    # typeshed calls stdin's buffer a BinaryIO, which has no read1.
    return cast("BufferedIOBase", sys.stdin.buffer if path == STANDARD else Path(path).open("rb"))


def _name(path: str) -> str:
    return "stdin" if path == STANDARD else path


def _check_text(data: bytes, origin: str) -> None:
    """Refuses a stream that begins with the bytes of another format.

    Raises:
        FormatError: the format.
    """
    kind = binary_start(data[:512])
    if kind is not None:
        message = f"{origin} {kind}; pass plain text, or name the file"
        raise FormatError(message)


def _decode(data: bytes, origin: str, errors: str, start: int = 0) -> str:
    """Decodes bytes that begin at byte `start` of the input with the name `origin`.

    Raises:
        InvalidUtf8Error: they are not UTF-8 and `errors` is `strict`.
    """
    try:
        return data.decode("utf-8", errors)
    except UnicodeDecodeError as error:
        message = (
            f"{origin} is not valid UTF-8 at byte {start + error.start}; pass --errors replace to read it all the same"
        )
        raise InvalidUtf8Error(message) from None


class LineBatches:
    """Lists of lines with their ends, as training from files takes them; `-` is stdin.

    Iterating raises InvalidUtf8Error if an input is not UTF-8 and `errors` is `strict`, and FormatError if it is not
    text.

    Attributes:
        size: bytes read so far.
    """

    def __init__(self, path: str, errors: str) -> None:
        """Reads nothing yet."""
        self.size = 0
        self._path = path
        self._errors = errors

    def __iter__(self) -> Iterator[list[str]]:
        """Reads the input."""
        name = _name(self._path)
        with _open(self._path) as stream:
            for block in _blocks_of_lines(stream):
                if not self.size:
                    _check_text(block, name)
                text = _decode(block, name, self._errors, self.size)
                self.size += len(block)
                lines = [line + "\n" for line in text.split("\n")]
                last = lines.pop()[:-1]
                yield [*lines, last] if last else lines


def _blocks_of_lines(stream: BufferedIOBase) -> Iterator[bytes]:
    """Blocks that end with a line, the last one perhaps with an unfinished one."""
    rest: list[bytes] = []
    # One read a call, so that an interrupt is not held up until much has arrived.
    while block := stream.read1(_BLOCK):
        head, newline, tail = block.rpartition(b"\n")
        if newline:
            yield b"".join([*rest, head, newline])
            rest = []
        rest.append(tail)
    if any(rest):
        yield b"".join(rest)
