"""Files of stores by their URLs, read in blocks, some of them ahead."""

from __future__ import annotations

import base64
import errno
import os
import threading
from concurrent.futures import Future, InvalidStateError, wait
from contextlib import suppress
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from functools import partial
from typing import Any, NamedTuple

from lexmill._core import is_same_version
from lexmill._data.stores import file_error, info_of, store_of, tried
from lexmill.errors import FileError, FormatError

__all__ = ["RemoteFile", "Status", "first_bytes", "seen", "status"]

_BLOCK = 1 << 23
"""Bytes that are asked for at a time."""

_AHEAD = 4
"""Blocks that are asked for before they are wanted, once several were read one after the other."""

_PATIENCE = 60.0
"""Seconds that a block may take before it is asked for once more."""

_REQUESTS = 6
"""Requests of a block that is slow, at most."""

_LISTED = 1 << 16
"""Files whose status is remembered, about so many."""

_MARKS = {
    "etag": ("ETag", "etag"),
    "generation": ("generation",),
    "blob": ("blob_id",),
    "md5": ("md5Hash", "content_md5", "Content-MD5"),
    "modified": ("LastModified", "Last-Modified", "last_modified", "updated", "mtime"),
}
"""Marks of a file's contents from the surest on, each with its names in the answers of stores."""


class Status(NamedTuple):
    """Size and version of a file.

    Attributes:
        size: its bytes.
        version: the store's marks of its contents, such as `etag abc; modified 1795790400`; None if there are none.
    """

    size: int
    version: str | None


_known: dict[str, Status] = {}
"""Files as they were last listed or looked up, so that a folder of many files takes one question."""


def status(url: str, is_now: bool) -> Status:
    """The status of a file, as it is now or as it was last seen.

    Raises:
        FileError: there is no such file, or the store gives no answer.
    """
    found = None if is_now else _known.get(url)
    return found or seen(url, info_of(url))


def first_bytes(url: str, count: int) -> bytes:
    """The first bytes of a file."""
    store, path = store_of(url)
    size = status(url, is_now=False).size
    return bytes(tried(url, partial(store.cat_file, path, start=0, end=min(count, size)))[:count]) if size else b""


