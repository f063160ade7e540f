"""Two processes that write to one folder of a store: the second one runs at a chosen request of the first one."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from faulty_store import FaultyFileSystem

REQUESTS = ("pipe_file", "cat_file", "find", "rm_file")


class Interrupted:
    """The requests of a process, of which one waits until another process has run.

    Attributes:
        at: the number of the request that waits.
        requests: the requests so far, each with the name of its file.
        error: the error that the other process ended with, if any.
    """

    def __init__(self, at: int, other: Callable[[], Any]) -> None:
        self.requests: list[tuple[str, str]] = []
        self.error: Exception | None = None
        self.at, self._other, self._is_inside = at, other, False
        self._lock = threading.Lock()

    def before(self, request: str, name: str) -> None:
        with self._lock:
            if self._is_inside:
                return
            self.requests.append((request, name))
            if len(self.requests) - 1 != self.at:
                return
            self._is_inside = True
        try:
            self._other()
        except Exception as error:
            self.error = error
        finally:
            self._is_inside = False


@contextmanager
def interrupted(at: int, place: Path, other: Callable[[], Any]) -> Iterator[Interrupted]:
    """Runs another process, on another machine, before request number `at` of the block."""

    def elsewhere() -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(tempfile, "tempdir", str(place))
            other()

    found = Interrupted(at, elsewhere)
    with pytest.MonkeyPatch.context() as patch:
        for name in REQUESTS:
            request = getattr(FaultyFileSystem, name)

            def call(
                self: FaultyFileSystem,
                path: str,
                *args: Any,
                _name: str = name,
                _request: Any = request,
                **options: Any,
            ) -> Any:
                found.before(_name, self._strip_protocol(path))
                return _request(self, path, *args, **options)

            patch.setattr(FaultyFileSystem, name, call)
        yield found
