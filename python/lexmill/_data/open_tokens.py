"""Token files as arrays. A part is mapped when it is first read; only row groups of Parquet are copied."""

from __future__ import annotations

import hashlib
import json
import operator
import os
import sys
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

from lexmill._core import is_url, local_path, read_token_manifest
from lexmill._data.fetched_files import FetchedFiles
from lexmill._data.file_checks import check_file
from lexmill._data.mask_readers import FORMS, dtype_of_masks, is_mask_file, mask_of, mask_reader, names_to_read
from lexmill._data.packed_rows import PackedRows
from lexmill._data.segments import AnySegment, GroupSegment, Ids, RowGroups, ScatteredSegment, Segment, is_sound
from lexmill._data.token_readers import DAMAGED, READERS, PartFiles, document_lengths
from lexmill._data.views import Views
from lexmill._data.windows import Windows
from lexmill.errors import LexmillError, OptionError, OutputError

__all__ = ["TokenFiles", "Windows", "open_tokens"]


def open_tokens(
    path: str | os.PathLike[str], split: str | None = None, *, cache: str | os.PathLike[str] | None = None
) -> TokenFiles:
    """Opens the token files of `tokenize_files`, or of a job of Ray or Spark, without reading them.

    A file of a URL is fetched whole when it is first read, and compared with its checksum.

    Args:
        path: the folder, or its URL.
        split: `train` or `validation`; the first by default.
        cache: for a URL, the folder of this machine that keeps fetched files, for other processes and later calls; by
            default a temporary one, which is removed with the returned object. It grows up to the size of the files.

    Raises:
        OutputError: the folder holds no token files, or its run is not finished.
        OptionError: there is no such split, or `cache` is given for a path.
        FileError: the store of a URL refuses a call, or fails each time.
    """
    if is_url(path):
        fetched = FetchedFiles(os.fspath(path), None if cache is None else os.fspath(cache))
        folder, manifest = fetched.folder, fetched.manifest
    elif cache is not None:
        message = f"cache is {os.fspath(cache)!r} but must be absent, since {os.fspath(path)} is no URL"
        raise OptionError(message)
    else:
        fetched, folder = None, Path(local_path(path))
        manifest = _manifest(folder)
    try:
        return _opened(folder, manifest, split, fetched)
    except LexmillError:
        raise
    except _MALFORMED as error:
        message = f"{folder}: its manifest is damaged: {error!r}"
        raise OutputError(message) from error


def _manifest(folder: Path) -> dict[str, Any]:
    try:
        # None, where there is no manifest, has no version either.
        manifest = json.loads(read_token_manifest(folder) or "null")
        if manifest["format_version"] == 1:
            return dict(manifest)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        pass
    message = f"{folder}: it holds no token files of this version"
    raise OutputError(message)


def _opened(folder: Path, manifest: dict[str, Any], split: str | None, fetched: FetchedFiles | None) -> TokenFiles:
    if "total" not in manifest:
        message = f"{folder}: its run is not finished; pass resume=True to tokenize_files, or merge again"
        raise OutputError(message)
    splits = ("train", "validation") if manifest["options"]["validation"] else ("train",)
    if split is not None and split not in splits:
        message = f"split is {split} but must be {' or '.join(splits)}"
        raise OptionError(message)
    if "folders" not in manifest:
        return TokenFiles(folder, manifest, split or "train", fetched=fetched)
    if fetched is not None:
        message = f"{fetched.url}: a job of Ray or Spark wrote it; copy it to this machine"
        raise OutputError(message)
    folders = [folder / name for name in manifest["folders"]]
    inner = [(inner, _manifest(inner)) for inner in folders]
    for path, held in inner:
        if held.get("total") != manifest["folders"][path.name]["total"]:
            message = f"{path}: it is not as it was written: the manifest of {folder} has other sums"
            raise OutputError(message)
    return TokenFiles(folder, manifest, split or "train", inner)


