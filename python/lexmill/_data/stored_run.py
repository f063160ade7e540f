"""Runs whose token files go to a store: each finished part is uploaded, listed there and removed from the disk.

Below the URL, the folder `.lexmill-run` has the state of a run until the run is finished:

| file | contents |
|---|---|
| `writer.json` | an identifier of the run, and an identifier of the process that writes |
| `manifest.json` | the manifest without its parts |
| `parts-00000.jsonl`, ... | a line for each part: its entry in the manifest, and the versions of its stored files |

The line of a part has no versions until all files of the part are stored. Stores have no locks. The process that was
begun last writes its identifier, and each process looks for its own identifier before and after it uploads a part. So
an earlier process ends at its next part; all processes of a run upload the same bytes.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import socket
import tempfile
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from lexmill._core import is_same_version, is_url, read_token_manifest, write_token_manifest
from lexmill._data.fetched_files import MANIFESTS, entries_of, fetched_manifest
from lexmill._data.remote import Status
from lexmill._data.store_folder import StoreFolder
from lexmill._engines.shared_folder import locked
from lexmill.errors import FileError, LexmillError, OptionError, OutputError

__all__ = ["Output", "output_of", "stored_manifest"]

_RUN = ".lexmill-run"
_WRITER, _MANIFEST = f"{_RUN}/writer.json", f"{_RUN}/manifest.json"
_LISTS = f"{_RUN}/parts-"
_LINES = 256
"""Parts in a list: a list is written whole for each of its parts."""


class Output(NamedTuple):
    """The place of token files.

    Attributes:
        folder: the folder that the core writes to.
        existing: the treatment of files that the folder holds, for the core.
        store: takes finished parts out of the folder; None if the folder is the place of the files.
    """

    folder: str | os.PathLike[str]
    existing: str
    store: StoredRun | None


@contextmanager
def output_of(out: str | os.PathLike[str], options: Mapping[str, Any]) -> Iterator[Output]:
    """The place of the files of a run, which is finished when the block ends without an error.

    Raises:
        OutputError: the URL holds something else or an earlier run, or files that are not as they were written.
        FileError: the store refuses a call, as without credentials, or fails each time.
        OptionError: the run cannot end in a store.
    """
    existing = "resume" if options["resume"] else "overwrite" if options["overwrite"] else "refuse"
    if not is_url(out):
        yield Output(out, existing, None)
        return
    if options["packing"] == "index":
        message = f"packing is index, but {out} is a URL; pack_tokens writes an index of these files to this machine"
        raise OptionError(message)
    is_joined = options["join"] or options["preset"] == "nanogpt"
    run = StoredRun(StoreFolder(os.fspath(out)), existing, is_joined=is_joined)
    try:
        with locked(run.scratch):
            try:
                run.prepare()
                yield Output(run.scratch, "resume", run)
                run.publish()
            except BaseException:
                # Parts to be joined, and sorted runs, save work if this machine resumes the run.
                if not (is_joined or options["shuffle"]):
                    shutil.rmtree(run.scratch, ignore_errors=True)
                raise
            shutil.rmtree(run.scratch, ignore_errors=True)
    except OutputError as error:
        raise OutputError(str(error).replace(str(run.scratch), run.folder.url)) from error


def stored_manifest(url: str) -> str | None:
    """The manifest of a run, finished or not, as JSON; None if there is none.

    Raises:
        OutputError: the file of this name is no manifest.
        FileError: the store refuses a call, or fails each time.
    """
    folder = StoreFolder(url)
    listed = folder.listed()
    if _MANIFEST in listed:
        return folder.read(_MANIFEST).decode()
    return None if listed.keys().isdisjoint(MANIFESTS) else json.dumps(_finished_manifest(folder, listed))


class StoredRun:
    """A run that ends in a store, and the folder of this machine through which its files pass.

    Attributes:
        folder: the folder of the store.
        scratch: the folder of this machine. Its name has the identifier of the run, so a resumed run finds it again.
        is_finished: True if the run was finished before this process began.
    """

    def __init__(self, folder: StoreFolder, existing: str, *, is_joined: bool) -> None:
        """Looks into the store.

        Raises:
            OutputError: the store holds something else, or an earlier run that is neither resumed nor overwritten.
            FileError: the store refuses the list, or fails each time; or the folder of this machine cannot be made.
        """
        self.folder = folder
        self._stored = folder.listed()
        self._check(existing)
        self._is_overwritten = existing == "overwrite"
        self._is_joined = is_joined
        self.is_finished = not (self._is_overwritten or self._stored.keys().isdisjoint(MANIFESTS))
        self._is_resumed = _WRITER in self._stored and not (self._is_overwritten or self.is_finished)
        self._run = self._claimed()["run"] if self._is_resumed else uuid.uuid4().hex
        self._writer = uuid.uuid4().hex
        self._lines: list[str] = []
        self._count = 0
        self.scratch = _scratch(self._run)

    def prepare(self) -> None:
        """Puts the state of an earlier run into the folder of this machine, where the core resumes it.

        Raises:
            OutputError: a stored file is not as it was written.
            FileError: the store refuses a call, or fails each time.
        """
        if self.is_finished:
            manifest = _finished_manifest(self.folder, self._stored)
            self._check_files(entries_of(manifest), self._stored)
            write_token_manifest(self.scratch, json.dumps(manifest))
        elif self._is_resumed:
            self._claim()
            self._restore()

    def begin(self) -> None:
        """Makes the store ready for the first part. The core has checked all options and inputs.

        Raises:
            FileError: the store refuses a call, as without permission to write, or fails each time.
        """
        if not self._is_resumed:
            self._claim()
        if self._is_overwritten:
            self._remove_earlier()
        self.folder.write(_MANIFEST, (read_token_manifest(self.scratch) or "").encode())

    def take(self, part: str) -> None:
        """Stores the files of a part.

        Raises:
            OutputError: another process has taken the run over.
            FileError: the store refuses a call, or fails each time.
        """
        self._check_writer()
        entry = json.loads(part)
        # Should the process end now, the line tells the next one which files to remove.
        self._write_list({"part": entry})
        versions = {name: self.folder.upload(name, self.scratch / name).version for name in entry["files"]}
        self._check_writer()
        line = {"part": entry, "versions": versions}
        self._write_list(line)
        self._add(line)

    def publish(self) -> None:
        """Stores the files that belong to no part and, after all others, the manifest.

        Raises:
            OutputError: a stored file is not as it was written, or another process has taken the run over.
            FileError: the store refuses a call, or fails each time.
        """
        if not self.is_finished:
            text = read_token_manifest(self.scratch)
            manifest = json.loads(text or "")
            # From now on this list tells an overwriting run which files to remove.
            self.folder.write(_MANIFEST, (text or "").encode())
            uploaded = {name: self.folder.upload(name, self.scratch / name) for name in manifest["files"]}
            listed = self.folder.listed()
            self._check_files(entries_of(manifest), listed)
            self._check_versions(self._records(listed), listed)
            self._check_versions([{"versions": {name: status.version for name, status in uploaded.items()}}], listed)
            self._check_writer()
            name = next(name for name in MANIFESTS if (self.scratch / name).exists())
            self.folder.upload(name, self.scratch / name)
        self.folder.remove(name for name in self.folder.listed() if _is_of_run(name))

    def _check(self, existing: str) -> None:
        """Refuses a folder that is in use.

        Raises:
            OutputError: it holds something else, or an earlier run that is neither resumed nor overwritten.
        """
        if "" in self._stored:
            self._refuse("it is a file; choose a folder of its own")
        is_ended = not self._stored.keys().isdisjoint(MANIFESTS)
        if not is_ended and not any(map(_is_of_run, self._stored)) and self._stored:
            self._refuse(f"it holds {min(self._stored)}, which is no token file; choose a folder of its own")
        if self._stored and existing == "refuse":
            state = "" if is_ended else " of a run that was not finished"
            self._refuse(f"it holds token files{state}; pass resume=True to go on or overwrite=True to begin again")

    def _refuse(self, message: str, name: str = "") -> NoReturn:
        message = f"{self.folder.at(name)}: {message}"
        raise OutputError(message)

    def _claim(self) -> None:
        """Makes this process the one that writes. The host and the process are for messages alone."""
        claim = {"run": self._run, "writer": self._writer, "host": socket.gethostname(), "process": os.getpid()}
        self.folder.write(_WRITER, json.dumps(claim).encode())

    def _claimed(self) -> dict[str, Any]:
        """The identifiers of the process that writes to the folder."""
        return self._json(_WRITER, self.folder.read(_WRITER))

    def _check_writer(self) -> None:
        """Ends a process whose run another one has taken over.

        Raises:
            OutputError: the store has the identifier of another process.
        """
        try:
            now = self._claimed()
        except FileError as error:
            if error.errno != errno.ENOENT:
                raise
            self._refuse("another process has finished the run; this process ends")
        if now["writer"] != self._writer:
            self._refuse(f"process {now['process']} of {now['host']} has taken the run over; this process ends")

    def _json(self, name: str, data: bytes) -> dict[str, Any]:
        try:
            return dict(json.loads(data))
        except (ValueError, TypeError, RecursionError) as error:
            message = f"{self.folder.at(name)}: it is damaged: {error}; pass overwrite=True to begin again"
            raise OutputError(message) from error

    def _records(self, listed: Mapping[str, Status]) -> Iterator[dict[str, Any]]:
        """The lines of all parts, in order."""
        for name in sorted(name for name in listed if name.startswith(_LISTS)):
            for line in self.folder.read(name).splitlines():
                yield self._json(name, line)

    def _restore(self) -> None:
        """Puts the manifest and the list of finished parts into the folder of this machine.

        Raises:
            OutputError: a stored file is not as it was written.
        """
        # Parts that will be joined are in the folder of this machine, or lost.
        is_here = self._is_joined and read_token_manifest(self.scratch) is not None
        if is_here or _MANIFEST not in self._stored:
            return
        manifest = {**self._json(_MANIFEST, self.folder.read(_MANIFEST)), "parts": [], "files": {}}
        manifest.pop("total", None)
        kept = json.loads(read_token_manifest(self.scratch) or "null")
        if kept is None or {**kept, "parts": [], "files": {}} != manifest:
            # Sorted runs of other inputs must not be merged.
            for path in self.scratch.iterdir():
                if path.is_dir():
                    shutil.rmtree(path)
        write_token_manifest(self.scratch, json.dumps(manifest))
        begun: list[str] = []
        path = self.scratch / "parts.jsonl"
        try:
            with path.open("w", encoding="utf-8") as finished:
                for line in self._records(self._stored):
                    if "versions" in line:
                        self._check_files(line["part"]["files"], self._stored)
                        self._check_versions([line], self._stored)
                        self._add(line)
                        finished.write(json.dumps(line["part"]) + "\n")
                    else:
                        begun += line["part"]["files"]
        except LexmillError:
            raise
        except OSError as error:
            raise FileError(error.errno, f"cannot write to it: {error.strerror}", str(path)) from error
        self.folder.remove(name for name in begun if name in self._stored)

    def _check_files(self, files: Mapping[str, Any], listed: Mapping[str, Status]) -> None:
        """Compares the sizes of stored files with a manifest."""
        for name, entry in files.items():
            if name not in listed:
                self._refuse("it is missing; pass overwrite=True to begin again", name)
            if (size := listed[name].size) != entry["bytes"]:
                self._refuse(
                    f"it has {size} bytes but was written with {entry['bytes']}; pass overwrite=True to begin again",
                    name,
                )

    def _check_versions(self, lines: Iterable[Mapping[str, Any]], listed: Mapping[str, Status]) -> None:
        """Compares the versions of stored files with the lines of their parts."""
        for line in lines:
            # A part that was begun, and has no files left, has a line without versions.
            for name, version in line.get("versions", {}).items():
                if not is_same_version(version, listed[name].version):
                    self._refuse("it was modified after it was written; pass overwrite=True to begin again", name)

    def _remove_earlier(self) -> None:
        """Removes the files of an earlier run, its manifest after them: while it is there, the call can be repeated."""
        names = set(self._stored)
        files: set[str] = set()
        if not names.isdisjoint(MANIFESTS):
            files |= entries_of(_finished_manifest(self.folder, self._stored)).keys()
        if _MANIFEST in names:
            files |= entries_of(self._json(_MANIFEST, self.folder.read(_MANIFEST))).keys()
        for line in self._records(self._stored):
            files |= line["part"]["files"].keys()
        self.folder.remove(files & names)
        self.folder.remove(names.intersection(MANIFESTS))
        self.folder.remove(name for name in names if _is_of_run(name) and name != _WRITER)

    def _add(self, line: Mapping[str, Any]) -> None:
        """Keeps the line of a finished part until its list is full."""
        self._lines.append(json.dumps(line))
        self._count += 1
        if self._count % _LINES == 0:
            self._lines.clear()

    def _write_list(self, line: Mapping[str, Any]) -> None:
        """Writes the last list, with one line more."""
        text = "".join(line + "\n" for line in [*self._lines, json.dumps(line)])
        self.folder.write(f"{_LISTS}{self._count // _LINES:05}.jsonl", text.encode())


def _finished_manifest(folder: StoreFolder, listed: Mapping[str, Status]) -> dict[str, Any]:
    """The manifest of a finished run.

    Raises:
        OutputError: the file of this name is no manifest.
        FileError: the store refuses a call, or fails each time.
    """
    name = next(name for name in reversed(MANIFESTS) if name in listed)
    with tempfile.TemporaryDirectory(prefix="lexmill-") as apart:
        manifest = fetched_manifest(folder.at(name), Path(apart, name))
    if manifest is None:
        message = f"{folder.at(name)}: it is not a manifest of token files"
        raise OutputError(message)
    return manifest


def _is_of_run(name: str) -> bool:
    return name.startswith(f"{_RUN}/")


def _scratch(run: str) -> Path:
    """The folder of this machine for a run, which no other user can read.

    Raises:
        OutputError: the folder is another user's.
        FileError: it cannot be made.
    """
    path = Path(tempfile.gettempdir(), f"lexmill-{run}")
    try:
        path.mkdir(mode=0o700, exist_ok=True)
        owner = path.lstat().st_uid
    except OSError as error:
        raise FileError(error.errno, f"cannot make the folder of parts: {error.strerror}", str(path)) from error
    if path.is_symlink() or (os.name == "posix" and owner != os.getuid()):
        message = f"{path} belongs to another user; set TMPDIR to a folder of your own"
        raise OutputError(message)
    return path
