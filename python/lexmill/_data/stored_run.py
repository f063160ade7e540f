"""Runs whose token files go to a store: each finished part is uploaded, listed there and removed from the disk.

Stores have no locks. The process that was begun last writes its identifier, and each process looks for its own
identifier before and after it uploads a file, and before it publishes the manifest. So an earlier process ends at its
next file. All processes of a run upload the same bytes, so files that are stored twice are no error; and files are
removed by the process that finishes the run or overwrites it, and by no other.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from lexmill._core import is_same_version, is_url, read_token_manifest, write_token_manifest
from lexmill._data.fetched_files import MANIFESTS, entries_of, fetched_manifest, is_as_written
from lexmill._data.remote import Status
from lexmill._data.run_state import RunState, is_state
from lexmill._data.store_folder import StoreFolder
from lexmill._engines.shared_folder import locked
from lexmill.errors import FileError, OptionError, OutputError

__all__ = ["Output", "output_of", "stored_manifest"]


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
    state = RunState.found(folder, listed)
    if state is not None and (manifest := state.manifest(listed)) is not None:
        return manifest.decode()
    return json.dumps(_finished_manifest(folder, listed)) if _is_ended(listed) else None


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
        self._existing = existing
        self._check()
        self._is_joined = is_joined
        self.is_finished = existing != "overwrite" and _is_ended(self._stored)
        is_fresh = self.is_finished or existing == "overwrite"
        found = None if is_fresh else RunState.found(folder, self._stored)
        self._is_resumed = found is not None
        self._state = found or RunState(folder)
        self.scratch = _scratch(self._state.run)

    def prepare(self) -> None:
        """Puts the state of an earlier run into the folder of this machine, where the core resumes it.

        Raises:
            OutputError: a stored file is not as it was written, or another process has finished the run.
            FileError: the store refuses a call, or fails each time.
        """
        if self._is_resumed:
            self._state.claim()
            # An earlier process may have stored parts, or have finished the run, until this one took it over.
            self._stored = self.folder.listed()
            self.is_finished = _is_ended(self._stored)
        if self.is_finished:
            manifest = _finished_manifest(self.folder, self._stored)
            self._check_files(entries_of(manifest), {}, self._stored)
            write_token_manifest(self.scratch, json.dumps(manifest))
        elif self._is_resumed:
            try:
                self._restore()
            except (FileError, OutputError):
                # A process that has finished the run meanwhile has removed the state.
                self._state.check_writer()
                raise

    def begin(self) -> None:
        """Makes the store ready for the first part. The core has checked all options and inputs.

        Raises:
            OutputError: another process has begun, or has finished the run, since this one looked.
            FileError: the store refuses a call, as without permission to write, or fails each time.
        """
        if self._is_resumed:
            self._state.check_writer()
        else:
            self._look_again()
            self._state.claim()
            # A process that began before this one may have stored files until now.
            self._stored = self.folder.listed()
            if self._existing == "overwrite":
                self._remove_earlier()
            elif _is_ended(self._stored):
                self._state.remove(self._stored)
                self._state.refuse_finished()
        self._state.write_manifest(read_token_manifest(self.scratch) or "")

    def take(self, part: str) -> None:
        """Stores the files of a part.

        Raises:
            OutputError: another process has taken the run over.
            FileError: the store refuses a call, or fails each time.
        """
        self._state.check_writer()
        entry = json.loads(part)
        self._state.begin_part(entry)
        self._state.end_part(entry, self._uploaded(entry["files"]))

    def publish(self) -> None:
        """Stores the files that belong to no part and, after all others, the manifest.

        Raises:
            OutputError: a stored file is not as it was written, or another process has taken the run over.
            FileError: the store refuses a call, or fails each time.
        """
        manifest = json.loads(read_token_manifest(self.scratch) or "")
        if not self.is_finished:
            self._state.check_writer()
            # From now on this list tells an overwriting run which files to remove.
            self._state.write_manifest(json.dumps(manifest))
            versions = self._uploaded(manifest["files"])
            listed = self.folder.listed()
            try:
                for line in self._state.lines(listed)[0]:
                    versions |= line["versions"]
                self._check_files(entries_of(manifest), versions, listed)
            finally:
                # The files may belong to another process by now, which is the error to be told.
                self._state.check_writer()
            name = next(name for name in MANIFESTS if (self.scratch / name).exists())
            self.folder.upload(name, self.scratch / name)
            self._state.check_writer()
            # Another process may have stored its manifest late.
            self.folder.remove(other for other in MANIFESTS if other in listed and other != name)
        listed = self.folder.listed()
        try:
            named = self._state.files(listed)
        except FileError as error:
            # Another process that found the run finished removes its state, too.
            if error.errno != errno.ENOENT:
                raise
            named = set()
        self.folder.remove((named & listed.keys()) - entries_of(manifest).keys())
        self._state.remove(listed)

    def _uploaded(self, names: Iterable[str]) -> dict[str, str | None]:
        """Uploads files; answers their versions.

        Raises:
            OutputError: another process has taken the run over. At most one file was on its way.
        """
        versions: dict[str, str | None] = {}
        for name in names:
            self._state.check_writer()
            versions[name] = self.folder.upload(name, self.scratch / name).version
        self._state.check_writer()
        return versions

    def _check(self) -> None:
        """Refuses a folder that is in use.

        Raises:
            OutputError: it holds something else, or an earlier run that is neither resumed nor overwritten.
        """
        if "" in self._stored:
            self._refuse("it is a file; choose a folder of its own")
        is_ended = _is_ended(self._stored)
        if not is_ended and not any(map(is_state, self._stored)) and self._stored:
            self._refuse(f"it holds {min(self._stored)}, which is no token file; choose a folder of its own")
        if self._stored and self._existing == "refuse":
            state = "" if is_ended else " of a run that was not finished"
            self._refuse(f"it holds token files{state}; pass resume=True to go on or overwrite=True to begin again")

    def _look_again(self) -> None:
        """Refuses a folder that is in use by now.

        Raises:
            OutputError: another process has begun, or has finished the run, since this one looked.
        """
        self._stored = self.folder.listed()
        self._check()
        if self._existing != "overwrite" and _is_ended(self._stored):
            self._state.refuse_finished()

    def _refuse(self, message: str, name: str = "") -> NoReturn:
        message = f"{self.folder.at(name)}: {message}"
        raise OutputError(message)

    def _restore(self) -> None:
        """Puts the manifest and the list of finished parts into the folder of this machine.

        Raises:
            OutputError: a stored file is not as it was written.
        """
        # Parts that will be joined are in the folder of this machine, or lost.
        is_here = self._is_joined and read_token_manifest(self.scratch) is not None
        data = None if is_here else self._state.manifest(self._stored)
        if data is None:
            return
        manifest = {**self._state.parsed(data), "parts": [], "files": {}}
        manifest.pop("total", None)
        kept = json.loads(read_token_manifest(self.scratch) or "null")
        if kept is None or {**kept, "parts": [], "files": {}} != manifest:
            # Sorted runs of other inputs must not be merged.
            for path in self.scratch.iterdir():
                if path.is_dir():
                    shutil.rmtree(path)
        write_token_manifest(self.scratch, json.dumps(manifest))
        lines, others = self._state.lines(self._stored)
        for line in lines:
            self._check_files(line["part"]["files"], line["versions"], self._stored)
        path = self.scratch / "parts.jsonl"
        try:
            path.write_text("".join(json.dumps(line["part"]) + "\n" for line in lines), encoding="utf-8")
        except OSError as error:
            raise FileError(error.errno, f"cannot write to it: {error.strerror}", str(path)) from error
        self._state.restore(lines)
        self._state.keep_begun(others)

    def _check_files(
        self, entries: Mapping[str, Any], versions: Mapping[str, str | None], listed: Mapping[str, Status]
    ) -> None:
        """Compares stored files with their entries in a manifest, and with the versions that were stored."""
        for name, entry in entries.items():
            if name not in listed:
                self._refuse("it is missing; pass overwrite=True to begin again", name)
            if (size := listed[name].size) != entry["bytes"]:
                self._refuse(
                    f"it has {size} bytes but was written with {entry['bytes']}; pass overwrite=True to begin again",
                    name,
                )
            if is_same_version(versions.get(name), listed[name].version):
                continue
            # An earlier process of the run may have stored the same bytes once more.
            if not is_as_written(self.folder.at(name), entry):
                self._refuse("it was modified after it was written; pass overwrite=True to begin again", name)

    def _remove_earlier(self) -> None:
        """Removes the files of an earlier run, its manifest after them: while it is there, the call can be repeated."""
        names = self._stored.keys()
        files = self._state.files(names)
        if _is_ended(self._stored):
            files |= entries_of(_finished_manifest(self.folder, self._stored)).keys()
        self.folder.remove(files & names)
        self.folder.remove(names & set(MANIFESTS))
        self._state.remove_earlier(names)


def _is_ended(listed: Mapping[str, Status]) -> bool:
    """True if the folder has the manifest of a finished run."""
    return not listed.keys().isdisjoint(MANIFESTS)


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
