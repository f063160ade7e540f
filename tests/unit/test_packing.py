"""Documents in rows of one length: files, indexes, reports and errors."""

from __future__ import annotations

import json
import pickle
import random
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from engines import Engine
from lexmill import open_tokens, pack_tokens, tokenize_files
from lexmill.errors import FileError, OptionError, OutputError, VocabError
from lexmill.sources import Lines
from lexmill.token_files import TokenFiles
from packing_cases import (
    PAD,
    columns,
    end_to_end,
    filled,
    reference_rows,
    tokenizer,
    tokens_of,
    write_documents,
)
from record_layouts import array_records, litdata_records, mds_records, tar_records
from token_runs import contents

GOLDEN = json.loads((Path(__file__).parents[1] / "golden/packing.json").read_text())["cases"]
LENGTHS = random.Random(4).choices([1, 2, 3, 5, 9, 14, 16, 17, 40], k=400)
ROW = 16
METHODS = ["best-fit", "best-fit-decreasing"]
COLUMNS = ["position_ids", "document_ids", "cu_seqlens"]


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: case["name"])
@pytest.mark.filterwarnings("ignore::lexmill.errors.EmptyCorpusWarning")
def test_golden_cases(tmp_path: Path, case: dict[str, Any], engine: Engine) -> None:
    lengths, length, packing = case["lengths"], case["length"], case["packing"]
    if engine.name == "reference":
        found = reference_rows(lengths, length, packing)
    else:
        tokens_of(tmp_path, lengths)
        rows = pack_tokens(tmp_path / "tokens", length=length, packing=packing, out=tmp_path / "rows")
        found = [[tuple(part) for part in rows.slices(row).tolist()] for row in range(len(rows))]
    assert found == [[tuple(part) for part in row] for row in case["rows"]]


@pytest.mark.parametrize("packing", METHODS)
@pytest.mark.parametrize("format", ["arrow", "parquet", "npy", "mds", "webdataset"])
def test_rows_and_columns(tmp_path: Path, format: Any, packing: Any) -> None:
    asked: Any = COLUMNS[:2] if format == "npy" else COLUMNS
    options: dict[str, Any] = {"format": format, "pack": ROW, "packing": packing, "pack_columns": asked}
    written = tokens_of(tmp_path, LENGTHS, **options)
    documents, rows = write_documents(tmp_path / "texts.txt", LENGTHS), reference_rows(LENGTHS, ROW, packing)
    assert [row.tolist() for row in written] == filled(documents, rows, ROW)
    found = read_columns(tmp_path / "tokens", format, asked)
    expected = [columns(row, ROW) for row in rows]
    for name, values in found.items():
        assert values == [row[name] for row in expected], name
    if format == "npy":
        splits = np.load(tmp_path / "tokens/part-00000.row_splits.npy").tolist()
        starts = [number * ROW + start for number, row in enumerate(expected) for start in row["seq_start_id"]]
        assert splits == [*starts, len(rows) * ROW]
    written.verify()


RECORDS = {"mds": mds_records, "webdataset": tar_records}


def read_columns(folder: Path, format: str, names: list[str]) -> dict[str, list[list[int]]]:
    if format == "npy":
        return {name: np.load(folder / f"part-00000.{name}.npy").tolist() for name in names}
    if format in RECORDS:
        records = list(RECORDS[format](folder))
        assert all(record.keys() - {"input_ids", "tokens"} == {"seq_start_id", *names} for record in records)
        return {name: [record[name].tolist() for record in records] for name in ["seq_start_id", *names]}
    if format == "parquet":
        table = pq.read_table(folder / "part-00000.parquet")
    else:
        table = pa.ipc.open_stream(folder / "data-00000.arrow").read_all()
    assert table.column_names == ["input_ids", "seq_start_id", *names]
    return {name: table[name].to_pylist() for name in ["seq_start_id", *names]}


