"""A progress bar with rate, memory and time left, on a terminal only."""

from __future__ import annotations

import sys
from collections.abc import Collection
from datetime import timedelta
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskID, TextColumn
from rich.text import Text

from lexmill.cli.display import megabytes

__all__ = ["ProgressBar"]


class _Amount(ProgressColumn):
    """The amount done, the total and the speed."""

    def render(self, task: Task) -> Text:
        total = task.total or 0
        if task.fields["in_bytes"]:
            done, whole = megabytes(task.completed), megabytes(total)
            rate = f"{megabytes(task.speed)}/s" if task.speed else ""
        else:
            done, whole = f"{task.completed:,.0f}", f"{total:,.0f}"
            rate = f"{task.speed:,.0f}/s" if task.speed else ""
        return Text(f"{done} of {whole} {rate}" if total else f"{done} {rate}")


class _Left(ProgressColumn):
    """The time left as the core estimates it, and the memory that the process takes."""

    def render(self, task: Task) -> Text:
        eta, rss = task.fields["eta"], task.fields["rss"]
        # Work that is done call by call does not tell, so the rate of the bar has to do.
        eta = task.time_remaining if eta is None else eta
        left = "-:--:--" if eta is None else str(timedelta(seconds=round(eta)))
        return Text(left if rss is None else f"{left} left, {megabytes(rss)} of memory")


class ProgressBar:
    """Shows the progress of a long command, one bar a stage; usable as an `on_progress` callback.

    Without a terminal on stderr, or with `enabled` false, it shows nothing.
    """

    def __init__(self, enabled: bool, in_bytes: Collection[str]) -> None:
        """Prepares the bar; `in_bytes` are the stages that count bytes."""
        self._in_bytes = in_bytes
        self._stage = ""
        self._task = TaskID(0)
        self._progress: Progress | None = None
        if enabled and sys.stderr.isatty():
            self._progress = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                _Amount(),
                _Left(),
                console=Console(stderr=True),
                transient=True,
            )

    @property
    def callback(self) -> ProgressBar | None:
        """Itself, or None if it would show nothing, which spares the calls."""
        return None if self._progress is None else self

    def __call__(self, stage: str, done: int, total: int, eta: float | None = None, rss: int | None = None) -> None:
        """Shows that `done` of `total` steps of `stage` are finished; a `total` of 0 is unknown.

        `eta` is the seconds left, `rss` the bytes of memory that the process takes, each None where unknown.
        """
        if self._progress is None:
            return
        if stage != self._stage:
            if self._stage:
                self._progress.remove_task(self._task)
            self._stage = stage
            in_bytes = stage in self._in_bytes
            self._task = self._progress.add_task(stage, total=total or None, in_bytes=in_bytes, eta=None, rss=None)
        self._progress.update(self._task, completed=done, total=total or None, eta=eta, rss=rss)

    def __enter__(self) -> ProgressBar:
        """Starts to show."""
        if self._progress is not None:
            self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Clears the bar and gives the cursor back."""
        if self._progress is not None:
            self._progress.stop()
