"""A folder of a store that files are written to. A call that fails for a while is made again."""

from __future__ import annotations

import errno
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path

from lexmill._data.remote import Status, seen
from lexmill._data.stores import info_of, is_web, store_of, tried
from lexmill.errors import FileError, RemotePathError

__all__ = ["StoreFolder"]

_REMOVERS = 16
"""Threads that remove files: each removal is a request of its own."""


class StoreFolder:
    """The files below a URL.

    Attributes:
        url: the URL, without a slash at its end.
    """

    def __init__(self, url: str) -> None:
        """Asks the store for nothing yet.

        Raises:
            LexmillError: a package is not installed.
            RemotePathError: no store has such URLs, or it takes no files.
        """
        if is_web(url):
            message = f"{url} is an address of the web, where no files are written; choose a store such as s3://"
            raise RemotePathError(message)
        if url.lower().startswith(("file:", "local:")):
            message = f"{url} is a URL of this machine; pass the path"
            raise RemotePathError(message)
        self.url = url.rstrip("/")
        self._store, self._path = store_of(self.url)

    def listed(self) -> dict[str, Status]:
        """All files by their names from the folder on; a file in the place of the folder has an empty name.

        Raises:
            FileError: the store refuses the list, or fails each time.
        """
        try:
            found = tried(self.url, partial(self._store.find, self._path, detail=True))
        except FileError as error:
            if error.errno != errno.ENOENT:
                raise
            return {}
        start = len(self._path.rstrip("/"))
        names = {name: name[start:].strip("/") for name in found}
        # Stores of objects keep empty ones with the names of folders.
        files = {
            names[name]: info
            for name, info in found.items()
            if info["type"] != "directory" and not (name.endswith("/") or (info["size"] == 0 and not names[name]))
        }
        return {name: seen(self.at(name), info) for name, info in files.items()}

    def at(self, name: str) -> str:
        """The URL of a file."""
        return f"{self.url}/{name}" if name else self.url

    def read(self, name: str) -> bytes:
        """The bytes of a small file.

        Raises:
            FileError: there is no such file, the store refuses it, or fails each time.
        """
        return bytes(tried(self.at(name), partial(self._store.cat_file, f"{self._path}/{name}")))

    def write(self, name: str, data: bytes) -> None:
        """Puts a small file in the place of the one before.

        Raises:
            FileError: the store refuses it, or fails each time.
        """
        tried(self.at(name), partial(self._store.pipe_file, f"{self._path}/{name}", data), "write")

    def upload(self, name: str, path: Path) -> Status:
        """Puts a copy of a local file in the place of the one before; answers the status of the copy.

        Raises:
            FileError: the store refuses it, or fails each time; or the local file cannot be read.
        """
        url = self.at(name)

        def upload() -> Status:
            size = path.stat().st_size
            self._store.put_file(str(path), f"{self._path}/{name}")
            stored = seen(url, info_of(url))
            if stored.size != size:
                message = f"the store has {stored.size} of {size} bytes"
                raise OSError(message)
            return stored

        return tried(url, upload, "write")

    def remove(self, names: Iterable[str]) -> None:
        """Removes files; a file that is not there is removed already.

        Raises:
            FileError: the store refuses it, or fails each time.
        """

        def remove(name: str) -> None:
            with suppress(FileNotFoundError):
                self._store.rm_file(f"{self._path}/{name}")

        with ThreadPoolExecutor(_REMOVERS) as removers:
            # The list asks for the results, and so for the errors.
            list(removers.map(lambda name: tried(self.at(name), partial(remove, name), "remove"), names))