# Errors of code that reads a damaged manifest.
_MALFORMED = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


class TokenFiles(Views):
    """The documents of a folder of token files, or its rows if they are packed.

    `tokens[i]` has the ids of document `i`, as a view of a mapped file; `tokens[a:b]` is a list of such views. Parquet
    files are decoded by row groups (8 million ids of 16 bits), of which the last four are kept: read them in order.

    Attributes:
        folder: the folder, or its URL.
        split: `train` or `validation`.
        manifest: the contents of the folder's manifest, such as the tokenizer and the options.
        dtype: the type of ids.
        tokens: the number of tokens, in the split alone.
    """

    _NAME = "document"

    def __init__(
        self,
        folder: Path,
        manifest: dict[str, Any],
        split: str,
        inner: Sequence[tuple[Path, dict[str, Any]]] | None = None,
        loss: str | None = None,
        fetched: FetchedFiles | None = None,
    ) -> None:
        """Opens no file yet; `open_tokens` is the way to make one.

        Args:
            folder: the folder.
            manifest: its manifest.
            split: `train` or `validation`.
            inner: the folders of a job, each with its manifest; by default the folder itself.
            loss: the form of the loss masks in the files, if masks are shown; None to show ids.
            fetched: fetches the files of a URL to `folder`; None if they are there.
        """
        options = manifest["options"]
        self.folder: Path | str = folder if fetched is None else fetched.url
        self._fetched = fetched
        self.split = split
        self.manifest = manifest
        self._loss = loss
        layout = options["format"], options["preset"]
        self.dtype: np.dtype[Any] = np.dtype(np.uint8 if loss else options["dtype"]).newbyteorder("<")
        self._stored = dtype_of_masks(loss) if loss else self.dtype
        self._reader = mask_reader(*layout, loss) if loss else READERS[layout]
        self._groups = RowGroups()
        # Files are opened later, when the working folder may be another one.
        self._folders = [(own.absolute(), held) for own, held in ([(folder, manifest)] if inner is None else inner)]
        self._parts = [
            self._files(folder, part) for folder, manifest in self._folders for part in self._part_entries(manifest)
        ]
        self._segments: dict[int, Sequence[AnySegment]] = {}
        self._rows = [0, *accumulate(part.documents for part in self._parts)]
        self._tokens = [0, *accumulate(part.tokens for part in self._parts)]
        self.tokens = self._tokens[-1]
        sums = (self._rows, self._tokens)
        if self.dtype.kind not in "iu" or any(sorted(sum_) != sum_ or sum_[-1] > sys.maxsize for sum_ in sums):
            message = f"ids of {self.dtype}, {self._rows} documents, {self._tokens} tokens"
            raise ValueError(message)

    def __repr__(self) -> str:
        """Shows the folder and how much there is."""
        return f"TokenFiles({str(self.folder)!r}, {self.split}: {len(self):,} rows, {self.tokens:,} tokens)"

    def __reduce__(self) -> tuple[Callable[..., TokenFiles], tuple[object, ...]]:
        """The arguments of a copy for another process, which opens the files itself."""
        if self._fetched is not None:
            return _reopened, (self._fetched.url, self.split, self._fetched.cache, self._loss is not None)
        return type(self), (self.folder, self.manifest, self.split, self._folders, self._loss)

    def __len__(self) -> int:
        """Number of documents, or of packed rows."""
        return self._rows[-1]

    def _item(self, at: int) -> Ids:
        part = bisect_right(self._rows, at) - 1
        at -= self._rows[part]
        for segment in self._open(part):
            if segment.rows is None:
                break
            if at < segment.rows:
                return self._shown(self._loaded(part, segment).row(at))
            at -= segment.rows
        raise OptionError(self._without_borders())

    @property
    def mask(self) -> TokenFiles:
        """The loss masks of conversations: the same documents or rows, with 1 for a token to learn, else 0 (`uint8`).

        Raises:
            OptionError: the files have no masks.
        """
        found = self._form()
        if found is None or self._loss:
            message = f"{self.folder}: it has no loss masks; lexmill.messages.tokenize_message_files writes these"
            raise OptionError(message)
        return TokenFiles(self._folders[0][0], self.manifest, self.split, self._folders, found, self._fetched)

    def _form(self) -> str | None:
        """The form of the loss masks in the files."""
        messages = self.manifest["options"].get("messages")
        found = messages.get("loss") if isinstance(messages, dict) else None
        return found if isinstance(found, str) and found in FORMS else None

    def rows(self, index: str | os.PathLike[str], pad_id: int | None = None) -> PackedRows:
        """The rows of an index that `pack_tokens` wrote over these documents.

        Args:
            index: the folder of the index.
            pad_id: the id that fills up rows; without it, rows have their own tokens alone.

        Raises:
            OutputError: the folder holds no index, or one of other token files or of another split.
            OptionError: `pad_id` does not fit into the type of ids.
        """
        return PackedRows(self, Path(local_path(index)), pad_id)

    def windows(self, length: int, stride: int | None = None) -> Windows:
        """All ids end to end, in windows of one length; a shorter rest at the end is left out.

        Args:
            length: tokens of a window.
            stride: tokens between the beginnings of two neighbouring windows; `length` by default.
        """
        return Windows(self, length, length if stride is None else stride)

    def verify(self) -> None:
        """Reads all files, of other splits too, and compares them with the sizes and checksums of the manifest.

        It also compares the lengths of masks in Parquet files with the lengths of documents. For other formats, reading
        the masks does this.

        Raises:
            OutputError: a file is missing or is not as it was written; the message names it.
            FileError: a file cannot be read.
        """
        form = self._form()
        for path, written in self._checksums().items():
            self._fetch([path])
            check_file(path, written, form)

    def _fingerprint(self) -> str:
        """A hash that tells these files and their split from others, also in a folder with a new name."""
        files = [f"{path.name} {size} {crc}" for path, (size, crc) in self._checksums().items()]
        return hashlib.sha256("\n".join([self.split, *files]).encode()).hexdigest()[:32]

    def _lengths(self) -> Iterator[Ids]:
        """The number of tokens of each document, in blocks. Memory holds one part or one row group at a time.

        Raises:
            OptionError: the files do not say where documents begin.
            OutputError: a file is not as it was written.
        """
        for part in self._parts:
            self._fetch(part.paths)
            try:
                for lengths in document_lengths(self._reader, part):
                    if lengths is None:
                        raise OptionError(self._without_borders())
                    yield lengths
            except DAMAGED as error:
                if isinstance(error, LexmillError):
                    raise
                message = f"{part.paths[0]}: it is not as it was written: {error}"
                raise OutputError(message) from error

    def _without_borders(self) -> str:
        return f"{self.folder}: its format does not say where documents begin; use windows()"

    def _checksums(self) -> dict[Path, tuple[int, str]]:
        """The bytes of each file and their checksum, as the manifests say."""
        listed: dict[Path, tuple[int, str]] = {}
        for folder, manifest in self._folders:
            try:
                for files in (manifest["files"], *(part["files"] for part in manifest["parts"])):
                    listed |= {folder / name: (entry["bytes"], entry["crc32"]) for name, entry in files.items()}
            except _MALFORMED as error:
                message = f"{folder}: its manifest is damaged: {error!r}"
                raise OutputError(message) from error
        return listed

    def _range(self, start: int, stop: int) -> Ids:
        """The ids from token `start` to token `stop` of all documents end to end; a copy only across segments."""
        pieces: list[Ids] = []
        part = bisect_right(self._tokens, start) - 1
        while start < stop:
            at = start - self._tokens[part]
            for segment in self._open(part):
                if at < segment.tokens and start < stop:
                    piece = self._shown(self._loaded(part, segment).range(at, at + stop - start))
                    pieces.append(piece)
                    start += len(piece)
                    at += len(piece)
                at -= segment.tokens
            part += 1
        return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)

    def _shown(self, values: Ids) -> Ids:
        return mask_of(values) if self._loss else values

    def _open(self, part: int) -> Sequence[AnySegment]:
        if part not in self._segments:
            self._fetch(self._parts[part].paths)
            try:
                segments = self._reader(self._parts[part])
            except DAMAGED as error:
                message = f"{self._parts[part].paths[0]}: it is not as it was written: {error}"
                raise OutputError(message) from error
            found, held = sum(segment.tokens for segment in segments), self._parts[part].tokens
            if found != held:
                message = f"{self._parts[part].paths[0]}: it holds {found} tokens but the manifest says {held}"
                raise OutputError(message)
            self._check_rows(part, segments)
            self._segments[part] = segments
        return self._segments[part]

    def _loaded(self, part: int, segment: AnySegment) -> Segment | ScatteredSegment:
        """The segment, with its row group decoded if it is one."""
        try:
            return segment.loaded()
        except DAMAGED as error:
            message = f"{self._parts[part].paths[0]}: it is not as it was written: {error}"
            raise OutputError(message) from error

    def _check_rows(self, part: int, segments: Sequence[AnySegment]) -> None:
        """Refuses row splits that do not divide the tokens into the documents of the manifest."""
        rows = 0
        for segment in segments:
            if segment.rows is None:
                return
            if not isinstance(segment, GroupSegment) and not is_sound(segment):
                message = f"{self._parts[part].paths[-1]}: documents do not begin and end where tokens do"
                raise OutputError(message)
            rows += segment.rows or 0
        if rows != self._parts[part].documents:
            held = self._parts[part].documents
            message = f"{self._parts[part].paths[-1]}: it holds {rows} documents but the manifest says {held}"
            raise OutputError(message)

    def _fetch(self, paths: Iterable[Path]) -> None:
        if self._fetched is not None:
            self._fetched.ready(paths)

    def _part_entries(self, manifest: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """The parts that have files of this split; parts that were joined are one."""
        parts, folder = manifest["parts"], f"{self._prefix()}/" if self._prefix() else ""
        ids = "val.bin" if self.split == "validation" else "train.bin"
        joined = [name for name in (ids, f"{folder}tokens.bin", f"{folder}tokens.idx") if name in manifest["files"]]
        if joined:
            stem = joined[0].removesuffix("bin")
            joined += [name for name in manifest["files"] if name.startswith(stem) and is_mask_file(name)]
            yield {**manifest["total"], "files": dict.fromkeys(joined)}
            return
        for part in parts:
            names = [name for name in part["files"] if self._prefix() in ("", name.partition("/")[0])]
            if names:
                yield {**part, "files": dict.fromkeys(names)}

    def _prefix(self) -> str:
        return self.split if self.manifest["options"]["validation"] else ""

    def _files(self, folder: Path, part: dict[str, Any]) -> PartFiles:
        held = {name: part.get(f"validation_{name}", 0) for name in ("documents", "tokens", "rows")}
        if self.split == "train":
            held = {name: part.get(name, 0) - held[name] for name in held}
        length = self.manifest["options"]["pack"]
        if length is not None:
            held = {"documents": held["rows"], "tokens": held["rows"] * length}
        documents, tokens = operator.index(held["documents"]), operator.index(held["tokens"])
        has_columns = self.manifest["options"]["format"] in ("arrow", "parquet")
        paths = [
            folder / name
            for name in names_to_read(part["files"], is_mask=self._loss is not None, has_columns=has_columns)
        ]
        return PartFiles(paths, self._stored, documents, tokens, length, self._groups)


def _reopened(url: str, split: str, cache: str | None, is_mask: bool) -> TokenFiles:
    """Token files of a URL in another process."""
    found = open_tokens(url, split, cache=cache)
    return found.mask if is_mask else found
