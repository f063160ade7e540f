"""Writing an index of rows over stored documents."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Literal

import numpy as np
import numpy.typing as npt

from lexmill._core import LONGEST_ROW, __version__, local_path, write_row_index
from lexmill._data.open_tokens import TokenFiles, open_tokens
from lexmill._data.packed_rows import INDEX_FILES, INDEX_VERSION, PackedRows, index_manifest
from lexmill._types import OnProgress
from lexmill.errors import FileError, OptionError, OutputError

__all__ = ["check_indexable", "pack_tokens", "remove_index"]


def pack_tokens(
    folder: str | os.PathLike[str],
    *,
    length: int,
    out: str | os.PathLike[str],
    packing: Literal["concat", "best-fit", "best-fit-decreasing"] = "best-fit-decreasing",
    seed: int | None = None,
    split: str | None = None,
    overwrite: bool = False,
    on_progress: OnProgress | None = None,
) -> PackedRows:
    """Divides the documents of token files among rows of one length, and writes the rows as an index.

    Only the lengths of documents are read, and no token is written again: the index has the documents of each row and
    their ranges. `open_tokens(folder).rows(out)` reads the rows. The same arguments give the same bytes. Memory does
    not grow with the documents; while the index is written, the lengths take 4 bytes a document on the disk.

    Args:
        folder: token files of `tokenize_files`, or of a job of Ray or Spark, written without `pack` in a format that
            says where documents begin.
        length: tokens of a row.
        out: the folder of the index; made if it is not there.
        packing: how documents are divided, as for `tokenize_files`.
        seed: puts the documents into a pseudo-random order; without it they keep their order.
        split: `train` or `validation`; the first by default.
        overwrite: replaces an index that `out` holds.
        on_progress: called as by `tokenize_files`, with the stage `pack`, in documents; an exception that it raises
            ends the work.

    Returns:
        The rows, opened. `manifest["total"]` has the number of rows, their padding (`padding_tokens`) and the documents
        that are cut (`cut_documents`), and with best fit the same numbers of `concat`.

    Raises:
        OutputError: the folder holds no token files, or `out` holds something else, or an index without `overwrite`.
        OptionError: an option is out of bounds, or the files are packed or do not say where documents begin.
        FileError: a file cannot be read or written, as on a full disk.
    """
    for name, value, least, most in (("length", length, 1, LONGEST_ROW), ("seed", seed, 0, (1 << 63) - 1)):
        if value is not None and not least <= value <= most:
            message = f"{name} is {value} but must be from {least} to {most}"
            raise OptionError(message)
    files = open_tokens(folder, split)
    if files.manifest["options"]["pack"] is not None:
        message = f"{files.folder}: its documents are packed already; write them without pack"
        raise OptionError(message)
    target = Path(local_path(out))
    _check_target(target, overwrite=overwrite)
    options = {"length": length, "packing": packing, "seed": seed, "split": files.split}
    made = {"index_version": INDEX_VERSION, "lexmill": __version__}
    manifest = {**made, "options": options, "tokens": files._fingerprint()}
    with ExitStack() as stack:
        with _writing(target):
            scratch = stack.enter_context(tempfile.TemporaryFile(dir=target))
        write_row_index(
            _lengths(files, scratch, target),
            target,
            length=length,
            packing=packing,
            seed=seed,
            manifest=json.dumps(manifest),
            on_progress=on_progress,
        )
    return files.rows(target)


def check_indexable(format: str, preset: str | None) -> None:
    """Refuses files without the borders of documents.

    Raises:
        OptionError: `preset` is one of them.
    """
    if format == "raw" and preset in ("nanogpt", "llm.c"):
        message = f"packing is index, but files of {preset} do not say where documents begin; choose another format"
        raise OptionError(message)


def remove_index(folder: Path) -> None:
    """Removes an index, if there is one.

    Raises:
        FileError: a file cannot be removed.
    """
    if index_manifest(folder) is None:
        return
    with _writing(folder):
        # The manifest goes first: without it there is no index.
        for name in ("manifest.json", *INDEX_FILES):
            (folder / name).unlink(missing_ok=True)
        if not any(folder.iterdir()):
            folder.rmdir()


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    """Names the folder of an index in the errors of the system."""
    try:
        yield
    except OSError as error:
        message = f"cannot write the index: {error.strerror}"
        raise FileError(error.errno, message, str(folder)) from error


def _check_target(target: Path, *, overwrite: bool) -> None:
    """Makes the folder of an index, or checks that it holds nothing but one that may be replaced."""
    with _writing(target):
        target.mkdir(parents=True, exist_ok=True)
        names = sorted(path.name for path in target.iterdir() if not path.name.startswith("."))
    if index_manifest(target) is not None:
        if not overwrite:
            message = f"{target}: it holds an index; pass overwrite=True to replace it"
            raise OutputError(message)
        return
    # A killed call may have left files of an index without a manifest.
    others = [name for name in names if name not in INDEX_FILES]
    if others:
        message = f"{target}: it holds {others[0]}, which is no index of rows; choose a folder of its own"
        raise OutputError(message)


def _lengths(files: TokenFiles, scratch: IO[bytes], target: Path) -> npt.NDArray[np.uint32]:
    """The tokens of each document, in a mapped file."""
    count = 0
    for lengths in files._lengths():
        with _writing(target):
            scratch.write(lengths.astype("<u4", copy=False).tobytes())
            scratch.flush()
        count += len(lengths)
    if count != len(files):
        message = f"{files.folder}: it holds {count} documents but the manifest says {len(files)}"
        raise OutputError(message)
    return np.memmap(scratch, "<u4", "r", shape=(count,)).view(np.ndarray) if count else np.zeros(0, np.uint32)
