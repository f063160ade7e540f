"""Texts from a store on this machine beside the same file from the disk: wall time, and processor time of the client.

    python benches/remote.py --megabytes 2000

The store is another process, which answers the requests of S3's and the web's clients with ranges of files, by
`sendfile`. It takes the processors of the client, so wall time says little about a store elsewhere: processor time of
the client is told apart from its own. Each job runs in a fresh process, by turns from the disk and from the store, and
the results must be equal. Of the client, the thread that speaks HTTP and the threads that wait for blocks are told
apart from the rest, which is lexmill's work.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent / "large"))
from generate import generate

JOBS = ("lines", "count", "tokenize")
PLACES = ("disk", "web", "s3")


class Store(BaseHTTPRequestHandler):
    """Answers with ranges of the files of a folder; the first part of a path is a bucket."""

    protocol_version = "HTTP/1.1"
    folder: Path

    def log_message(self, *_: Any) -> None:
        """Says nothing."""

    def do_HEAD(self) -> None:
        self._answer(has_body=False)

    def do_GET(self) -> None:
        self._answer(has_body=True)

    def _answer(self, *, has_body: bool) -> None:
        path = self.folder / self.path.partition("?")[0].rpartition("/")[2]
        if not path.is_file():
            self.send_error(404)
            return
        size = path.stat().st_size
        start, end = 0, size
        asked = self.headers.get("Range")
        if asked:
            first, _, last = asked.removeprefix("bytes=").partition("-")
            start, end = int(first), min(int(last or size - 1) + 1, size)
        self.send_response(206 if asked else 200)
        headers = {
            "Content-Length": end - start,
            "Content-Range": f"bytes {start}-{end - 1}/{size}" if asked else None,
            "Accept-Ranges": "bytes",
            "ETag": f'"{size}"',
            "Last-Modified": "Fri, 27 Nov 2026 00:00:00 GMT",
        }
        for name, value in headers.items():
            if value is not None:
                self.send_header(name, str(value))
        self.end_headers()
        self.wfile.flush()
        if has_body:
            with path.open("rb") as file:
                while start < end:
                    start += os.sendfile(self.connection.fileno(), file.fileno(), start, end - start)


def serve(folder: Path) -> None:
    """Serves a folder; prints the port, and at the end of the input the seconds of processor time."""
    Store.folder = folder
    server = ThreadingHTTPServer(("127.0.0.1", 0), Store)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_address[1], flush=True)
    for _ in sys.stdin:
        print(processor_seconds(), flush=True)


def processor_seconds() -> float:
    """Processor time of this process, of the system on its behalf included."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def work(job: str, path: str, tokenizer: Path, threads: int) -> dict[str, Any]:
    """Does a job in this process; returns its result and times in seconds."""
    from lexmill import Tokenizer, count_words, tokenize_files
    from lexmill._data import remote
    from lexmill.sources import Lines

    waiting: list[float] = []
    fetch = remote.RemoteFile._fetch

    def timed(self: remote.RemoteFile, *given: Any) -> None:
        fetch(self, *given)
        waiting.append(time.thread_time())

    remote.RemoteFile._fetch = timed  # type: ignore[method-assign]
    known = Tokenizer.from_file(tokenizer)
    is_store = "://" in path
    if is_store:
        # Clients are loaded, and have connected, before the clock starts.
        remote.first_bytes(path, 1)
    before, http_before, started = processor_seconds(), http_seconds() if is_store else 0.0, time.perf_counter()
    result: object
    if job == "lines":
        result = sum(map(len, Lines(path)))
    elif job == "count":
        result = len(count_words(path, num_threads=threads))
    else:
        with tempfile.TemporaryDirectory() as out:
            result = tokenize_files(known, Lines(path), Path(out, "tokens"), num_threads=threads).tokens
    return {
        "result": result,
        "wall": time.perf_counter() - started,
        "processor": processor_seconds() - before,
        "http": http_seconds() - http_before if is_store else 0.0,
        "waiting": sum(waiting),
    }


def http_seconds() -> float:
    """Processor time of the thread in which fsspec's clients speak HTTP."""
    from fsspec.asyn import get_loop, sync

    async def now() -> float:
        return time.thread_time()

    return float(sync(get_loop(), now))


def measured(arguments: argparse.Namespace, job: str, place: str, folder: Path) -> dict[str, Any]:
    """Runs a job in a fresh process beside a fresh store."""
    command = [sys.executable, __file__]
    with subprocess.Popen(
        [*command, "--serve", str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        address = f"http://127.0.0.1:{server.stdout.readline().strip()}"
        path = {"disk": f"{folder}/corpus.txt", "web": f"{address}/corpus.txt", "s3": "s3://bucket/corpus.txt"}[place]
        settings = {
            "AWS_ENDPOINT_URL": address,
            "AWS_ACCESS_KEY_ID": "key",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_DEFAULT_REGION": "us-east-1",
        }
        given = ["--work", job, path, "--tokenizer", str(arguments.tokenizer), "--threads", str(arguments.threads)]
        done = subprocess.run(
            [*command, *given], env={**os.environ, **settings}, capture_output=True, text=True, check=False
        )
        if done.returncode:
            server.kill()
            raise SystemExit(f"{job} from {place}: {done.stderr}")
        print("time", file=server.stdin, flush=True)
        seconds = float(server.stdout.readline())
        server.stdin.close()
    found: dict[str, Any] = json.loads(done.stdout)
    return {**found, "server": seconds}


def main() -> None:
    """Measures all jobs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--jobs", nargs="+", choices=JOBS, default=JOBS)
    parser.add_argument("--places", nargs="+", choices=PLACES, default=PLACES)
    parser.add_argument("--data", type=Path, default=Path("../shared/data/corpora"))
    parser.add_argument("--tokenizer", type=Path, default=Path("../shared/data/tokenizers/gpt2/tokenizer.json"))
    parser.add_argument("--folder", type=Path, help="where the corpus goes; by default a temporary folder")
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--work", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        serve(arguments.serve)
        return
    if arguments.work:
        print(json.dumps(work(*arguments.work, arguments.tokenizer, arguments.threads)))
        return
    with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
        folder = Path(name)
        generate(folder / "corpus.txt", arguments.megabytes * 10**6, arguments.seed, arguments.data)
        megabytes = (folder / "corpus.txt").stat().st_size / 1e6
        print("job       place  wall s  client s  http s  fetch s  server s    MB/s  rate  client rate")
        for job in arguments.jobs:
            rounds: dict[str, list[dict[str, Any]]] = {place: [] for place in arguments.places}
            for _ in range(arguments.rounds):
                for place in arguments.places:
                    rounds[place].append(measured(arguments, job, place, folder))
            if len({one["result"] for found in rounds.values() for one in found}) != 1:
                raise SystemExit(f"{job}: results differ")
            medians = {
                place: {
                    name: statistics.median(one[name] for one in found)
                    for name in ("wall", "processor", "http", "waiting", "server")
                }
                for place, found in rounds.items()
            }
            for place, found in medians.items():
                disk = medians.get("disk", found)
                numbers = [found[name] for name in ("wall", "processor", "http", "waiting", "server")]
                shown = "  ".join(
                    f"{number:{width}.2f}" for number, width in zip(numbers, (6, 8, 6, 7, 8), strict=True)
                )
                rates = f"{disk['wall'] / found['wall']:4.2f}  {disk['processor'] / found['processor']:11.2f}"
                print(f"{job:8}  {place:5}  {shown}  {megabytes / found['wall']:6.0f}  {rates}", flush=True)


if __name__ == "__main__":
    main()
