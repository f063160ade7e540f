"""Arrow files as several libraries write them."""

from __future__ import annotations

import gzip
import random
from pathlib import Path
from typing import Any

import pytest

from lexmill.errors import FileError, LexmillError
from lexmill.sources import Arrow

TEXTS = [f"text {number} é" for number in range(300)]


def without_first_schema(whole: bytes) -> bytes:
    """An Arrow file whose first message is not framed, as polars writes it."""
    return whole[:8] + b"\x04\0\0\0\xf2\xff\xff\xff" + whole[16:]


def written(path: Path, **options: Any) -> bytes:
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table({"text": TEXTS, "kind": pyarrow.array(["a", "b", "c"] * 100).dictionary_encode()})
    with pyarrow.ipc.new_file(path, table.schema, options=pyarrow.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table, max_chunksize=70)
    return path.read_bytes()


@pytest.mark.parametrize("compression", [None, "lz4", "zstd"])
def test_a_file_is_read_by_its_footer(tmp_path: Path, compression: str | None) -> None:
    path = tmp_path / "in.arrow"
    path.write_bytes(without_first_schema(written(path, compression=compression)))
    assert list(Arrow(path)) == TEXTS
    assert list(Arrow(path, column="kind")) == ["a", "b", "c"] * 100
    # What is compressed has no end to begin with.
    path.write_bytes(gzip.compress(path.read_bytes()))
    assert list(Arrow(path)) == TEXTS


def test_files_and_streams_of_old_versions_are_read(tmp_path: Path) -> None:
    path = tmp_path / "in.arrow"
    written(path, use_legacy_format=True)
    assert list(Arrow(path)) == TEXTS


@pytest.mark.parametrize("compression", ["uncompressed", "lz4", "zstd"])
def test_files_of_polars_are_read(tmp_path: Path, compression: Any) -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"text": TEXTS, "kind": ["a", "b", "c"] * 100})
    frame = frame.with_columns(polars.col("kind").cast(polars.Categorical))
    frame.write_ipc(tmp_path / "in.arrow", compression=compression)
    frame.write_ipc_stream(tmp_path / "in.arrows", compression=compression)
    for name in ("in.arrow", "in.arrows"):
        assert list(Arrow(tmp_path / name)) == TEXTS
        assert list(Arrow(tmp_path / name, column="kind")) == ["a", "b", "c"] * 100


def test_feather_of_version_1_is_named(tmp_path: Path) -> None:
    (tmp_path / "in.feather").write_bytes(b"FEA1" + bytes(100) + b"FEA1")
    with pytest.raises(FileError, match=r"in\.feather: Feather files of version 1 are not read"):
        list(Arrow(tmp_path / "in.feather"))


def test_damaged_files_are_errors_that_name_them(tmp_path: Path) -> None:
    path = tmp_path / "in.arrow"
    whole = written(path, compression="lz4")
    numbers = random.Random(0)
    for _ in range(300):
        damaged = bytearray(whole[: numbers.randrange(len(whole))] if numbers.random() < 0.3 else whole)
        for _ in range(numbers.randrange(1, 4)):
            if damaged:
                damaged[numbers.randrange(len(damaged))] ^= 1 << numbers.randrange(8)
        path.write_bytes(damaged)
        found = None
        try:
            list(Arrow(path, on_error="skip"))
        except LexmillError as error:
            found = str(error)
        assert found is None or "in.arrow" in found
