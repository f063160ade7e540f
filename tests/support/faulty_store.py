"""A file system of fsspec in memory, `faulty://`, whose answers fail as the answers of stores do."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import fsspec
from fsspec.implementations.memory import MemoryFileSystem


class StatusError(Exception):
    """An answer of a server, as the clients of stores raise it."""

    def __init__(self, status: int) -> None:
        super().__init__(f"status {status}")
        self.status = status


class FaultyFileSystem(MemoryFileSystem):
    """Files in memory, each with its count of writes as an entity tag.

    Attributes:
        faults: the effect on the next calls of `cat_file`: a number is a status, `cut` half of the bytes, `none` no
            bytes, `whole` the whole file, `reset` a lost connection, `hang` no answer before `release` is set, and
            `change` another file with the next bytes.
        write_faults: the effect on the next calls that write or remove: a number is a status, `cut` half of the bytes
            and a lost connection, `short` half of the bytes without an error, `reset` a lost connection, `stored` a
            connection that is lost once the file is stored, and an exception is raised.
        asked: the ranges asked for.
        written: the files written, in order.
        infos: how many times the status of a file was asked for.
    """

    protocol: ClassVar[str] = "faulty"
    root_marker: ClassVar[str] = "/"
    store: ClassVar[dict[str, Any]] = {}
    pseudo_dirs: ClassVar[list[str]] = [""]
    faults: ClassVar[list[str | int]] = []
    write_faults: ClassVar[list[str | int | BaseException | None]] = []
    written: ClassVar[list[str]] = []
    asked: ClassVar[list[tuple[int, int]]] = []
    infos: ClassVar[list[str]] = []
    tags: ClassVar[dict[str, int]] = {}
    release: ClassVar[threading.Event] = threading.Event()
    lock: ClassVar[threading.Lock] = threading.Lock()

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        return "/" + path.removeprefix("faulty://").strip("/") if path.strip("/") else ""

    def pipe_file(self, path: str, value: bytes, mode: str = "overwrite", **options: Any) -> None:
        fault = self._write_fault()
        half = value[: len(value) // 2]
        super().pipe_file(path, half if fault in ("cut", "short") else value, mode=mode, **options)
        name = self._strip_protocol(path)
        with self.lock:
            self.written.append(name)
            self.tags[name] = self.tags.get(name, 0) + 1
        if fault in ("cut", "stored"):
            raise ConnectionResetError("connection lost")

    def put_file(self, lpath: str, rpath: str, callback: Any = None, mode: str = "overwrite", **options: Any) -> None:
        self.pipe_file(rpath, Path(lpath).read_bytes(), mode, **options)

    def rm_file(self, path: str) -> None:
        self._write_fault()
        super().rm_file(path)

    def _write_fault(self) -> str | int | None:
        with self.lock:
            fault = self.write_faults.pop(0) if self.write_faults else None
        if isinstance(fault, int):
            raise StatusError(fault)
        if isinstance(fault, BaseException):
            raise fault
        if fault == "reset":
            raise ConnectionResetError("connection lost")
        return fault

    def info(self, path: str, **options: Any) -> dict[str, Any]:
        self.infos.append(path)
        return self._tagged(super().info(path, **options))

    def find(self, path: str, *, detail: bool = False, **options: Any) -> Any:
        found = super().find(path, detail=True, **options)
        return {name: self._tagged(one) for name, one in found.items()} if detail else list(found)

    def _tagged(self, info: dict[str, Any]) -> dict[str, Any]:
        tag = self.tags.get(self._strip_protocol(info["name"]))
        return {**info, "ETag": f'"{tag}"'} if tag else info

    def cat_file(self, path: str, start: int | None = None, end: int | None = None, **options: Any) -> bytes:
        with self.lock:
            fault = self.faults.pop(0) if self.faults else ""
            self.asked.append((start or 0, end or 0))
        if isinstance(fault, int):
            raise StatusError(fault)
        if fault == "reset":
            raise ConnectionResetError("connection lost")
        if fault == "hang":
            self.release.wait(20)
        if fault == "change":
            self.pipe_file(path, bytes(reversed(super().cat_file(path))))
        found = super().cat_file(path, start=start, end=end, **options)
        if fault == "whole":
            return super().cat_file(path)
        return {"cut": found[: max(1, len(found) // 2)], "none": b""}.get(fault, found)


@contextmanager
def faulty_store() -> Iterator[FaultyFileSystem]:
    """The file system, empty. Its threads end with it."""
    others = set(threading.enumerate())
    fsspec.register_implementation("faulty", FaultyFileSystem, clobber=True)
    kept = (FaultyFileSystem.store, FaultyFileSystem.faults, FaultyFileSystem.asked, FaultyFileSystem.tags)
    for one in (*kept, FaultyFileSystem.infos, FaultyFileSystem.write_faults, FaultyFileSystem.written):
        one.clear()
    FaultyFileSystem.pseudo_dirs[:] = [""]
    FaultyFileSystem.release.clear()
    try:
        yield fsspec.filesystem("faulty", use_listings_cache=False)
    finally:
        FaultyFileSystem.release.set()
        # They would take the faults of the next test.
        for thread in set(threading.enumerate()) - others:
            # A thread of the core that called Python cannot be waited for, and ends with its call.
            if not isinstance(thread, threading._DummyThread):
                thread.join(20)