@pytest.mark.parametrize("format", ["litdata", "arrayrecord"])
def test_rows_without_columns(tmp_path: Path, format: Any) -> None:
    options: dict[str, Any] = {"format": format, "pack": ROW, "packing": "best-fit", "part_bytes": 3000}
    written = tokens_of(tmp_path, LENGTHS, validation=0.3, **options)
    for split in ("train", "validation"):
        folder, rows = written.folder / split, [row.tolist() for row in open_tokens(written.folder, split)]
        if format == "litdata":
            found = [ids.tolist() for ids in litdata_records(folder)]
        else:
            records = [record for path in sorted(folder.iterdir()) for record in array_records(path)]
            found = [np.frombuffer(record, "<u2").tolist() for record in records]
        assert found == rows
        assert {len(row) for row in rows} == {ROW}
    written.verify()
    with pytest.raises(OptionError, match=f"position_ids but must be absent with format {format}, whose records have"):
        tokens_of(tmp_path, LENGTHS, "columns", pack_columns=COLUMNS[:1], **options)


@pytest.mark.parametrize("packing", METHODS)
def test_the_report_counts_padding_and_cut_documents(tmp_path: Path, packing: Any) -> None:
    written = tokens_of(tmp_path, LENGTHS, format="npy", pack=ROW, packing=packing)
    total, rows = written.manifest["total"], reference_rows(LENGTHS, ROW, packing)
    cut, padding = end_to_end(LENGTHS, ROW)
    assert total["rows"] == len(rows) == len(written)
    assert total["padding_tokens"] == len(rows) * ROW - sum(LENGTHS)
    assert total["cut_documents"] == sum(1 for length in LENGTHS if length > ROW)
    assert (total["concat_cut_documents"], total.get("concat_padding_tokens", 0)) == (cut, padding)
    index = pack_tokens(tokens_of(tmp_path, LENGTHS, "bare").folder, length=ROW, packing=packing, out=tmp_path / "rows")
    sums = index.manifest["total"]
    assert {name: total.get(name) for name in sums} == sums
    concat = tokens_of(tmp_path, LENGTHS, "concat", format="npy", pack=ROW, pad_token=PAD)
    sums = concat.manifest["total"]
    assert (sums["cut_documents"], sums.get("padding_tokens", 0)) == (cut, padding)
    assert not {name for name in sums if name.startswith("concat")}


@pytest.mark.parametrize("packing", METHODS)
def test_splits_and_parts_are_packed_by_themselves(tmp_path: Path, packing: Any) -> None:
    options: dict[str, Any] = {"part_bytes": 900, "validation": 0.3}
    plain = tokens_of(tmp_path, LENGTHS, "plain", **options)
    packed = tokens_of(tmp_path, LENGTHS, "packed", format="npy", pack=ROW, packing=packing, **options)
    assert len(packed.manifest["parts"]) > 3
    for split in ("train", "validation"):
        documents, rows, at = [ids.tolist() for ids in open_tokens(plain.folder, split)], [], 0
        for part in plain.manifest["parts"]:
            count = part.get("validation_documents", 0)
            count = count if split == "validation" else part["documents"] - count
            inner = documents[at : at + count]
            at += count
            rows += filled(inner, reference_rows([len(ids) for ids in inner], ROW, packing), ROW)
        assert [row.tolist() for row in open_tokens(packed.folder, split)] == rows
    packed.verify()


class StopError(Exception):
    """Raised to cut a run short."""


@pytest.mark.parametrize("packing", METHODS)
@pytest.mark.parametrize("format", ["arrow", "npy", "mds", "webdataset"])
def test_neither_threads_nor_an_interruption_change_the_files(tmp_path: Path, format: Any, packing: Any) -> None:
    options: dict[str, Any] = {"format": format, "pack": ROW, "packing": packing, "part_bytes": 1500}
    options |= {"pack_columns": COLUMNS[:2], "validation": 0.2, "shuffle": True, "seed": 5}
    tokens_of(tmp_path, LENGTHS, "one", num_threads=1, **options)
    tokens_of(tmp_path, LENGTHS, "many", num_threads=4, **options)

    def stop(stage: str, done: int, total: int, *_: object) -> None:
        if stage == "shuffle" or done == total:
            raise StopError

    source, out = Lines(tmp_path / "texts.txt"), tmp_path / "cut"
    for _ in range(2):
        with pytest.raises(StopError):
            tokenize_files(tokenizer(), source, out, resume=True, on_progress=stop, **options)
    tokenize_files(tokenizer(), source, out, resume=True, **options)
    assert contents(tmp_path / "one") == contents(tmp_path / "many") == contents(tmp_path / "cut")


