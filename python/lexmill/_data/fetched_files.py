"""Token files of a store, each fetched whole to a folder of this machine when it is first wanted."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import tempfile
import weakref
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from lexmill._core import local_path, read_token_manifest
from lexmill._data.remote import RemoteFile
from lexmill._data.whole_file import whole_file
from lexmill.errors import FileError, LexmillError, OutputError

__all__ = ["MANIFESTS", "FetchedFiles", "entries_of", "fetched_manifest", "is_as_written"]

MANIFESTS = ("manifest.json", ".manifest.parquet")
"""The names of a manifest, in most formats and in `parquet`."""


class FetchedFiles:
    """The files of a finished run below a URL.

    Attributes:
        url: the URL.
        cache: the folder of this machine that was asked for; None for one that lasts as long as the object.
        folder: the folder in the cache with the files of this run. Each run at a URL has a folder of its own.
        manifest: the manifest.
    """

    def __init__(self, url: str, cache: str | None) -> None:
        """Fetches the manifest.

        Raises:
            OutputError: the store has no token files there.
            FileError: the store refuses a call, or fails each time; or the folder cannot be written to.
        """
        self.url, self.cache = url.rstrip("/"), cache
        try:
            above = Path(tempfile.mkdtemp(prefix="lexmill-") if cache is None else local_path(cache)).absolute()
            if cache is None:
                weakref.finalize(self, _remove, above, os.getpid())
            above.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix=".manifest-", dir=above) as scratch:
                self.manifest = self._fetched(Path(scratch))
        except LexmillError:
            raise
        except OSError as error:
            message = f"cannot keep copies of the files of {url}: {error.strerror}"
            raise FileError(error.errno, message, error.filename) from error
        self._entries = entries_of(self.manifest)
        text = json.dumps(self.manifest, sort_keys=True)
        self.folder = above / hashlib.sha256(f"{self.url}\n{text}".encode()).hexdigest()[:16]

    def _fetched(self, scratch: Path) -> dict[str, Any]:
        """The manifest, whichever name it has."""
        for name in MANIFESTS:
            try:
                found = fetched_manifest(f"{self.url}/{name}", scratch / name)
            except FileError as error:
                if error.errno != errno.ENOENT:
                    raise
                continue
            if found is not None:
                return found
        message = f"{self.url}: it holds no token files of this version, or its run is not finished"
        raise OutputError(message)

    def ready(self, paths: Iterable[Path]) -> None:
        """Fetches the files that are not in the folder yet.

        Raises:
            OutputError: a stored file is not as it was written.
            FileError: there is no such file, the store refuses it, or fails each time; or the disk is full.
        """
        for path in paths:
            name = path.relative_to(self.folder).as_posix()
            entry = self._entries[name]
            if not path.is_file() or path.stat().st_size != entry["bytes"]:
                _fetch(f"{self.url}/{name}", path, entry)


def _remove(folder: Path, process: int) -> None:
    """Removes a temporary folder, unless a forked process has a copy of the object that it belongs to."""
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


def entries_of(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """All files of a manifest by their names, each with its size and its checksum."""
    files = dict(manifest["files"])
    for part in manifest["parts"]:
        files |= part["files"]
    return files


def fetched_manifest(url: str, path: Path) -> dict[str, Any] | None:
    """The manifest at a URL, by way of a local file of the same name; None if the file is no manifest.

    Raises:
        OutputError: the manifest names a file that is not below the folder.
        FileError: there is no such file, the store refuses it, or fails each time.
    """
    _fetch(url, path)
    try:
        manifest = json.loads(read_token_manifest(path.parent) or "null")
        if manifest["format_version"] != 1:
            return None
        names = list(entries_of(manifest))
    except (ValueError, KeyError, TypeError, RecursionError, OutputError):
        return None
    # Others may write to a store, so the names in its manifest must not lead out of the folder.
    outside = next((name for name in names if not is_below(name)), None)
    if outside is not None:
        message = f"{url}: it names {outside!r}, which is no file below its folder; do not use files of this store"
        raise OutputError(message)
    return dict(manifest)


def is_below(name: str) -> bool:
    """True if a name leads to a file below a folder, on any system."""
    parts = name.replace("\\", "/").split("/")
    return ":" not in name and not {"", ".", ".."} & set(parts)


class _OtherBytes(Exception):
    """The bytes differ from the manifest. Not an `OSError`, since `whole_file` adds the copy's path to these."""


def _copy(opened: RemoteFile, file: BinaryIO | None, entry: Mapping[str, Any] | None) -> None:
    """Reads the bytes of a stored file, into a copy if there is to be one.

    Raises:
        _OtherBytes: the entry has another size or another checksum.
        FileError: the store refuses the file, or fails each time.
    """
    at, crc = 0, 0
    while at < opened.size:
        _, block = opened.block(at)
        if file is not None:
            file.write(block)
        at, crc = at + len(block), zlib.crc32(block, crc)
    if entry is not None and (at, f"{crc:08x}") != (entry["bytes"], entry["crc32"]):
        raise _OtherBytes


def is_as_written(url: str, entry: Mapping[str, Any]) -> bool:
    """True if a stored file has the size and the checksum of its entry in the manifest.

    Raises:
        FileError: there is no such file, the store refuses it, or fails each time.
        FormatError: it is modified while it is read.
    """
    try:
        _copy(RemoteFile(url), None, entry)
    except _OtherBytes:
        return False
    return True


def _fetch(url: str, path: Path, entry: Mapping[str, Any] | None = None) -> None:
    """Copies a stored file, and compares it with its entry in the manifest.

    Raises:
        OutputError: it is not as it was written.
        FileError: there is no such file, the store refuses it, or fails each time; or the disk is full.
    """
    opened = RemoteFile(url)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(str(path)) as file:
            _copy(opened, file, entry)
    except _OtherBytes:
        message = f"{url}: it is not as it was written"
        raise OutputError(message) from None
    except OSError as error:
        if isinstance(error, FileError):
            raise
        raise FileError(error.errno, f"cannot keep a copy of {url}: {error.strerror}", str(path)) from error
