"""Rows of one length as ranges of stored tokens: the index of `pack_tokens`, read."""

from __future__ import annotations

import json
import operator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from lexmill._core import read_token_manifest
from lexmill._data.segments import Ids
from lexmill._data.token_readers import DAMAGED
from lexmill._data.views import Views
from lexmill.errors import OptionError, OutputError

if TYPE_CHECKING:
    from lexmill._data.open_tokens import TokenFiles

__all__ = ["INDEX_FILES", "INDEX_VERSION", "PackedRows", "index_manifest"]

INDEX_VERSION = 1

INDEX_FILES = ("slices.npy", "row_splits.npy")
"""The slices of all rows, and the number of slices before each row."""


def index_manifest(folder: Path) -> dict[str, Any] | None:
    """The manifest of an index; None if the folder holds none."""
    try:
        manifest = json.loads(read_token_manifest(folder) or "null")
        if manifest["index_version"] == INDEX_VERSION:
            return dict(manifest)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        pass
    return None


class PackedRows(Views):
    """Rows of documents by an index; `TokenFiles.rows` and `pack_tokens` make one.

    `rows[i]` is the ids of row `i`, `rows[a:b]` a list of them. A row of one whole slice is a view of a mapped file,
    other rows are copies.

    Attributes:
        files: the documents.
        folder: the folder of the index.
        manifest: its options and sums.
        length: tokens of a row.
        pad_id: the id that fills up rows, or None; of masks, 0 or None.
    """

    _NAME = "row"

    def __init__(self, files: TokenFiles, folder: Path, pad_id: int | None = None) -> None:
        """Opens the index; see `TokenFiles.rows`."""
        manifest = index_manifest(folder)
        if manifest is None:
            message = f"{folder}: it holds no index of rows of this version"
            raise OutputError(message)
        if manifest.get("tokens") != files._fingerprint():
            message = f"{folder}: it is an index of other token files, or of another split, than {files!r}"
            raise OutputError(message)
        pad_id = None if pad_id is None else operator.index(pad_id)
        if pad_id is not None and files._loss:
            # No padding is learned.
            pad_id = 0
        if pad_id is not None and not 0 <= pad_id <= np.iinfo(files.dtype).max:
            message = f"pad_id is {pad_id} but must be from 0 to {np.iinfo(files.dtype).max}"
            raise OptionError(message)
        self.files = files
        self.folder = folder
        # A copy is opened later, when the working folder may be another one.
        self._path = folder.absolute()
        self.manifest = manifest
        self.pad_id = pad_id
        try:
            self.length = operator.index(manifest["options"]["length"])
            rows = operator.index(manifest["total"].get("rows", 0))
            slices, splits = (np.load(folder / name, mmap_mode="r").view(np.ndarray) for name in INDEX_FILES)
        except (*DAMAGED, KeyError, AttributeError) as error:
            message = f"{folder}: it is not as it was written: {error!r}"
            raise OutputError(message) from error
        is_sound = slices.dtype == splits.dtype == np.int64 and slices.ndim == 2 and splits.shape == (rows + 1,)
        if not is_sound or slices.shape[1] != 3 or splits[-1] != len(slices):
            message = f"{folder}: it has slices of {slices.dtype}{slices.shape} for {splits.shape} rows"
            raise OutputError(message)
        self._slices: npt.NDArray[np.int64] = slices
        self._splits: npt.NDArray[np.int64] = splits

    def __repr__(self) -> str:
        """Shows the folder and how much there is."""
        return f"PackedRows({str(self.folder)!r}: {len(self):,} rows of {self.length:,} tokens)"

    def __reduce__(self) -> tuple[type[PackedRows], tuple[object, ...]]:
        """The arguments of a copy for another process, which opens the files itself."""
        return type(self), (self.files, self._path, self.pad_id)

    def __len__(self) -> int:
        """Number of rows."""
        return len(self._splits) - 1

    def slices(self, row: int) -> npt.NDArray[np.int64]:
        """The slices of a row: a document, the first of its tokens that lies in the row, and the token after the last.

        Raises:
            IndexError: there is no such row.
            OutputError: the index is not as it was written.
        """
        row = self._checked(row)
        begin, end = int(self._splits[row]), int(self._splits[row + 1])
        found = self._slices[max(begin, 0) : max(end, 0)]
        is_sound = 0 <= begin < end == begin + len(found) and np.all(found[:, 0] < len(self.files))
        if not is_sound or np.any(found < 0) or np.any(found[:, 1] >= found[:, 2]):
            message = f"{self.folder}: row {row} is not as it was written"
            raise OutputError(message)
        return found

    def column(self, name: Literal["position_ids", "document_ids", "cu_seqlens"], row: int) -> npt.NDArray[np.int32]:
        """A column of a row, as `tokenize_files` writes it with `pack_columns`; padding counts if there is a `pad_id`.

        Raises:
            OptionError: there is no such column.
        """
        slices = self.slices(row)
        lengths = (slices[:, 2] - slices[:, 1]).tolist()
        padding = 0 if self.pad_id is None else max(self.length - sum(lengths), 0)
        numbers = [*range(1, len(lengths) + 1), *([0] if padding else [])]
        lengths = [*lengths, *([padding] if padding else [])]
        if name == "cu_seqlens":
            return np.cumsum([0, *lengths], dtype=np.int32)
        if name == "position_ids":
            return np.concatenate([np.arange(length, dtype=np.int32) for length in lengths])
        if name == "document_ids":
            return np.repeat(np.array(numbers, np.int32), lengths)
        message = f"column is {name} but must be position_ids, document_ids or cu_seqlens"
        raise OptionError(message)

    def _item(self, at: int) -> Ids:
        found = []
        for document, start, end in self.slices(at).tolist():
            ids = self.files[document][start:end]
            if len(ids) != end - start:
                message = f"{self.folder}: row {at} needs token {end} of document {document}, which it does not have"
                raise OutputError(message)
            found.append(ids)
        padding = self.length - sum(map(len, found))
        if padding > 0 and self.pad_id is not None:
            found.append(np.full(padding, self.pad_id, self.files.dtype))
        return found[0] if len(found) == 1 else np.concatenate(found)
