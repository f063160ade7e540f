"""Ids on disk and on stdin: `.npy` files, or lines of numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from lexmill.cli.display import printable
from lexmill.cli.files import check_inputs
from lexmill.errors import FormatError, IdRangeError

__all__ = ["as_ids", "parse_ids", "read_npy", "read_row_splits", "rows", "write_npy"]

_LARGEST_ID = 2**32 - 1
_NUMBER = re.compile(rb"-?[0-9]{1,40}")


def write_npy(stream: BinaryIO, arrays: Sequence[npt.NDArray[Any]]) -> None:
    """Writes flat arrays of one type end to end as one `.npy`, without joining them in memory."""
    header = {
        "descr": np.lib.format.dtype_to_descr(arrays[0].dtype),
        "fortran_order": False,
        "shape": (sum(len(array) for array in arrays),),
    }
    np.lib.format.write_array_header_1_0(stream, header)
    for array in arrays:
        stream.write(np.ascontiguousarray(array).data)


def read_npy(path: str) -> npt.NDArray[Any]:
    """A flat array of integers from a `.npy` file.

    Raises:
        FileError: the file cannot be read.
        FormatError: it is no `.npy` file, or holds something else.
    """
    check_inputs([path])
    try:
        array = np.load(path, allow_pickle=False)
    except (ValueError, EOFError):
        message = f"{path} is not a complete .npy file of numbers"
        raise FormatError(message) from None
    if not isinstance(array, np.ndarray):
        message = f"{path} is an archive of arrays but must be a single .npy file"
        raise FormatError(message)
    if array.dtype.kind not in "iu":
        message = f"{path} holds {array.dtype} but must hold integers"
        raise FormatError(message)
    if array.ndim != 1:
        message = f"{path} has {array.ndim} dimensions but must have 1"
        raise FormatError(message)
    return array


def read_row_splits(path: str, length: int) -> npt.NDArray[Any]:
    """Where documents begin and end among `length` ids.

    Raises:
        FormatError: they do not ascend from 0 to `length`.
    """
    splits = read_npy(path)
    if len(splits) == 0 or splits[0] != 0 or splits[-1] != length or bool((splits[1:] < splits[:-1]).any()):
        message = f"{path} must ascend from 0 to the {length} ids"
        raise FormatError(message)
    return splits


def rows(ids: npt.NDArray[Any], splits: npt.NDArray[Any]) -> Iterator[npt.NDArray[Any]]:
    """The ids of each document."""
    return (ids[start:end] for start, end in pairwise(splits.tolist()))


def as_ids(numbers: npt.NDArray[Any], origin: str) -> npt.NDArray[np.uint32]:
    """Numbers as ids.

    Raises:
        IdRangeError: one is negative or above 2**32 - 1.
    """
    for extreme in (numbers.min(), numbers.max()) if len(numbers) else ():
        _check_range(int(extreme), origin)
    return numbers.astype(np.uint32, copy=False)


def parse_ids(line: bytes, origin: str) -> npt.NDArray[np.uint32]:
    """Ids of a line of numbers.

    Raises:
        FormatError: something is no number.
        IdRangeError: one is negative or above 2**32 - 1.
    """
    numbers = []
    for word in line.split():
        # int() takes `1_0` and `+1` as well.
        if not _NUMBER.fullmatch(word):
            message = f"{origin}: `{printable(word.decode(errors='replace'))}` is not an id"
            raise FormatError(message)
        number = int(word)
        _check_range(number, origin)
        numbers.append(number)
    return np.array(numbers, np.uint32)


def _check_range(number: int, origin: str) -> None:
    if not 0 <= number <= _LARGEST_ID:
        message = f"{origin}: id {number} is not between 0 and {_LARGEST_ID}"
        raise IdRangeError(message)
