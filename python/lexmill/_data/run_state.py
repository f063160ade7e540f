"""The state of a run whose token files go to a store, in the folder `.lexmill-run` until the run is finished.

| file | contents |
|---|---|
| `writer.json` | an identifier of the run, and an identifier of the process that writes |
| `manifest-<run>.json` | the manifest without its parts |
| `parts-<run>-00000.jsonl`, ... | a line for each part: number, entry in the manifest, versions of its files |
| `begun-<writer>.jsonl` | lines of parts that earlier processes have begun and this one may never make |

The line of a part has no versions until all files of the part are stored. Stores have no locks: a request that a
process has begun may arrive after another process has taken the run over. So the names of files have the run, which
is another one when a run is overwritten, and lines have numbers: a list that arrives late may be shorter than the list
that it replaces, and the parts after a gap are made again.
"""

from __future__ import annotations

import errno
import json
import os
import re
import socket
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, NoReturn

from lexmill._data.fetched_files import entries_of, is_below
from lexmill._data.store_folder import StoreFolder
from lexmill.errors import FileError, OutputError

__all__ = ["RunState", "is_state"]

_FOLDER = ".lexmill-run/"
_WRITER = f"{_FOLDER}writer.json"
_RUN = re.compile("[0-9a-f]{32}")
_LINES = 256
"""Parts in a list: a list is written whole for each of its parts."""


def _is_line(line: Mapping[str, Any]) -> bool:
    """True for the line of a part: a process that was killed leaves whole lines, but others may write to a store."""
    part, versions = line.get("part"), line.get("versions", {})
    files = part.get("files") if isinstance(part, dict) else None
    return (
        isinstance(files, dict)
        and isinstance(versions, dict)
        and all(isinstance(entry, dict) and {"bytes", "crc32"} <= entry.keys() for entry in files.values())
        and all(version is None or isinstance(version, str) for version in versions.values())
    )


def is_state(name: str) -> bool:
    """True for a file of the state of a run."""
    return name.startswith(_FOLDER)


