"""Columns of the sources, and offsets of tokens, beside the ids."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lexmill import Tokenizer, open_tokens, processors, tokenize_files
from lexmill.errors import FormatError, OptionError, SkippedRecordsWarning
from lexmill.sources import Arrow, ArrowStream, Csv, JsonLines, Lines, Parquet, Source
from token_corpus import trained_tokenizer

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

# More than a block and a batch.
ROWS: list[dict[str, Any]] = [
    {
        "text": "" if number % 13 == 5 else f"Der {number}. Satz ét\u0301é 日本\n" + "ab " * (number % 50),
        "url": None if number % 7 == 3 else f"https://example.org/{number}/\u00fc" + "x" * (number % 90),
        "meta": {"lang": ["de", "fr"][number % 2], "score": number / 4, "deep": {"id": number - 100}},
        "is_new": number % 3 == 0,
    }
    for number in range(4000)
]
SCHEMA = pa.schema(
    [
        ("url", pa.large_string()),
        ("is_new", pa.bool_()),
        ("text", pa.string()),
        (
            "meta",
            pa.struct(
                [
                    ("lang", pa.dictionary(pa.int8(), pa.string())),
                    ("score", pa.float32()),
                    ("deep", pa.struct([("id", pa.int16())])),
                ]
            ),
        ),
    ]
)
KINDS = {"url": "string", "meta.lang": "string", "meta.score": "float64", "meta.deep.id": "int64", "is_new": "bool"}


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return trained_tokenizer([row["text"] for row in ROWS], ["<|end|>", "<|begin|>"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("columns")
    (folder / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    table = pa.Table.from_pylist(ROWS, SCHEMA)
    pq.write_table(table, folder / "in.parquet", row_group_size=1500)
    with pa.ipc.new_stream(folder / "in.arrow", SCHEMA) as stream:
        stream.write_table(table, max_chunksize=700)
    return folder


def found(out: Path, format: str) -> Any:
    """All rows as pyarrow reads them."""
    if format == "parquet":
        return pa.concat_tables(pq.read_table(path) for path in sorted(out.glob("*.parquet")))
    return pa.concat_tables(pa.ipc.open_stream(path).read_all() for path in sorted(out.glob("*.arrow")))


def value_at(row: dict[str, Any], name: str) -> Any:
    value: Any = row
    for key in name.split("."):
        value = value[key]
    return value


def source(folder: Path, kind: str) -> Source:
    if kind == "stream":
        return ArrowStream(pa.ipc.open_stream(folder / "in.arrow").read_all())
    return {"jsonl": JsonLines, "parquet": Parquet, "arrow": Arrow}[kind](folder / f"in.{kind}")


@pytest.mark.parametrize("format", ["arrow", "parquet"])
@pytest.mark.parametrize("kind", ["jsonl", "parquet", "arrow", "stream"])
@pytest.mark.parametrize("shuffle", [False, True])
def test_values_stay_beside_their_documents(
    tmp_path: Path, folder: Path, tokenizer: Tokenizer, format: Any, kind: str, shuffle: bool
) -> None:
    columns: Any = KINDS if kind == "jsonl" else list(KINDS)
    options: dict[str, Any] = {"format": format, "columns": columns, "part_bytes": 100_000, "shuffle": shuffle}
    written = tokenize_files(tokenizer, source(folder, kind), tmp_path, **options)
    assert written.manifest["options"]["columns"] == KINDS
    table = found(tmp_path, format)
    types = {"string": pa.string(), "float64": pa.float64(), "int64": pa.int64(), "bool": pa.bool_()}
    assert {name: table.schema.field(name).type for name in KINDS} == {
        name: types[kind] for name, kind in KINDS.items()
    }
    expected = {
        row["meta"]["deep"]["id"]: (tokenizer.encode(row["text"]).ids, *(value_at(row, name) for name in KINDS))
        for row in ROWS
        if row["text"]
    }
    rows = {row["meta.deep.id"]: (row["input_ids"], *(row[name] for name in KINDS)) for row in table.to_pylist()}
    assert rows == expected
    assert (list(rows) == list(expected)) != shuffle
    assert [ids.tolist() for ids in open_tokens(tmp_path)] == [row[0] for row in rows.values()]


def test_columns_of_json_lines_are_strings_unless_asked(tmp_path: Path, folder: Path, tokenizer: Tokenizer) -> None:
    names = ["meta.score", "is_new", "meta.deep", "absent", "url.deeper"]
    tokenize_files(tokenizer, folder / "in.jsonl", tmp_path, format="arrow", columns=names)
    row = found(tmp_path, "arrow").to_pylist()[1]
    assert [row[name] for name in names] == ["0.25", "false", '{"id": -99}', None, None]


def test_columns_of_csv(tmp_path: Path, tokenizer: Tokenizer) -> None:
    path = tmp_path / "in.csv"
    path.write_text('id,text,url\n1,one,"a,b"\n,two\n3,three,\n')
    columns: Any = {"id": "int64", "url": None}
    tokenize_files(tokenizer, path, tmp_path / "1", format="parquet", columns=columns)
    rows = found(tmp_path / "1", "parquet").to_pylist()
    assert [(row["id"], row["url"]) for row in rows] == [(1, "a,b"), (None, None), (3, "")]
    tokenize_files(tokenizer, Csv(path, column=1), tmp_path / "2", format="parquet", columns=["0"])
    assert found(tmp_path / "2", "parquet")["0"].to_pylist() == ["id", "1", "", "3"]
    with pytest.raises(FormatError, match="there is no column `lang`, only id, text, url"):
        tokenize_files(tokenizer, path, tmp_path / "3", format="parquet", columns=["lang"])
    with pytest.raises(FormatError, match="column `id` is no number, but the file has no names of columns"):
        tokenize_files(tokenizer, Csv(path, column=1), tmp_path / "4", format="parquet", columns=["id"])


@pytest.mark.parametrize("kind", ["jsonl", "csv", "parquet", "arrow"])
def test_a_value_of_another_type_is_a_broken_record(tmp_path: Path, tokenizer: Tokenizer, kind: str) -> None:
    path, texts, ids = tmp_path / f"in.{kind}", ["one", "two", "three"], ["1", "x", "3"]
    if kind == "jsonl":
        path.write_text(
            "".join(
                f'{{"text": "{text}", "id": {id if id != "x" else "{}"}}}\n'
                for text, id in zip(texts, ids, strict=True)
            )
        )
    elif kind == "csv":
        path.write_text("text,id\n" + "".join(f"{text},{id}\n" for text, id in zip(texts, ids, strict=True)))
    else:
        table = pa.table({"text": texts, "id": ids})
        if kind == "parquet":
            pq.write_table(table, path)
        else:
            with pa.ipc.new_stream(path, table.schema) as stream:
                stream.write_table(table)
    classes: dict[str, Any] = {"jsonl": JsonLines, "csv": Csv, "parquet": Parquet, "arrow": Arrow}
    options: dict[str, Any] = {"format": "arrow", "columns": {"id": "int64"}}
    place = {"jsonl": "line 2", "csv": "line 3", "parquet": "row 1", "arrow": "row 1"}[kind]
    with pytest.raises(FormatError, match=rf"{place}: column `id` has \S+ but must have int64"):
        tokenize_files(tokenizer, classes[kind](path), tmp_path / "1", **options)
    with pytest.warns(SkippedRecordsWarning, match="a record was left out"):
        tokenize_files(tokenizer, classes[kind](path, on_error="skip"), tmp_path / "2", **options)
    rows = found(tmp_path / "2", "arrow").to_pylist()
    assert [(row["input_ids"], row["id"]) for row in rows] == [
        (tokenizer.encode("one").ids, 1),
        (tokenizer.encode("three").ids, 3),
    ]


def test_values_stay_beside_their_texts_when_records_are_left_out(tmp_path: Path, tokenizer: Tokenizer) -> None:
    texts = [
        None if number % 3 == 0 else b"\xff" if number % 3 == 1 else f"{number}".encode() for number in range(3000)
    ]
    table = pa.table({"text": pa.array(texts, pa.binary()), "id": range(3000)})
    pq.write_table(table, tmp_path / "in.parquet")
    with pytest.warns(SkippedRecordsWarning, match="2,000 records were left out"):
        tokenize_files(
            tokenizer,
            Parquet(tmp_path / "in.parquet", on_error="skip"),
            tmp_path / "out",
            format="arrow",
            columns=["id"],
        )
    rows = found(tmp_path / "out", "arrow").to_pylist()
    assert [row["input_ids"] for row in rows] == [tokenizer.encode(str(number)).ids for number in range(2, 3000, 3)]
    assert [row["id"] for row in rows] == list(range(2, 3000, 3))


def test_types_of_later_files_have_to_fit(tmp_path: Path, tokenizer: Tokenizer) -> None:
    for name, values in (
        ("1", pa.array([1, 2**63 - 1])),
        ("2", pa.array([0.5, 1.5])),
        ("3", pa.array([2**63, 1], pa.uint64())),
    ):
        pq.write_table(pa.table({"text": ["a", "b"], "n": values, "list": [[1], []]}), tmp_path / f"{name}.parquet")
    paths = [tmp_path / f"{name}.parquet" for name in "123"]
    with pytest.raises(FormatError, match=r"2.parquet: column `n` holds float64 but must hold int64"):
        tokenize_files(tokenizer, paths[:2], tmp_path / "1", format="arrow", columns=["n"])
    with pytest.raises(FormatError, match=r"3.parquet, row 0: column `n` has 9223372036854775808 but must have int64"):
        tokenize_files(tokenizer, paths[2], tmp_path / "2", format="arrow", columns=["n"])
    tokenize_files(tokenizer, paths[:2], tmp_path / "3", format="arrow", columns={"n": "string"})
    assert found(tmp_path / "3", "arrow")["n"].to_pylist() == ["1", str(2**63 - 1), "0.5", "1.5"]
    with pytest.raises(FormatError, match=r"column `list` holds .* but must hold strings, integers"):
        tokenize_files(tokenizer, paths[0], tmp_path / "4", format="arrow", columns=["list"])
    with pytest.raises(FormatError, match="there is no column `m`, only text, n, list"):
        tokenize_files(tokenizer, paths[0], tmp_path / "5", format="arrow", columns=["m"])


@pytest.mark.filterwarnings("ignore::lexmill.errors.DoubledTokenWarning")
@pytest.mark.parametrize("format", ["arrow", "parquet"])
def test_offsets_are_those_of_encode(tmp_path: Path, folder: Path, tokenizer: Tokenizer, format: Any) -> None:
    tokenizer = Tokenizer.from_str(tokenizer.to_str())
    tokenizer.post_processor = processors.TemplateProcessing("<|begin|> $A", special_tokens=[("<|begin|>", 1)])
    tokenize_files(tokenizer, folder / "in.jsonl", tmp_path / "1", format=format, offsets=True, columns=["url"])
    tokenize_files(
        tokenizer, folder / "in.jsonl", tmp_path / "2", format=format, offsets=True, begin_token=1, end_token=0
    )
    encodings = [tokenizer.encode(row["text"]) for row in ROWS if row["text"]]
    for name, before, after in (("1", [], []), ("2", [(0, 0)], [(0, 0)])):
        table = found(tmp_path / name, format)
        assert table.schema.field("offsets_start").type.value_type == pa.int32()
        for encoding, row in zip(encodings, table.to_pylist(), strict=True):
            offsets = list(zip(row["offsets_start"], row["offsets_end"], strict=True))
            assert offsets == [*before, *encoding.offsets, *after]
            assert len(row["input_ids"]) == len(offsets)


def test_options_that_do_not_fit_are_named(tmp_path: Path, folder: Path, tokenizer: Tokenizer) -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"columns": ["url"]}, "columns is given but must be absent unless format is arrow or parquet"),
        ({"offsets": True, "format": "npy"}, "offsets is true but must be absent unless format is arrow or parquet"),
        ({"columns": ["url"], "format": "arrow", "pack": 8}, "columns is given but must be absent with pack"),
        ({"offsets": True, "format": "parquet", "pack": 8}, "offsets is true but must be absent with pack"),
        ({"columns": ["url", "url"], "format": "arrow"}, "column is url but must be a name that no other column has"),
        ({"columns": ["input_ids"], "format": "arrow"}, "column is input_ids but must be a name that no other"),
        ({"columns": ["a..b"], "format": "arrow"}, r"column is a\.\.b but must be a name"),
        ({"columns": {"url": "date"}, "format": "arrow"}, "type of a column is date but must be string, int64"),
        ({"columns": "url", "format": "arrow"}, "columns is 'url' but must be a list of names"),
    ]
    for options, message in cases:
        with pytest.raises(OptionError, match=message):
            tokenize_files(tokenizer, folder / "in.jsonl", tmp_path / "out", **options)
    (tmp_path / "in.txt").write_text("a\n")
    with pytest.raises(OptionError, match="columns is given but must be absent for sources of plain text such as"):
        tokenize_files(tokenizer, Lines(tmp_path / "in.txt"), tmp_path / "out", format="arrow", columns=["url"])
    assert not (tmp_path / "out").exists()
