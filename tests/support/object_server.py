"""A web server for files in memory, which answers ranges and may fail; S3's clients read its files as well."""

from __future__ import annotations

import http.client
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import md5
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

# Seconds without an answer, to which clients are less patient.
_SLOW = 3.0


class ObjectServer(ThreadingHTTPServer):
    """A server on a free port.

    Attributes:
        files: their bytes by path, such as `/bucket/key`.
        faults: the effect on the next answers with a range: a number is a status, `cut` half of the bytes and the end
            of the connection, `slow` half of the bytes and a pause, `reset` the end of the connection.
        upload_faults: likewise of the next uploads: `cut` takes half of the bytes and ends the connection, `stored`
            ends it once the bytes are stored, `slow` pauses before it stores them.
        injected: how many faults there were.
        upstream: address of another server, to which all requests go that are no faults.
    """

    daemon_threads = True
    # Clients that give up are part of the tests.
    block_on_close = False

    def __init__(self, upstream: str | None = None) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.files: dict[str, bytes] = {}
        self.tags: dict[str, str] = {}
        self.faults: list[str | int] = []
        self.upload_faults: list[str | int | None] = []
        self.injected = 0
        self.upstream = upstream
        self.lock = threading.Lock()

    @property
    def address(self) -> str:
        """As `http://127.0.0.1:1234`."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def put(self, path: str, data: bytes) -> None:
        """Puts a file in the place of the one before."""
        self.files[path] = data
        self.tags[path] = f'"{md5(data, usedforsecurity=False).hexdigest()}"'

    def next_fault(self, faults: list[Any]) -> str | int | None:
        """Takes the next fault of a list."""
        with self.lock:
            fault: str | int | None = faults.pop(0) if faults else None
            self.injected += fault is not None
            return fault

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Says nothing: clients cut connections."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: ObjectServer

    def log_message(self, *_: Any) -> None:
        """Says nothing."""

    def do_HEAD(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def do_PUT(self) -> None:
        self._answer()

    do_POST = do_DELETE = do_PUT

    def _answer(self) -> None:
        fault: str | int | None = None
        if self.command == "GET" and self.headers.get("Range"):
            fault = self.server.next_fault(self.server.faults)
        elif self.command in ("PUT", "POST"):
            fault = self.server.next_fault(self.server.upload_faults)
        is_upload = self.command != "GET"
        if isinstance(fault, int):
            # Bytes that stay unread would begin the next request.
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self._send(fault, {}, b"")
        elif fault == "reset" or (is_upload and fault == "cut"):
            self.rfile.read(int(self.headers.get("Content-Length") or 0) // 2)
            self.close_connection = True
        elif is_upload and fault:
            time.sleep(_SLOW if fault == "slow" else 0)
            answer = self._forwarded()
            self.close_connection = fault == "stored"
            if fault == "slow":
                self._send(*answer)
        else:
            status, headers, body = self._forwarded() if self.server.upstream else self._found()
            self._send(status, headers, body, fault)

    def _send(self, status: int, headers: dict[str, str], body: bytes | memoryview, fault: str | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "HEAD":
            return
        if fault is None:
            self.wfile.write(body)
            return
        self.wfile.write(body[: len(body) // 2])
        self.wfile.flush()
        if fault == "slow":
            time.sleep(_SLOW)
            self.wfile.write(body[len(body) // 2 :])
        else:
            self.close_connection = True

    def _found(self) -> tuple[int, dict[str, str], bytes | memoryview]:
        path = self.path.partition("?")[0]
        data = self.server.files.get(path)
        if data is None:
            return 404, {}, b""
        headers = {
            "ETag": self.server.tags[path],
            "Accept-Ranges": "bytes",
            "Last-Modified": "Fri, 27 Nov 2026 00:00:00 GMT",
        }
        asked = self.headers.get("Range")
        if self.command == "HEAD":
            return 200, {**headers, "Content-Length": str(len(data))}, b""
        if asked is None:
            return 200, headers, data
        first, _, last = asked.removeprefix("bytes=").partition("-")
        start, end = int(first), min(int(last or len(data) - 1), len(data) - 1)
        if start >= len(data):
            return 416, headers, b""
        headers["Content-Range"] = f"bytes {start}-{end}/{len(data)}"
        return 206, headers, memoryview(data)[start : end + 1]

    def _forwarded(self) -> tuple[int, dict[str, str], bytes]:
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length) if length else None
        to = http.client.HTTPConnection(str(self.server.upstream).removeprefix("http://"), timeout=20)
        to.request(self.command, self.path, body, dict(self.headers.items()))
        answer = to.getresponse()
        read = answer.read()
        dropped = ("content-length", "transfer-encoding", "connection", "date", "server")
        headers = {name: value for name, value in answer.getheaders() if name.lower() not in dropped}
        if self.command == "HEAD":
            headers["Content-Length"] = answer.getheader("Content-Length", "0")
        return answer.status, headers, read


@contextmanager
def object_server(upstream: str | None = None) -> Iterator[ObjectServer]:
    """A server that runs meanwhile."""
    server = ObjectServer(upstream)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