class RunState:
    """The state of a run in the folder of a store.

    Attributes:
        folder: the folder of the store.
        run: the identifier of the run.
    """

    def __init__(self, folder: StoreFolder, run: str | None = None) -> None:
        """The state of a run, or of a new run."""
        self.folder = folder
        self.run = run or uuid.uuid4().hex
        self._writer = uuid.uuid4().hex
        self._lines: list[str] = []
        self._count = 0

    @classmethod
    def found(cls, folder: StoreFolder, listed: Iterable[str]) -> RunState | None:
        """The state of the run that is in the folder; None if there is none.

        Raises:
            OutputError: the state is damaged.
            FileError: the store refuses a call, or fails each time.
        """
        if _WRITER not in listed:
            return None
        state = cls(folder)
        try:
            state.run = state._claimed()["run"]
        except FileError as error:
            # The process that has finished the run removes its state.
            if error.errno != errno.ENOENT:
                raise
            return None
        return state

    @property
    def _manifest(self) -> str:
        return f"{_FOLDER}manifest-{self.run}.json"

    def claim(self) -> None:
        """Makes this process the one that writes. The host and the process are for messages alone."""
        claim = {"run": self.run, "writer": self._writer, "host": socket.gethostname(), "process": os.getpid()}
        self.folder.write(_WRITER, json.dumps(claim).encode())

    def check_writer(self) -> None:
        """Ends a process whose run another one has taken over.

        Raises:
            OutputError: the store has the identifier of another process.
        """
        try:
            now = self._claimed()
        except FileError as error:
            if error.errno != errno.ENOENT:
                raise
            self.refuse_finished()
        if now["writer"] != self._writer:
            message = f"process {now['process']} of {now['host']} has taken the run over; this process ends"
            raise OutputError(f"{self.folder.url}: {message}")

    def refuse_finished(self) -> NoReturn:
        """Ends a process whose run another one has finished."""
        message = f"{self.folder.url}: another process has finished the run; this process ends"
        raise OutputError(message)

    def manifest(self, listed: Iterable[str]) -> bytes | None:
        """The manifest of the run, if it is stored yet."""
        return self.folder.read(self._manifest) if self._manifest in listed else None

    def write_manifest(self, manifest: str) -> None:
        self.folder.write(self._manifest, manifest.encode())

    def parsed(self, data: bytes, name: str | None = None) -> dict[str, Any]:
        """A JSON object of the state, the manifest if no other name is given.

        Raises:
            OutputError: it is none.
        """
        try:
            return dict(json.loads(data))
        except (ValueError, TypeError, RecursionError) as error:
            self._refuse_damaged(name or self._manifest, str(error))

    def _refuse_damaged(self, name: str, fault: str) -> NoReturn:
        message = f"{self.folder.at(name)}: it is damaged: {fault}; pass overwrite=True to begin again"
        raise OutputError(message)

    def _claimed(self) -> dict[str, str]:
        """The identifiers of the process that writes to the folder."""
        claim = self.parsed(self.folder.read(_WRITER), _WRITER)
        names = ("run", "writer", "host", "process")
        if not claim.keys() >= set(names) or not _RUN.fullmatch(str(claim["run"])):
            self._refuse_damaged(_WRITER, "it names no process")
        return {name: str(claim[name]) for name in names}

    def lines(self, listed: Iterable[str]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """The lines of the parts that are stored, in order, and all other lines of the run."""
        stored: list[dict[str, Any]] = []
        others: list[dict[str, Any]] = []
        for line in self._all_lines(name for name in listed if name.startswith(f"{_FOLDER}parts-{self.run}-")):
            is_next = line.get("number") == len(stored) and "versions" in line
            (stored if is_next else others).append(line)
        return stored, others

    def _all_lines(self, names: Iterable[str]) -> Iterator[dict[str, Any]]:
        for name in sorted(names):
            for text in self.folder.read(name).splitlines():
                line = self.parsed(text, name)
                if not _is_line(line):
                    self._refuse_damaged(name, "a line is not of a part")
                yield line

    def restore(self, lines: Iterable[Mapping[str, Any]]) -> None:
        """Goes on after the stored parts of earlier processes."""
        for line in lines:
            self._add(line)

    def keep_begun(self, lines: Iterable[Mapping[str, Any]]) -> None:
        """Keeps lines of earlier processes: their files are removed when the run ends, if it has no such parts."""
        if text := "".join(json.dumps(line) + "\n" for line in lines):
            self.folder.write(f"{_FOLDER}begun-{self._writer}.jsonl", text.encode())

    def begin_part(self, part: Mapping[str, Any]) -> None:
        """Writes the line of a part before its files are stored: if the process ends, the next one knows the files."""
        self._write_list({"number": self._count, "part": part})

    def end_part(self, part: Mapping[str, Any], versions: Mapping[str, str | None]) -> None:
        """Writes the line of a part that is stored."""
        line = {"number": self._count, "part": part, "versions": versions}
        self._write_list(line)
        self._add(line)

    def _add(self, line: Mapping[str, Any]) -> None:
        """Keeps the line of a finished part until its list is full."""
        self._lines.append(json.dumps(line))
        self._count += 1
        if self._count % _LINES == 0:
            self._lines.clear()

    def _write_list(self, line: Mapping[str, Any]) -> None:
        """Writes the last list, with one line more."""
        text = "".join(line + "\n" for line in [*self._lines, json.dumps(line)])
        self.folder.write(f"{_FOLDER}parts-{self.run}-{self._count // _LINES:05}.jsonl", text.encode())

    def files(self, listed: Iterable[str]) -> set[str]:
        """All files that runs in the folder have named, stored or not. Damaged files of the state name none."""
        files: set[str] = set()
        for name in listed:
            # A damaged file must not keep a run from being overwritten.
            with suppress(OutputError):
                if is_state(name) and name.endswith(".jsonl"):
                    for line in self._all_lines([name]):
                        files |= line["part"]["files"].keys()
                elif is_state(name) and name != _WRITER:
                    manifest = self.parsed(self.folder.read(name), name)
                    with suppress(KeyError, TypeError, AttributeError):
                        files |= entries_of(manifest).keys()
        return {name for name in files if is_below(name)}

    def remove(self, listed: Iterable[str]) -> None:
        """Removes the state of a finished run, the writer first: other processes then see that the run has ended."""
        names = [name for name in listed if is_state(name)]
        self.folder.remove(name for name in names if name == _WRITER)
        self.folder.remove(name for name in names if name != _WRITER)

    def remove_earlier(self, listed: Iterable[str]) -> None:
        """Removes the state of other runs."""
        self.folder.remove(name for name in listed if is_state(name) and name != _WRITER)
