"""Parquet files without the column, with nulls, of other types, without rows, cut off or damaged."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lexmill import Tokenizer, count_words, models, open_tokens, pre_tokenizers, tokenize_files
from lexmill.errors import FileError, FormatError, LexmillError, SkippedRecordsWarning
from lexmill.sources import Parquet

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "in.parquet"


def written(path: Path, **options: Any) -> bytes:
    table = pyarrow.table(
        {
            "id": [1, 2, 3],
            "text": ["a", None, "c"],
            "list": [["x"], ["y"], []],
            "struct": [{"text": "q"}, {"text": None}, None],
            "number": [1.5, 2.0, 3.0],
        }
    )
    parquet.write_table(table, path, **options)
    return path.read_bytes()


def test_an_absent_column_is_named_beside_those_there_are(path: Path) -> None:
    written(path)
    message = r"in\.parquet: there is no column `txt`, only id, text, list\.list\.element, struct\.text, number$"
    with pytest.raises(FormatError, match=message):
        list(Parquet(path, column="txt"))
    with pytest.raises(FormatError, match=message):
        count_words([Parquet(path, column="txt")], pre_tokenizer=pre_tokenizers.Whitespace())


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        ("id", "INT64"),
        ("number", "DOUBLE"),
        ("list", "structs, lists or maps"),
        ("list.list.element", "values of a list or map"),
        ("struct", "structs, lists or maps"),
    ],
)
def test_a_column_of_another_type_is_refused(column: str, kind: str, path: Path) -> None:
    written(path)
    message = rf"in\.parquet: column `{column}` holds {kind} but must hold strings, or bytes that are UTF-8"
    with pytest.raises(FormatError, match=message):
        list(Parquet(path, column=column))


@pytest.mark.parametrize("column", ["text", "struct.text"])
def test_a_null_is_a_broken_record(column: str, path: Path) -> None:
    written(path)
    with pytest.raises(FormatError, match=r"in\.parquet, row 1: the value is null"):
        list(Parquet(path, column=column))
    with pytest.warns(SkippedRecordsWarning, match=r"in\.parquet, row 1: the value is null"):
        assert list(Parquet(path, column=column, on_error="skip")) in (["a", "c"], ["q"])


def test_nulls_are_left_out_of_counts_and_token_files(path: Path, tmp_path: Path) -> None:
    written(path)
    source = Parquet(path, on_error="skip")
    with pytest.warns(SkippedRecordsWarning, match="a record was left out"):
        counts = count_words([source], pre_tokenizer=pre_tokenizers.Whitespace())
    assert (counts.texts, counts.total) == (2, 2)
    tokenizer = Tokenizer(models.WordLevel({"a": 0, "c": 1}, unk_token="a"))
    with pytest.warns(SkippedRecordsWarning, match="a record was left out"):
        tokenize_files(tokenizer, source, tmp_path / "tokens")
    assert [ids.tolist() for ids in open_tokens(tmp_path / "tokens")] == [[0], [1]]


def test_a_column_of_nulls_alone_has_no_texts(path: Path) -> None:
    parquet.write_table(pyarrow.table({"text": pyarrow.array([None, None], pyarrow.string())}), path)
    with pytest.warns(SkippedRecordsWarning, match="2 records were left out"):
        assert list(Parquet(path, on_error="skip")) == []
    parquet.write_table(pyarrow.table({"text": pyarrow.array([None, None])}), path)
    with pytest.warns(SkippedRecordsWarning, match="2 records were left out"):
        assert list(Parquet(path, on_error="skip")) == []


def test_row_groups_without_rows_are_passed_over(path: Path) -> None:
    empty = pyarrow.table({"text": pyarrow.array([], pyarrow.string())})
    with parquet.ParquetWriter(path, empty.schema) as writer:
        for table in (empty, pyarrow.table({"text": ["a"]}), empty, pyarrow.table({"text": ["b"]}), empty):
            writer.write_table(table)
    assert list(Parquet(path)) == ["a", "b"]
    parquet.write_table(empty, path)
    assert list(Parquet(path)) == []


def test_files_that_are_cut_off_or_encrypted_are_named(path: Path) -> None:
    whole = written(path)
    for data in (b"", b"PAR1", b"PAR1PAR1", whole[:4], whole[: len(whole) // 2], whole[:-1], b"plain text\n" * 10):
        path.write_bytes(data)
        with pytest.raises(FileError, match=r"^cannot read \S*in\.parquet: "):
            list(Parquet(path))
    path.write_bytes(whole[:-4] + b"PARE")
    with pytest.raises(FileError, match=r"in\.parquet: .*encrypted"):
        list(Parquet(path))


DAMAGED = """
import sys, warnings
from lexmill.errors import LexmillError
from lexmill.sources import Parquet
warnings.simplefilter("ignore")
for path in sys.argv[1:]:
    try:
        list(Parquet(path, on_error="skip"))
    except LexmillError as error:
        assert path in str(error) or "column" in str(error), error
"""


def test_damaged_files_are_errors_without_a_word_on_standard_error(path: Path, tmp_path: Path) -> None:
    """The decoder may panic, which would show by a line of its own."""
    choose, files = random.Random(3), []
    for number in range(200):
        whole = bytearray(written(path, use_dictionary=number % 2 == 0, compression=["none", "zstd"][number // 2 % 2]))
        for _ in range(choose.randrange(1, 4)):
            whole[choose.randrange(4, len(whole) - 8)] ^= choose.randrange(1, 256)
        files.append(tmp_path / f"{number}.parquet")
        files[-1].write_bytes(whole)
    ran = subprocess.run([sys.executable, "-c", DAMAGED, *map(str, files)], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_a_damaged_file_is_an_error_of_the_package(path: Path) -> None:
    whole = bytearray(written(path))
    whole[-40:-8] = bytes(32)
    path.write_bytes(whole)
    with pytest.raises(LexmillError, match=r"in\.parquet"):
        list(Parquet(path))
