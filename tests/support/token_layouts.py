"""Token files read by hand, from the tables of their layouts: what the tests of `lexmill.token_files` compare with."""

from __future__ import annotations

import csv
import gzip
import io
import struct
from array import array
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

from record_layouts import array_records, litdata_records, mds_records, tar_records

Item = TypeVar("Item")

CODES = {"uint16": "H", "uint32": "I", "int32": "i"}


def ids_of(data: bytes, dtype: str) -> list[int]:
    found = array(CODES[dtype])
    found.frombytes(data)
    return found.tolist()


def divided(ids: list[int], bounds: list[int]) -> list[list[int]]:
    return [ids[start:end] for start, end in pairwise(bounds)]


def read_megatron(folder: Path, dtype: str) -> list[list[int]]:
    documents = []
    for ids_file in sorted(folder.glob("*.bin")):
        ids, index = ids_file.read_bytes(), ids_file.with_suffix(".idx").read_bytes()
        magic, version, code, sequences, entries = struct.unpack_from("<9sQBQQ", index)
        assert (magic, version, code) == (b"MMIDIDX\0\0", 1, {"uint16": 8, "int32": 4}[dtype])
        assert entries == sequences + 1
        lengths = struct.unpack_from(f"<{sequences}i", index, 34)
        offsets = struct.unpack_from(f"<{sequences}q", index, 34 + 4 * sequences)
        assert struct.unpack_from(f"<{entries}q", index, 34 + 12 * sequences) == tuple(range(entries))
        assert len(index) == 34 + 12 * sequences + 8 * entries
        width = 2 if dtype == "uint16" else 4
        assert sum(lengths) * width == len(ids)
        for length, offset in zip(lengths, offsets, strict=True):
            documents.append(ids_of(ids[offset : offset + length * width], dtype))
    return documents


def read_datatrove(folder: Path, dtype: str) -> list[list[int]]:
    documents = []
    for ids_file in sorted(folder.glob("*.ds")):
        ids = ids_of(ids_file.read_bytes(), dtype)
        ends = array("Q", Path(f"{ids_file}.index").read_bytes()).tolist()
        assert ends[-1] == len(ids)
        name, tokens, _ = Path(f"{ids_file}.metadata").read_text().split("\n", 2)
        assert name.endswith(f"|{2 if dtype == 'uint16' else 4}")
        assert int(tokens) == len(ids)
        documents += divided(ids, [0, *ends])
    return documents


def read_dolma(folder: Path, dtype: str) -> list[list[int]]:
    documents = []
    for ids_file in sorted(folder.glob("*.npy")):
        ids = ids_of(ids_file.read_bytes(), dtype)
        table = gzip.decompress(ids_file.with_suffix(".csv.gz").read_bytes()).decode()
        rows = list(csv.reader(io.StringIO(table)))
        starts, ends = [int(row[0]) for row in rows], [int(row[1]) for row in rows]
        assert starts == [0, *ends[:-1]]
        assert ends[-1] == len(ids)
        assert all(Path(row[3]).is_file() for row in rows)
        documents += divided(ids, [0, *ends])
    return documents


def read_nanogpt(folder: Path, dtype: str) -> list[list[int]]:
    (ids_file,) = folder.glob("*.bin")
    return [ids_of(ids_file.read_bytes(), dtype)]


def read_llm_c(folder: Path, dtype: str) -> list[list[int]]:
    found = []
    for ids_file in sorted(folder.glob("*.bin")):
        data = ids_file.read_bytes()
        header = struct.unpack_from("<256i", data)
        ids = ids_of(data[1024:], dtype)
        magic = (20240520, 1) if dtype == "uint16" else (20240801, 7)
        assert header == (*magic, len(ids), *[0] * 253)
        found.append(ids)
    return found


def npy(path: Path) -> tuple[str, tuple[int, ...], bytes]:
    """Type, shape and data of an array."""
    data = path.read_bytes()
    magic, length = struct.unpack_from("<8sH", data)
    assert magic == b"\x93NUMPY\1\0"
    assert (10 + length) % 64 == 0
    header = data[10 : 10 + length].decode()
    assert header.endswith("\n")
    fields = eval(header, {})  # As numpy does it: a literal.
    assert fields["fortran_order"] is False
    return fields["descr"], fields["shape"], data[10 + length :]


def read_npy(folder: Path, dtype: str) -> list[list[int]]:
    documents = []
    for splits_file in sorted(folder.glob("*.row_splits.npy")):
        descr, shape, data = npy(Path(str(splits_file).replace(".row_splits", "")))
        assert descr == {"uint16": "<u2", "uint32": "<u4"}[dtype]
        ids = ids_of(data, dtype)
        size = 1
        for count in shape:
            size *= count
        assert size == len(ids)
        descr, shape, data = npy(splits_file)
        splits = array("q", data).tolist()
        assert (descr, shape) == ("<i8", (len(splits),))
        assert (splits[0], splits[-1]) == (0, len(ids))
        documents += divided(ids, splits)
    return documents


def read_mds(folder: Path, dtype: str) -> list[list[int]]:
    found = [record["tokens"] for record in mds_records(folder)]
    assert {ids.dtype.name for ids in found} <= {dtype}
    return [ids.tolist() for ids in found]


def read_webdataset(folder: Path, dtype: str) -> list[list[int]]:
    found = [record["input_ids"] for record in tar_records(folder)]
    assert {ids.dtype.name for ids in found} <= {dtype}
    return [ids.tolist() for ids in found]


def read_litdata(folder: Path, dtype: str) -> list[list[int]]:
    assert dtype == "int32"
    return [ids.tolist() for ids in litdata_records(folder)]


def read_array_record(folder: Path, dtype: str) -> list[list[int]]:
    return [ids_of(record, dtype) for path in sorted(folder.glob("*.array_record")) for record in array_records(path)]


def _mix(state: int) -> int:
    """SplitMix64: its output from a state."""
    mask = (1 << 64) - 1
    state = (state + 0x9E3779B97F4A7C15) & mask
    state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & mask
    state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & mask
    return state ^ (state >> 31)


def shuffled(documents: list[tuple[int, int, Item]], seed: int) -> list[Item]:
    """Items in the order of a shuffle, each given with the number of its file and the byte of its record."""

    def rank(document: tuple[int, int, Item]) -> tuple[int, int, int]:
        file, byte, _ = document
        return _mix(_mix(_mix(_mix(seed) ^ file) ^ byte)), file, byte

    return [item for _, _, item in sorted(documents, key=rank)]


READERS: dict[tuple[str, str | None], Callable[[Path, str], list[list[int]]]] = {
    ("megatron", None): read_megatron,
    ("npy", None): read_npy,
    ("mds", None): read_mds,
    ("webdataset", None): read_webdataset,
    ("litdata", None): read_litdata,
    ("arrayrecord", None): read_array_record,
    ("raw", "nanogpt"): read_nanogpt,
    ("raw", "datatrove"): read_datatrove,
    ("raw", "dolma"): read_dolma,
    ("raw", "llm.c"): read_llm_c,
}

LAYOUTS: list[tuple[str, str | None]] = [*READERS, ("arrow", None), ("parquet", None)]
"""All layouts, by format and preset."""


def dtype_for(format: str, is_wide: bool) -> str:
    """The type of ids of a small vocabulary, or of one beyond 16 bits."""
    wide = "int32" if format == "megatron" else "uint32"
    return "int32" if format == "litdata" else wide if is_wide else "uint16"


def options_for(format: str, preset: str | None) -> dict[str, Any]:
    """The options that choose a layout."""
    return {"format": format} if preset is None else {"format": format, "preset": preset}