def test_overwriting_removes_the_files_of_columns(tmp_path: Path) -> None:
    options: dict[str, Any] = {"format": "npy", "pack": ROW, "packing": "best-fit"}
    tokens_of(tmp_path, LENGTHS, pack_columns=COLUMNS[:2], **options)
    tokens_of(tmp_path, LENGTHS, overwrite=True, **options)
    assert sorted(contents(tmp_path / "tokens")) == ["manifest.json", "part-00000.npy", "part-00000.row_splits.npy"]


INDEXABLE: list[dict[str, Any]] = [
    {"format": "megatron"},
    {"format": "megatron", "join": True, "part_bytes": 900},
    {"format": "arrow", "part_bytes": 900},
    {"format": "parquet"},
    {"format": "npy", "part_bytes": 900},
    {"format": "mds", "part_bytes": 900},
    {"format": "webdataset", "part_bytes": 900},
    {"format": "litdata", "part_bytes": 900},
    {"format": "arrayrecord", "part_bytes": 900},
    {"format": "raw", "preset": "datatrove"},
    {"format": "raw", "preset": "dolma"},
]


@pytest.mark.parametrize("options", INDEXABLE, ids=str)
@pytest.mark.parametrize("seed", [None, 3])
def test_an_index_of_every_layout(tmp_path: Path, options: dict[str, Any], seed: int | None) -> None:
    tokens = tokens_of(tmp_path, LENGTHS, **options)
    documents = write_documents(tmp_path / "texts.txt", LENGTHS)
    for packing in ("concat", *METHODS):
        index = pack_tokens(
            tmp_path / "tokens", length=ROW, packing=packing, seed=seed, out=tmp_path / "rows", overwrite=True
        )
        rows = reference_rows(LENGTHS, ROW, packing, seed)
        assert [row.tolist() for row in tokens.rows(tmp_path / "rows", PAD)] == filled(documents, rows, ROW)
        # Without an id, rows are not filled up.
        assert [len(row) for row in index] == [sum(end - start for _, start, end in row) for row in rows]


def test_an_index_has_columns_and_pickles(tmp_path: Path) -> None:
    tokens = tokens_of(tmp_path, LENGTHS)
    pack_tokens(tmp_path / "tokens", length=ROW, out=tmp_path / "rows")
    rows, expected = tokens.rows(tmp_path / "rows", PAD), reference_rows(LENGTHS, ROW, "best-fit-decreasing")
    for at, row in enumerate(expected):
        for name in COLUMNS:
            assert rows.column(name, at).tolist() == columns(row, ROW)[name]  # type: ignore[arg-type]
    copy = pickle.loads(pickle.dumps(rows))
    assert [row.tolist() for row in copy] == [row.tolist() for row in rows]
    assert rows[-1].tolist() == rows[len(rows) - 1].tolist()
    for at in (len(rows), -len(rows) - 1):
        with pytest.raises(IndexError, match="is not among"):
            rows.slices(at)
    with pytest.raises(OptionError, match="column is tokens but must be"):
        rows.column("tokens", 0)  # type: ignore[arg-type]


def test_packing_index_writes_documents_and_an_index(tmp_path: Path) -> None:
    options: dict[str, Any] = {"pack": ROW, "packing": "index", "validation": 0.3}
    tokens = tokens_of(tmp_path, LENGTHS, **options)
    for split, name in (("train", "_rows"), ("validation", "_rows-validation")):
        files = open_tokens(tmp_path / "tokens", split)
        lengths = [len(ids) for ids in files]
        found = [[tuple(part) for part in files.rows(files.folder / name).slices(row).tolist()] for row in range(3)]
        assert found == reference_rows(lengths, ROW, "best-fit-decreasing")[:3]
    before = contents(tmp_path / "tokens")
    tokenize_files(tokenizer(), Lines(tmp_path / "texts.txt"), tokens.folder, resume=True, **options)
    assert contents(tmp_path / "tokens") == before
    # Another length needs no other tokens.
    tokenize_files(tokenizer(), Lines(tmp_path / "texts.txt"), tokens.folder, resume=True, **{**options, "pack": 8})
    assert open_tokens(tokens.folder).rows(tokens.folder / "_rows").length == 8
    tokens_of(tmp_path, LENGTHS, overwrite=True)
    assert sorted(contents(tmp_path / "tokens")) == ["manifest.json", "part-00000.bin", "part-00000.idx"]


