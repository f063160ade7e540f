"""Sources that kill the process which reads them, or log who opens them; worker processes import them from here."""

from __future__ import annotations

import os
import signal
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path

from lexmill._core import FileSource
from lexmill.sources import Lines


@dataclass(frozen=True)
class KilledOnce(Lines):
    """Lines, of which the first worker that opens any reads the first half and is killed.

    The worker reads from a pipe that takes 64 KiB ahead of it, and is killed when so much has been written to the pipe:
    in the middle of its work, whatever the speed of the machine.
    """

    marker: str = ""

    def _open(self) -> FileSource:
        try:
            Path(self.marker).touch(exist_ok=False)
        except FileExistsError:
            return super()._open()
        pipe = Path(tempfile.mkdtemp()) / "pipe"
        os.mkfifo(pipe)
        threading.Thread(target=_feed_and_kill, args=(Path(self.paths[0]), pipe), daemon=True).start()
        return FileSource([str(pipe)], errors=self.errors)


def _feed_and_kill(source: Path, pipe: Path) -> None:
    data = source.read_bytes()
    with pipe.open("wb") as file:
        file.write(data[: len(data) // 2])
        file.flush()
        pipe.unlink()
        pipe.parent.rmdir()
        os.kill(os.getpid(), signal.SIGKILL)


@dataclass(frozen=True)
class Logged(Lines):
    """Lines that log each time they are opened."""

    log: str = ""

    def _open(self) -> FileSource:
        with Path(self.log).open("a", encoding="utf-8") as file:
            file.write(f"{self.paths[0]}\n")
        return super()._open()
