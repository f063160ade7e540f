"""Records of MDS, WebDataset, litdata and ArrayRecord read by hand, from the tables of their layouts."""

from __future__ import annotations

import io
import json
import struct
import tarfile
from collections.abc import Iterator
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Record = dict[str, "npt.NDArray[Any]"]
"""The arrays of a document or row, by their names."""


def offset_records(data: bytes) -> list[bytes]:
    """Records after a table of 32-bit offsets."""
    (count,) = struct.unpack_from("<I", data)
    offsets = struct.unpack_from(f"<{count + 1}I", data, 4)
    assert offsets[-1] == len(data)
    return [data[start:end] for start, end in pairwise(offsets)]


def mds_records(folder: Path) -> Iterator[Record]:
    index = json.loads((folder / "index.json").read_text())
    assert index["version"] == 2
    for shard in index["shards"]:
        assert (shard["format"], shard["version"], shard["compression"], shard["zip_data"]) == ("mds", 2, None, None)
        assert shard["column_names"] == sorted(shard["column_names"])
        data = (folder / shard["raw_data"]["basename"]).read_bytes()
        records = offset_records(data)
        assert (len(data), len(records)) == (shard["raw_data"]["bytes"], shard["samples"])
        begin = 8 + 4 * len(records)
        config = json.loads(data[begin : struct.unpack_from("<I", data, 4)[0]])
        assert config == {name: value for name, value in shard.items() if name in config}
        assert shard.keys() - config.keys() == {"raw_data", "samples", "zip_data"}
        for record in records:
            yield mds_record(shard, record)


def mds_record(shard: dict[str, Any], record: bytes) -> Record:
    stream, found = io.BytesIO(record), {}
    sizes = [size or struct.unpack("<I", stream.read(4))[0] for size in shard["column_sizes"]]
    for name, encoding, size in zip(shard["column_names"], shard["column_encodings"], sizes, strict=True):
        value = io.BytesIO(stream.read(size))
        kind, dtype, *shape = encoding.split(":")
        assert kind == "ndarray"
        if not shape:
            (axes,) = value.read(1)
            assert axes >> 2 == 1
            width = 1 << (axes & 3)
            shape = [str(int.from_bytes(value.read(width), "little"))]
        found[name] = np.frombuffer(value.read(), dtype)
        assert found[name].shape == (int(shape[0]),)
    assert stream.read() == b""
    return found


def tar_records(folder: Path) -> Iterator[Record]:
    keys = []
    for path in sorted(folder.glob("*.tar")):
        with tarfile.open(path) as tar:
            for key, members in groupby(tar.getmembers(), lambda member: member.name.partition(".")[0]):
                keys.append(key)
                files = [(member.name, tar.extractfile(member)) for member in members]
                arrays = [(name, np.load(io.BytesIO(file.read()))) for name, file in files if file is not None]
                yield {name.partition(".")[2].removesuffix(".npy"): array for name, array in arrays}
    assert len(set(keys)) == len(keys)


def litdata_records(folder: Path) -> Iterator[npt.NDArray[np.int32]]:
    index = json.loads((folder / "index.json").read_text())
    assert index["config"]["data_format"] == ["no_header_tensor:16"]
    assert json.loads(index["config"]["data_spec"]) == [1, {"type": None, "context": None, "children_spec": []}]
    for chunk in index["chunks"]:
        data = (folder / chunk["filename"]).read_bytes()
        records = [np.frombuffer(record, np.int32) for record in offset_records(data)]
        assert (chunk["chunk_size"], chunk["chunk_bytes"]) == (len(records), len(data))
        # The loader of tokens takes all after the table for ids end to end.
        assert (np.frombuffer(data, np.int32, offset=4 * (len(records) + 2)) == np.concatenate(records)).all()
        assert chunk["dim"] == sum(map(len, records))
        yield from records


BLOCK = 1 << 16


def array_records(path: Path) -> list[bytes]:
    """The records of an ArrayRecord file; hashes are left to its own library."""
    file = path.read_bytes()
    assert len(file) % BLOCK == 0
    # Each block begins with a header of 24 bytes.
    data = b"".join(file[start + 24 : start + BLOCK] for start in range(0, len(file), BLOCK))
    chunks, at = [], 0
    while at < len(data):
        _, size, _, kind, decoded = struct.unpack_from("<5Q", data, at)
        records = simple_records(data[at + 40 : at + 40 + size], kind >> 8) if kind & 0xFF == ord("r") else []
        assert sum(map(len, records)) == decoded
        chunks.append((chr(kind & 0xFF), at, records))
        at += 40 + size
    kinds = "".join(kind for kind, *_ in chunks)
    # A signature, a chunk for each record, the footer, and in the last block the postscript.
    assert kinds == "s" + "r" * (len(kinds) - 5) + "rprp"
    (_, footer_at, footer), (_, _, postscript) = chunks[-4], chunks[-2]
    rows = [(position(at), records) for _, at, records in chunks[1:-4]]
    assert [fields(copy) for copy in postscript] == [{1: position(footer_at), 2: 0x71930E704FDAE05E}] * 3
    metadata, *entries = [fields(record) for record in footer]
    assert [entry for entry in entries] == [{1: at, 2: len(records[0]), 3: 1} for at, records in rows]
    counts = fields(metadata[1])
    assert (counts[1], counts[2], counts[3]) == (1, len(rows), len(rows))
    assert counts[4].startswith(b"group_size:1,")
    return [record for _, records in rows for record in records]


def position(at: int) -> int:
    """The position in the file of a chunk that begins after so many bytes without block headers."""
    blocks, rest = divmod(at, BLOCK - 24)
    return blocks * BLOCK + (rest + 24 if rest else 0)


def simple_records(data: bytes, count: int) -> list[bytes]:
    assert data[0] == 0
    length, at = varint(data, 1)
    end, records, start = at + length, [], at + length
    for _ in range(count):
        size, at = varint(data, at)
        records.append(data[start : start + size])
        start += size
    assert (at, start) == (end, len(data))
    return records


def varint(data: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        number |= (data[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 0x80:
            return number, at


def fields(message: bytes) -> dict[int, Any]:
    found: dict[int, Any] = {}
    at = 0
    while at < len(message):
        tag, at = varint(message, at)
        found[tag >> 3], at = varint(message, at)
        if tag & 7 == 2:
            length = found[tag >> 3]
            found[tag >> 3] = message[at : at + length]
            at += length
    return found