def test_wrong_options_are_named(tmp_path: Path) -> None:
    npy: dict[str, Any] = {"format": "npy", "pack": ROW}
    cases: list[tuple[dict[str, Any], type[Exception], str]] = [
        ({**npy, "packing": "first-fit"}, OptionError, "packing is first-fit but must be concat, best-fit"),
        ({"packing": "best-fit"}, OptionError, "packing is given but pack is not"),
        ({"pack_columns": ["cu_seqlens"]}, OptionError, "pack_columns is given but pack is not"),
        ({**npy, "pack_columns": "cu_seqlens"}, OptionError, "pack_columns is 'cu_seqlens' but must be a list"),
        (
            {**npy, "pack_columns": ["cu_seqlens"]},
            OptionError,
            "cu_seqlens but must be absent with format",
        ),
        (
            {**npy, "pack_columns": ["position_ids"] * 2},
            OptionError,
            "position_ids but must be given once",
        ),
        (
            {**npy, "pack_columns": ["seq_start_id"]},
            OptionError,
            "seq_start_id but must be position_ids",
        ),
        ({**npy, "packing": "best-fit", "pad_token": "<none>"}, VocabError, "token `<none>` of pad_token is not"),
        *(
            (
                {**npy, "packing": packing, "pack": 1 << 25},
                OptionError,
                "pack is 33554432 but must be from 1 to 16777216",
            )
            for packing in ("best-fit", "index")
        ),
        ({**npy, "packing": "best-fit", "pack": 0}, OptionError, "pack is 0 but must be from 1"),
        (
            {**npy, "packing": "index", "pad_token": PAD},
            OptionError,
            "pad_token is given but must be absent with",
        ),
        ({**npy, "packing": "best-fit", "columns": ["url"]}, OptionError, "columns is given but must be absent"),
        ({"pack": ROW, "packing": "best-fit"}, OptionError, "pack is given but must be absent unless format is"),
        *(
            ({"format": "raw", "preset": preset, "pack": ROW, "packing": "index"}, OptionError, f"files of {preset} do")
            for preset in ("nanogpt", "llm.c")
        ),
    ]
    for options, error, message in cases:
        with pytest.raises(error, match=message):
            tokens_of(tmp_path, LENGTHS, **options)
    padless = tokenizer()
    padless.model = type(padless.model)({str(number): number for number in range(100)})
    with pytest.raises(VocabError, match=r"the tokenizer has no \[PAD\] or <pad> or <\|pad\|>; pass pad_token"):
        tokenize_files(padless, Lines(tmp_path / "texts.txt"), tmp_path / "tokens", packing="best-fit", **npy)
    assert not (tmp_path / "tokens").exists()


def test_wrong_indexes_are_named(tmp_path: Path) -> None:
    tokens = tokens_of(tmp_path, LENGTHS)
    rows = tmp_path / "rows"
    pack: Any = lambda **options: pack_tokens(tmp_path / "tokens", **{"length": ROW, "out": rows, **options})  # noqa: E731
    for options, message in (
        ({"length": 0}, "length is 0 but must be from 1"),
        ({"length": 1 << 25}, "length is 33554432 but must be from 1 to 16777216"),
        ({"seed": -1}, "seed is -1 but must be from 0"),
        ({"packing": "index"}, "packing is index but must be concat"),
        ({"split": "test"}, "split is test but must be train"),
    ):
        with pytest.raises(OptionError, match=message):
            pack(**options)
    pack()
    with pytest.raises(OutputError, match="it holds an index; pass overwrite=True"):
        pack()
    for preset in ("nanogpt", "llm.c"):
        tokens_of(tmp_path, LENGTHS, preset, format="raw", preset=preset)
        with pytest.raises(OptionError, match="does not say where documents begin"):
            pack_tokens(tmp_path / preset, length=ROW, out=tmp_path / "other")
    packed = tokens_of(tmp_path, LENGTHS, "packed", format="npy", pack=ROW)
    with pytest.raises(OptionError, match="its documents are packed already"):
        pack_tokens(tmp_path / "packed", length=ROW, out=tmp_path / "other")
    with pytest.raises(OutputError, match=r"holds manifest\.json, which is no index"):
        pack(out=tmp_path / "tokens")
    with pytest.raises(OutputError, match="it holds no token files of this version"):
        open_tokens(rows)
    with pytest.raises(OutputError, match="it is an index of other token files"):
        packed.rows(rows)
    with pytest.raises(OutputError, match="it holds no index of rows"):
        tokens.rows(tmp_path / "tokens")
    with pytest.raises(OptionError, match="pad_id is 65536 but must be from 0 to 65535"):
        tokens.rows(rows, 1 << 16)
    (tmp_path / "file").touch()
    with pytest.raises(FileError, match="cannot write the index"):
        pack(out=tmp_path / "file")


