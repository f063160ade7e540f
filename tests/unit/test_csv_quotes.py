"""Quotation marks in CSV files that are never closed, or closed too soon."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest

from lexmill import count_words, pre_tokenizers
from lexmill.errors import FormatError, SkippedRecordsWarning
from lexmill.sources import Csv

COMPRESSIONS: list[Callable[[bytes], bytes]] = [bytes, gzip.compress, bz2.compress, lzma.compress]


@pytest.mark.parametrize("compress", COMPRESSIONS)
@pytest.mark.parametrize("delimiter", [",", "\t"])
def test_a_quotation_mark_that_is_never_closed_breaks_its_line_alone(
    tmp_path: Path, compress: Callable[[bytes], bytes], delimiter: str
) -> None:
    path = tmp_path / "in.csv"
    text = 'id,text\n1,a\n2,"b\n3,c\n4,d\n'.replace(",", delimiter)
    path.write_bytes(compress(text.encode()))
    with pytest.raises(FormatError, match=r"in\.csv, line 3: a quotation mark opens here that is never closed"):
        list(Csv(path, delimiter=delimiter))
    lenient = Csv(path, delimiter=delimiter, on_error="skip")
    with pytest.warns(SkippedRecordsWarning, match=r"a record was left out: .*in\.csv, line 3: a quotation mark"):
        assert list(lenient) == ["a", "c", "d"]
    with pytest.warns(SkippedRecordsWarning):
        assert count_words([lenient], pre_tokenizer=pre_tokenizers.Whitespace()).texts == 3


def test_the_line_is_that_of_the_quotation_mark(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_bytes(b'text,note\r\n\r\n"a\r\nb","c\r\nd,e\r\n')
    with pytest.raises(FormatError, match=r"line 4: a quotation mark opens here that is never closed"):
        list(Csv(path))
    with pytest.warns(SkippedRecordsWarning, match="line 4"):
        assert list(Csv(path, on_error="skip")) == ["d"]


def test_a_mark_that_the_next_quoted_value_closes_is_found(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_bytes(b'id,text\n1,"a\n2,b\n3,"c"\n4,"d""e"\n')
    with pytest.raises(FormatError, match=r"in\.csv, line 2: text follows the quotation mark that closes"):
        list(Csv(path))
    with pytest.warns(SkippedRecordsWarning, match="a record was left out"):
        assert list(Csv(path, on_error="skip")) == ["b", "c", 'd"e']


def test_names_of_columns_in_open_quotes_are_an_error(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_bytes(b'id,"text\n1,a\n')
    with pytest.raises(FormatError, match=r"in\.csv, line 1: a quotation mark opens here"):
        list(Csv(path, on_error="skip"))


def test_long_values_with_line_ends_are_whole(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    long = 'line, with "marks"\r\n' * 100_000
    quoted = long.replace('"', '""')
    path.write_bytes(f'\ufefftext\n"{quoted}"\na"b\n"c" \n""'.encode())
    assert list(Csv(path)) == [long, 'a"b', "c ", ""]
