"""Recipes for datasets and DuckDB, beyond the examples of their page."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lexmill import Tokenizer

pa = pytest.importorskip("pyarrow")

# More than a vector of DuckDB, and more than one batch of `map`.
TEXTS = [f"the cat {number} sat on " + "mat " * (number % 40) for number in range(5000)]


def test_map_over_arrow_tables_gives_the_ids_of_encode(wide: Tokenizer) -> None:
    datasets = pytest.importorskip("datasets")
    datasets.disable_progress_bars()

    def encode(table: Any) -> Any:
        return pa.table({"input_ids": pa.array(wide.encode_batch_arrays(table["text"]))})

    data = datasets.Dataset.from_dict({"text": TEXTS}).with_format("arrow")
    tokenized = data.map(encode, batched=True, batch_size=1000, remove_columns=["text"]).with_format(None)
    assert tokenized.column_names == ["input_ids"]
    assert tokenized["input_ids"][:] == wide.encode_batch_ids(TEXTS)


HASH = """
import sys
from datasets.fingerprint import Hasher
from lexmill import Tokenizer
tokenizer = Tokenizer.from_file(sys.argv[1])
def encode(texts):
    return tokenizer.encode_batch_arrays(texts)
encode(["the cat"] * int(sys.argv[2]))
print(Hasher.hash(encode))
"""


def test_fingerprints_stay_in_use_and_in_other_processes(tmp_path: Path, tokenizer: Tokenizer) -> None:
    pytest.importorskip("datasets")
    from datasets.fingerprint import Hasher

    tokenizer.save(str(tmp_path / "tokenizer.json"))
    command = [sys.executable, "-c", HASH, str(tmp_path / "tokenizer.json")]
    hashes = [subprocess.run([*command, str(uses)], capture_output=True, text=True, check=True) for uses in (1, 1000)]
    assert hashes[0].stdout == hashes[1].stdout != ""
    used, other = (Tokenizer.from_file(str(tmp_path / "tokenizer.json")) for _ in range(2))
    used.encode_batch_arrays(TEXTS)
    assert Hasher.hash(used) == Hasher.hash(other) == Hasher.hash(tokenizer)
    for change in (
        lambda: other.add_tokens(["new"]),
        lambda: other.enable_truncation(5),
        lambda: other.enable_padding(length=5),
    ):
        before = Hasher.hash(other)
        change()
        assert Hasher.hash(other) != before


def test_functions_of_duckdb_get_columns_in_parts_and_no_nulls(wide: Tokenizer) -> None:
    duckdb = pytest.importorskip("duckdb")
    sizes = []

    def token_ids(column: Any) -> Any:
        sizes.append(len(column))
        assert column.null_count == 0
        return pa.array(wide.encode_batch_arrays(column))

    kind = {"uint16": "USMALLINT[]", "uint32": "UINTEGER[]"}[wide.encode_batch_arrays([]).ids.dtype.name]
    connection = duckdb.connect()
    connection.create_function("token_ids", token_ids, ["VARCHAR"], kind, type="arrow")
    texts = pa.table({"number": range(len(TEXTS) + 1), "text": [*TEXTS, None]})
    connection.register("texts", texts)
    found = connection.sql("SELECT token_ids(text) FROM texts ORDER BY number").fetchall()
    assert found == [(ids,) for ids in [*wide.encode_batch_ids(TEXTS), None]]
    assert len(sizes) > 2
    assert max(sizes) <= 2048
    column = connection.sql("SELECT text FROM texts WHERE text IS NOT NULL ORDER BY number").to_arrow_table()["text"]
    assert [row.tolist() for row in wide.encode_batch_arrays(column)] == wide.encode_batch_ids(TEXTS)
