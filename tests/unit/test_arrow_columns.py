"""Columns of Arrow token files, which are read by their names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("jinja2")
pytest.importorskip("pyarrow")

import pyarrow as pa

from lexmill import open_tokens
from lexmill.errors import OutputError
from lexmill.messages import tokenize_message_files
from message_runs import Rows, byte_level, conversations, rows_in, write_chats

LOSSES = ["mask", "labels", "ranges"]


@pytest.fixture(scope="module", params=LOSSES)
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp(request.param)
    source = write_chats(path / "chats.jsonl", conversations(50))
    tokenize_message_files(byte_level(), source, path / "o", "chatml", format="arrow", loss=request.param)
    return path / "o"


@pytest.fixture(scope="module")
def rows(folder: Path) -> Rows:
    return rows_in(open_tokens(folder))


@pytest.fixture
def table(folder: Path) -> Any:
    """The table in the file; the file is restored after the test."""
    path = folder / "data-00000.arrow"
    whole = path.read_bytes()
    yield pa.ipc.open_stream(whole).read_all()
    path.write_bytes(whole)


def rewrite(folder: Path, table: Any) -> None:
    with pa.ipc.new_stream(str(folder / "data-00000.arrow"), table.schema) as stream:
        stream.write_table(table)


def test_the_order_of_columns_does_not_matter(folder: Path, rows: Rows, table: Any) -> None:
    more = table.append_column("more", pa.array([[number] for number in range(len(table))], pa.list_(pa.int64())))
    for changed in (more, more.select(more.column_names[::-1])):
        rewrite(folder, changed.append_column("url", pa.array(["u"] * len(table))))
        assert rows_in(open_tokens(folder)) == rows


def test_a_missing_column_is_an_error(folder: Path, table: Any) -> None:
    first, *others = table.column_names
    rewrite(folder, table.drop_columns(others[0]))
    assert len(open_tokens(folder)[0])
    with pytest.raises(OutputError, match=f"data-00000.arrow: .* one column {others[0]} but has the columns {first}"):
        open_tokens(folder).mask[0]
    rewrite(folder, table.rename_columns(["ids", *others]))
    with pytest.raises(OutputError, match=f"must have one column input_ids but has the columns ids, {others[0]}"):
        open_tokens(folder)[0]
    rewrite(folder, table.append_column(first, table[first]))
    with pytest.raises(OutputError, match="must have one column input_ids but has the columns input_ids, "):
        open_tokens(folder)[0]


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (pa.list_(pa.int64()), "column input_ids has integers of 64 bits but the manifest says uint16"),
        (pa.large_list(pa.uint16()), "column input_ids has no lists of integers"),
        (pa.list_(pa.float32()), "column input_ids has no lists of integers"),
    ],
)
def test_another_type_is_an_error(folder: Path, table: Any, other: Any, message: str) -> None:
    rewrite(folder, table.set_column(0, "input_ids", table["input_ids"].cast(other)))
    with pytest.raises(OutputError, match=message):
        open_tokens(folder)[0]


def test_a_column_after_texts_is_an_error(folder: Path, table: Any) -> None:
    rewrite(folder, table.add_column(0, "url", pa.array(["u"] * len(table))))
    with pytest.raises(OutputError, match="column url has no lists of integers, as column input_ids and all columns"):
        open_tokens(folder)[0]


def test_nulls_are_an_error(folder: Path, table: Any) -> None:
    for value in (None, [None, 1]):
        ids = pa.array([value, *table["input_ids"].to_pylist()[1:]], pa.list_(pa.uint16()))
        rewrite(folder, table.set_column(0, "input_ids", ids))
        with pytest.raises(OutputError, match="column input_ids has nulls"):
            open_tokens(folder)[0]
