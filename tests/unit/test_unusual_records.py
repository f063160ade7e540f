"""Records as Python writes them, with numbers that JSON has not, columns of nulls, and tables in the place of files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from lexmill import count_words, tokenize_files
from lexmill.errors import FormatError, InputTypeError, SkippedRecordsWarning
from lexmill.sources import Arrow, ArrowStream, JsonLines, Parquet
from small import letters

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

NOT_FINITE = [float("nan"), float("inf"), float("-inf")]


def lines(path: Path, *records: object) -> Path:
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    return path


def test_numbers_that_are_not_finite_are_passed_over(tmp_path: Path) -> None:
    records = [{"q": [1, {"x": number}], "text": f"a NaN {at}", "NaN": number} for at, number in enumerate(NOT_FINITE)]
    path = lines(tmp_path / "a.jsonl", *records, {"text": "Infinity"})
    assert list(JsonLines(path)) == ["a NaN 0", "a NaN 1", "a NaN 2", "Infinity"]


def test_added_columns_keep_them(tmp_path: Path) -> None:
    path = lines(tmp_path / "a.jsonl", *({"text": "a", "q": number} for number in [1.5, *NOT_FINITE]))
    found = tokenize_files(letters(), JsonLines(path), tmp_path / "out", format="parquet", columns={"q": "float64"})
    assert found is not None
    table = pq.read_table(next((tmp_path / "out").glob("part-*.parquet")))
    assert [str(value) for value in table["q"].to_pylist()] == ["1.5", "nan", "inf", "-inf"]
    tokenize_files(letters(), JsonLines(path), tmp_path / "texts", format="parquet", columns={"q": "string"})
    table = pq.read_table(next((tmp_path / "texts").glob("part-*.parquet")))
    assert table["q"].to_pylist() == ["1.5", "NaN", "Infinity", "-Infinity"]


@pytest.mark.parametrize("record", ['{"text": NaN}', '{"text": -Infinity}', '{"text": "a", "q": Nan}', '{"q": NaN}'])
def test_a_number_is_no_text(record: str, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(f'{{"text": "a"}}\n{record}\n')
    with pytest.raises(FormatError, match=r"a\.jsonl, line 2: ") as info:
        list(JsonLines(path))
    # The line is counted once.
    assert str(info.value).count(" line ") == 1


@pytest.mark.parametrize("record", ['{"text": "a', '{"text": "a"', "{", '{"text": "\x01"}'])
def test_a_record_that_is_cut_names_one_line(record: str, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(f"{record}\n")
    with pytest.raises(FormatError, match=r"a\.jsonl, line 1: .* at byte \d+$"):
        list(JsonLines(path))


def test_a_list_is_told_from_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps([{"text": "a"}], indent=1))
    with pytest.raises(FormatError, match="JSON lines have an object in each line"):
        list(JsonLines(path))


@pytest.fixture
def nulls() -> object:
    return pa.table({"text": pa.nulls(3), "id": [1, 2, 3]})


def test_a_column_of_nulls_is_nulls(nulls: pa.Table, tmp_path: Path) -> None:
    pq.write_table(nulls, tmp_path / "a.parquet", row_group_size=2)
    with pa.OSFile(str(tmp_path / "a.arrow"), "wb") as file, pa.ipc.new_file(file, nulls.schema) as writer:
        writer.write_table(nulls)
    for read in (
        lambda on_error: Parquet(tmp_path / "a.parquet", on_error=on_error),
        lambda on_error: Arrow(tmp_path / "a.arrow", on_error=on_error),
        lambda on_error: ArrowStream(nulls, on_error=on_error),
    ):
        with pytest.raises(FormatError, match="the value is null"):
            list(read("raise"))
        with pytest.warns(SkippedRecordsWarning, match="3 records were left out"):
            assert list(read("skip")) == []


def test_an_added_column_of_nulls_is_nulls(nulls: pa.Table, tmp_path: Path) -> None:
    table = nulls.rename_columns(["note", "id"]).append_column("text", pa.array(["a", "b", "c"]))
    pq.write_table(table, tmp_path / "a.parquet")
    tokenize_files(letters(), Parquet(tmp_path / "a.parquet"), tmp_path / "out", format="parquet", columns=["note"])
    assert pq.read_table(next((tmp_path / "out").glob("part-*.parquet")))["note"].to_pylist() == [None, None, None]


def test_types_are_named_in_words(tmp_path: Path) -> None:
    columns = {"text": pa.array([1], pa.uint16())}
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    with pytest.raises(FormatError, match="column `text` holds uint16 but must hold strings"):
        list(Parquet(tmp_path / "a.parquet"))


class DataSet:
    """As much of a Hugging Face data set as is looked at."""

    column_names = ("text",)

    def __iter__(self) -> Iterator[dict[str, str]]:
        return iter([{"text": "a"}])

    def with_format(self, kind: str) -> DataSet:
        return self


TAKERS: dict[str, Callable[[Any], object]] = {
    "train": lambda given: letters().train(given),
    "count_words": count_words,
    "tokenize_files": lambda given: tokenize_files(letters(), given, "unused"),
    "encode_files_arrays": lambda given: letters().encode_files_arrays(given),
    "count_tokens_files": lambda given: letters().count_tokens_files(given),
}


@pytest.mark.parametrize("taker", TAKERS)
def test_tables_in_the_place_of_files_are_told(taker: str) -> None:
    dataset, table, words = (
        DataSet(),
        pa.table({"text": ["a"]}),
        r"is of type \w+ but must be a list of paths or sources",
    )
    for given, message in [
        (dataset, rf'{words}; pass \[ArrowStream\(dataset\.with_format\("arrow"\)\[:\]\)\] of lexmill\.sources'),
        (table, rf"{words}; pass \[ArrowStream\(table\)\]"),
        # Training takes a dictionary by the names of domains.
        ({"train": dataset}, rf"{words}; pass " + (r"\[ArrowStream" if taker == "train" else "one of its tables")),
        ([dataset], r"have an item of type DataSet .*; pass \[ArrowStream\(dataset"),
        (list(dataset), r"have an item of type dict but must be paths or sources; rows of a table are read by"),
    ]:
        with pytest.raises(InputTypeError, match=message):
            TAKERS[taker](given)


def test_a_data_set_as_a_stream_is_told() -> None:
    with pytest.raises(InputTypeError, match=r'__arrow_c_stream__; pass dataset\.with_format\("arrow"\)\[:\]$'):
        list(ArrowStream(cast("Any", DataSet())))