class RemoteFile:
    """A file that is read in blocks, as it was when it was opened.

    Blocks are fetched by threads that end with them. Memory holds the block that is read, the one before it and
    `_AHEAD` after it.

    Attributes:
        size: bytes of the file.
    """

    def __init__(self, url: str) -> None:
        """Looks the file up.

        Raises:
            FileError: there is no such file, the store gives no answer, or sends only whole files.
        """
        self._url = url
        self._store, self._path = store_of(url)
        info = info_of(url)
        self._status = seen(url, info)
        self.size = self._status.size
        if info.get("partial") is False and self.size > _BLOCK:
            message = f"cannot read {url}: the server sends no parts of files; download it"
            raise file_error(message, errno.EOPNOTSUPP, url)
        self._lock = threading.Lock()
        self._blocks: dict[int, Future[bytes]] = {}
        # The last block that was asked for, and how many before it were asked for in order.
        self._last, self._run = -1, 0

    def block(self, at: int) -> tuple[int, bytes]:
        """The block in which byte `at` lies, and the byte that it begins with.

        Raises:
            FileError: the store does not give it after all tries.
            FormatError: the file was modified.
        """
        number = at // _BLOCK
        with self._lock:
            future = self._planned(number)
        for _ in range(_REQUESTS):
            if wait([future], _PATIENCE).done:
                break
            # The first answer counts, whichever request it is to.
            self._begin(number, future)
        else:
            message = f"cannot read {self._url}: no answer in {_REQUESTS * _PATIENCE:.0f} seconds"
            raise file_error(message, errno.ETIMEDOUT, self._url)
        return number * _BLOCK, future.result()

    def check_unchanged(self) -> None:
        """Compares the file with its status when it was opened.

        Raises:
            FormatError: it has another size or version.
            FileError: there is no such file any more, or the store gives no answer.
        """
        now = status(self._url, is_now=True)
        if now.size != self.size or not is_same_version(self._status.version, now.version):
            message = f"{self._url}: the file was modified while it was read"
            raise FormatError(message)

    def _planned(self, number: int) -> Future[bytes]:
        """The block, on its way if it is not there, with some blocks after it; forgets the others."""
        if number != self._last:
            self._run = self._run + 1 if number == self._last + 1 else 0
            self._last = number
        ahead = min(_AHEAD, 1 << self._run) if self._run else 0
        wanted = range(number, min(number + ahead, (self.size - 1) // _BLOCK) + 1)
        self._blocks = {
            known: future for known, future in self._blocks.items() if number - 1 <= known <= number + _AHEAD
        }
        for new in wanted:
            if new not in self._blocks:
                self._blocks[new] = Future()
                self._begin(new, self._blocks[new])
        return self._blocks[number]

    def _begin(self, number: int, future: Future[bytes]) -> None:
        # Such a thread does not keep the process from ending, however long a store takes.
        thread = threading.Thread(target=self._fetch, args=(number, future), daemon=True)
        try:
            thread.start()
        except RuntimeError:
            # The system gives no more threads.
            self._fetch(number, future)

    def _fetch(self, number: int, future: Future[bytes]) -> None:
        start = number * _BLOCK
        with suppress(InvalidStateError):
            try:
                future.set_result(self._range(start, min(start + _BLOCK, self.size)))
            except InvalidStateError:
                raise
            except BaseException as error:
                # It is raised where the block is wanted.
                future.set_exception(error)

    def _range(self, start: int, end: int) -> bytes:
        """These bytes. A store may give some of them, after which the others are asked for."""
        parts: list[bytes] = []
        while start < end:
            try:
                part = tried(self._url, partial(self._part, start, end))
            except FileError:
                # A file that became shorter has no such bytes.
                self.check_unchanged()
                raise
            parts.append(part)
            start += len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _part(self, start: int, end: int) -> bytes:
        part = bytes(self._store.cat_file(self._path, start=start, end=end))
        if len(part) > end - start:
            message = f"cannot read {self._url}: the server sends more bytes than it is asked for; download the file"
            raise file_error(message, errno.EOPNOTSUPP, self._url)
        if not part:
            message = f"there are no bytes from {start} to {end}"
            raise OSError(message)
        return part


def seen(url: str, info: dict[str, Any]) -> Status:
    """The status that an answer of the store tells, which is remembered."""
    if info["type"] == "directory":
        raise file_error(f"cannot open {url}: {os.strerror(errno.EISDIR)}", errno.EISDIR, url)
    if info.get("size") is None:
        raise file_error(f"cannot read {url}: the server does not tell its size; download it", errno.EOPNOTSUPP, url)
    found = Status(int(info["size"]), _version(info))
    if len(_known) >= _LISTED:
        _known.clear()
    _known[url] = found
    return found


def _version(info: dict[str, Any]) -> str | None:
    """The marks of a file in the form that they have in all answers of a store."""
    marks: list[str] = []
    for mark, names in _MARKS.items():
        if value := next((info[name] for name in names if info.get(name)), None):
            text = _seconds(value) if mark == "modified" else _text(value)
            marks.append(f"{mark} {text.replace(';', ',')}")
    return "; ".join(marks) or None


def _text(value: object) -> str:
    if isinstance(value, bytes | bytearray):
        return base64.b64encode(value).decode()
    # A weak entity tag is the same one, sent for a compressed answer.
    return str(value).removeprefix("W/").strip('"')


def _seconds(value: object) -> str:
    """A time in whole seconds since 1970: some answers of a store have fractions and some have none."""
    if isinstance(value, str):
        # Python 3.10 does not know the Z of UTC.
        text = value.replace("Z", "+00:00")
        for parsed in (datetime.fromisoformat, parsedate_to_datetime):
            with suppress(ValueError):
                value = parsed(text)
                break
    if isinstance(value, datetime):
        value = (value if value.tzinfo else value.replace(tzinfo=timezone.utc)).timestamp()
    return str(int(value)) if isinstance(value, int | float) else str(value)