def test_a_damaged_index_is_an_output_error(tmp_path: Path) -> None:
    tokens = tokens_of(tmp_path, LENGTHS)
    pack_tokens(tmp_path / "tokens", length=ROW, out=tmp_path / "rows")
    whole, choose = contents(tmp_path / "rows"), random.Random(2)
    for number in range(150):
        name = choose.choice(["slices.npy", "row_splits.npy", "manifest.json"])
        data = bytearray(whole[name])
        for _ in range(choose.randint(1, 3)):
            data[choose.randrange(len(data))] = choose.randrange(256)
        data = data[: choose.choice([len(data), choose.randrange(len(data))])]
        (tmp_path / "rows" / name).write_bytes(data)
        read_all(tokens, tmp_path / "rows", number)
        (tmp_path / "rows" / name).write_bytes(whole[name])


@pytest.mark.parametrize(
    ("name", "place", "value", "message"),
    [
        ("slices.npy", (0, 0), len(LENGTHS), "row 0 is not as it was written"),
        ("slices.npy", (0, 1), -1, "row 0 is not as it was written"),
        ("slices.npy", (0, 1), 1 << 40, "row 0 is not as it was written"),
        ("slices.npy", (0, 2), 0, "row 0 is not as it was written"),
        ("slices.npy", (0, 2), 1 << 30, "row 0 needs token 1073741824 of document 0, which it does not have"),
        ("row_splits.npy", 1, 0, "row 0 is not as it was written"),
        ("row_splits.npy", -1, 3, "it has slices of int64"),
    ],
)
def test_each_number_of_an_index_is_checked(tmp_path: Path, name: str, place: Any, value: int, message: str) -> None:
    tokens = tokens_of(tmp_path, LENGTHS)
    pack_tokens(tmp_path / "tokens", length=ROW, packing="best-fit", out=tmp_path / "rows")
    numbers = np.load(tmp_path / "rows" / name)
    numbers[place] = value
    np.save(tmp_path / "rows" / name, numbers)
    with pytest.raises(OutputError, match=message):
        tokens.rows(tmp_path / "rows")[0]


def read_all(tokens: TokenFiles, index: Path, number: int) -> None:
    try:
        rows = tokens.rows(index, PAD)
        # A loop over the rows themselves would end at an `IndexError`.
        for at in range(len(rows)):
            assert len(rows[at]) <= 2 * max(LENGTHS), number
    except OutputError:
        pass


def test_a_killed_call_leaves_a_folder_that_can_be_written_again(tmp_path: Path) -> None:
    tokens_of(tmp_path, LENGTHS)
    pack_tokens(tmp_path / "tokens", length=ROW, out=tmp_path / "whole")
    rows = tmp_path / "rows"
    rows.mkdir()
    (rows / "slices.npy").write_bytes(b"half")
    (rows / ".row_splits.npy.tmp").write_bytes(b"half")

    def stop(*_: object) -> None:
        raise StopError

    with pytest.raises(StopError):
        pack_tokens(tmp_path / "tokens", length=ROW, out=rows, on_progress=stop)
    with pytest.raises(OutputError, match="it holds no index of rows"):
        open_tokens(tmp_path / "tokens").rows(rows)
    pack_tokens(tmp_path / "tokens", length=ROW, out=rows)
    assert contents(rows) == contents(tmp_path / "whole")
