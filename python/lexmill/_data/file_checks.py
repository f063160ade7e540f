"""Compares token files with their manifest."""

from __future__ import annotations

import zlib
from pathlib import Path

from lexmill._data.mask_readers import check_parquet_masks
from lexmill._data.token_readers import DAMAGED
from lexmill.errors import FileError, OutputError

__all__ = ["check_file"]


def check_file(path: Path, written: tuple[int, str], form: str | None) -> None:
    """Compares a file with its size and its checksum, and in Parquet the lengths of masks and documents.

    Args:
        path: the file.
        written: its size in bytes, and its CRC-32 in hexadecimal digits.
        form: the form of the loss masks in the files; None without masks.

    Raises:
        OutputError: the file is missing or is not as it was written.
        FileError: the file cannot be read.
    """
    size, crc = 0, 0
    if path.is_file():
        try:
            with path.open("rb") as file:
                while block := file.read(1 << 20):
                    size, crc = size + len(block), zlib.crc32(block, crc)
        except OSError as error:
            message = f"cannot read {path}: {error.strerror}"
            raise FileError(error.errno, message, str(path)) from error
    if (size, f"{crc:08x}") != written:
        message = f"{path}: it is {'not as it was written' if path.is_file() else 'missing'}"
        raise OutputError(message)
    # The file of the manifest has no rows, and its name begins with a dot.
    if form is not None and path.suffix == ".parquet" and not path.name.startswith("."):
        try:
            check_parquet_masks(path, form)
        except DAMAGED as error:
            message = f"{path}: it is not as it was written: {error}"
            raise OutputError(message) from error
