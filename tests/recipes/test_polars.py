"""The namespace `lexmill` of polars expressions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import lexmill.polars
from lexmill import Tokenizer
from lexmill.errors import InputTypeError

pl = pytest.importorskip("polars")

TEXTS = ["the cat", "", "on the mat", "naïve 🐈\r\n", "the " * 40_000, *(f"cat {number}" for number in range(500))]


def ids_of(tokenizer: Tokenizer, texts: list[str | None]) -> list[list[int] | None]:
    return [None if text is None else tokenizer.encode(text).ids for text in texts]


@pytest.fixture(params=["without nulls", "with nulls", "nulls alone", "no rows"])
def texts(request: pytest.FixtureRequest) -> list[str | None]:
    return {
        "without nulls": [*TEXTS],
        "with nulls": [None, *TEXTS[:3], None, *TEXTS[3:], None],
        "nulls alone": [None, None],
        "no rows": [],
    }[request.param]


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
def test_rows_equal_encode(wide: Tokenizer, texts: list[str | None], engine: Any) -> None:
    query = pl.LazyFrame({"text": texts}, schema={"text": pl.String}).select(
        ids=pl.col("text").lexmill.encode_ids(wide), count=pl.col("text").lexmill.count_tokens(wide)
    )
    expected = ids_of(wide, texts)
    dtype = {"uint16": pl.UInt16, "uint32": pl.UInt32}[wide.encode_batch_arrays([]).ids.dtype.name]
    assert query.collect_schema() == {"ids": pl.List(dtype), "count": pl.Int64}
    found = query.collect(engine=engine)
    assert found.schema == query.collect_schema()
    assert found["ids"].to_list() == expected
    assert found["count"].to_list() == [None if ids is None else len(ids) for ids in expected]


def test_padding_is_not_counted(tokenizer: Tokenizer) -> None:
    padding = Tokenizer.from_str(tokenizer.to_str())
    padding.enable_padding()
    frame = pl.DataFrame({"text": [None, *TEXTS]})
    found = frame.select(pl.col("text").lexmill.count_tokens(padding))["text"].to_list()
    assert found == [None, *(len(tokenizer.encode(text).ids) for text in TEXTS)]


def test_results_have_the_name_of_the_column(tokenizer: Tokenizer) -> None:
    frame = pl.DataFrame({"text": TEXTS[:2]})
    assert frame.select(pl.col("text").lexmill.encode_ids(tokenizer)).columns == ["text"]
    assert frame.select(pl.col("text").lexmill.count_tokens(tokenizer)).columns == ["text"]


def test_parts_of_a_column_are_encoded_as_the_whole_is(tokenizer: Tokenizer) -> None:
    column = pl.concat([pl.Series("text", TEXTS[:3]), pl.Series("text", [None, *TEXTS[3:]])], rechunk=False)
    frame = pl.DataFrame({"text": column, "group": [number % 3 for number in range(len(column))]})
    ids = pl.col("text").lexmill.encode_ids(tokenizer)
    assert frame.select(ids)["text"].to_list() == ids_of(tokenizer, column.to_list())
    assert frame[2:7].select(ids)["text"].to_list() == ids_of(tokenizer, column[2:7].to_list())
    for _, texts, found in frame.group_by("group").agg("text", ids=ids).rows():
        assert found == ids_of(tokenizer, texts)


def test_rows_are_not_padded(tokenizer: Tokenizer) -> None:
    padded = Tokenizer.from_str(tokenizer.to_str())
    padded.enable_padding(length=8)
    frame = pl.DataFrame({"text": ["the cat", "on the mat"]})
    found = frame.select(pl.col("text").lexmill.encode_ids(padded))["text"].to_list()
    assert found == ids_of(tokenizer, ["the cat", "on the mat"])


def test_special_tokens_of_the_post_processor(tokenizer: Tokenizer) -> None:
    from lexmill.processors import TemplateProcessing

    special = Tokenizer.from_str(tokenizer.to_str())
    special.add_special_tokens(["<s>"])
    special.post_processor = TemplateProcessing("<s> $A", None, [("<s>", special.token_to_id("<s>"))])
    text, frame = pl.col("text").lexmill, pl.DataFrame({"text": ["the cat"]})
    for adds, more in ((True, 1), (False, 0)):
        ids = special.encode("the cat", add_special_tokens=adds).ids
        assert len(ids) == 2 + more
        assert frame.select(text.encode_ids(special, add_special_tokens=adds)).item().to_list() == ids
        assert frame.select(text.count_tokens(special, add_special_tokens=adds)).item() == len(ids)


def test_larger_ids_after_the_expression_are_an_error(tokenizer: Tokenizer) -> None:
    growing = Tokenizer.from_str(tokenizer.to_str())
    ids = pl.col("text").lexmill.encode_ids(growing)
    growing.add_tokens([f"<extra {number}>" for number in range(1 << 16)])
    with pytest.raises(pl.exceptions.SchemaError, match="UInt32"):
        pl.DataFrame({"text": ["the cat"]}).select(ids)


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
@pytest.mark.parametrize(
    ("values", "dtype", "name"),
    [
        ([1, 2], "Int64", "Int64"),
        ([1, None], "Int8", "Int8"),
        ([], "Float64", "Float64"),
        ([["a"], ["b"]], None, r"List\(String\)"),
        (["a", "b"], "Categorical", "Categorical"),
        (["a", None], "Categorical", "Categorical"),
    ],
)
def test_columns_of_other_types_are_errors(
    tokenizer: Tokenizer, values: list[Any], dtype: str | None, name: str, engine: Any
) -> None:
    query = pl.LazyFrame({"text": pl.Series(values, dtype=dtype and getattr(pl, dtype))})
    message = f"column 'text' is of type {name} but must be String or Binary; .cast"
    for method in ("encode_ids", "count_tokens"):
        with pytest.raises(InputTypeError, match=message):
            query.select(getattr(pl.col("text").lexmill, method)(tokenizer)).collect(engine=engine)
    texts = pl.col("text").cast(pl.String)
    if name != r"List\(String\)":
        expected = [None if value is None else tokenizer.encode(str(value)).ids for value in values]
        assert query.select(texts.lexmill.encode_ids(tokenizer)).collect()["text"].to_list() == expected


@pytest.mark.parametrize("values", [[None, None], [None, b"the cat", None, b"", b"mat"], [b"the cat"]])
def test_columns_of_bytes_and_of_nulls(tokenizer: Tokenizer, values: list[bytes | None]) -> None:
    frame = pl.DataFrame({"text": values})
    expected = ids_of(tokenizer, [None if value is None else value.decode() for value in values])
    assert frame.select(pl.col("text").lexmill.encode_ids(tokenizer))["text"].to_list() == expected
    counts = [None if ids is None else len(ids) for ids in expected]
    assert frame.select(pl.col("text").lexmill.count_tokens(tokenizer))["text"].to_list() == counts


def test_files_pass_through_in_parts(tmp_path: Path, tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch) -> None:
    parts, column = [], lexmill.polars._column

    def noted(call: Any, texts: Any) -> Any:
        parts.append(len(texts))
        return column(call, texts)

    monkeypatch.setattr(lexmill.polars, "_column", noted)
    pl.DataFrame({"text": [*TEXTS, None]}).write_parquet(tmp_path / "texts.parquet", row_group_size=100)
    query = pl.scan_parquet(tmp_path / "texts.parquet").select(ids=pl.col("text").lexmill.encode_ids(tokenizer))
    query.sink_parquet(tmp_path / "tokens.parquet", engine="streaming")
    assert pl.read_parquet(tmp_path / "tokens.parquet")["ids"].to_list() == ids_of(tokenizer, [*TEXTS, None])
    assert len(parts) > 1
    assert sum(parts) == len(TEXTS) + 1
