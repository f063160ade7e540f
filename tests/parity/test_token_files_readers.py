"""Token files as other libraries read them; libraries that need PyTorch are in `tests/loaders`."""

from __future__ import annotations

import gc
import json
from array import array
from itertools import accumulate, chain
from pathlib import Path
from typing import Any

import pytest

from lexmill import Tokenizer, models, open_tokens, pre_tokenizers, tokenize_files, trainers
from token_runs import COLUMNS, rows_of

pytestmark = pytest.mark.external

TEXTS = [f"the cat {number} sat on " + "mat " * (number % 40) if number % 7 else "" for number in range(3000)]


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=400, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(TEXTS, trainer)
    return tokenizer


@pytest.fixture(params=["uint16", "uint32"])
def dtype(request: pytest.FixtureRequest, tokenizer: Tokenizer) -> str:
    return str(request.param)


@pytest.fixture
def wide(tokenizer: Tokenizer, dtype: str) -> Tokenizer:
    """The tokenizer, with so many ids that they take 32 bits if asked for."""
    made = Tokenizer.from_str(tokenizer.to_str())
    if dtype == "uint32":
        made.add_tokens([f"<extra {number}>" for number in range(1 << 16)])
    return made


@pytest.fixture
def expected(tokenizer: Tokenizer) -> list[list[int]]:
    return [tokenizer.encode(text).ids for text in TEXTS if text]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS))
    return path


def test_polars_reads_parquet(
    tmp_path: Path, wide: Tokenizer, source: Path, dtype: str, expected: list[list[int]]
) -> None:
    polars = pytest.importorskip("polars")
    tokenize_files(wide, source, tmp_path / "out", format="parquet", part_bytes=20_000)
    assert len(list((tmp_path / "out").glob("*.parquet"))) > 3
    found = polars.read_parquet(tmp_path / "out" / "*.parquet")
    assert found.schema == {"input_ids": polars.List({"uint16": polars.UInt16, "uint32": polars.UInt32}[dtype])}
    assert found["input_ids"].to_list() == expected
    lazily = polars.scan_parquet(tmp_path / "out" / "*.parquet").select(polars.col("input_ids").list.len().sum())
    assert lazily.collect().item() == sum(map(len, expected))


@pytest.mark.parametrize("pack", [None, 64])
def test_polars_reads_arrow(
    tmp_path: Path, wide: Tokenizer, source: Path, expected: list[list[int]], pack: int | None
) -> None:
    polars = pytest.importorskip("polars")
    tokenize_files(wide, source, tmp_path / "out", format="arrow", part_bytes=20_000, pack=pack)
    files = sorted((tmp_path / "out").glob("*.arrow"))
    found = polars.concat([polars.read_ipc_stream(file) for file in files])
    rows = [ids.tolist() for ids in open_tokens(tmp_path / "out")]
    assert found["input_ids"].to_list() == rows
    assert rows == expected or pack is not None


def test_datatrove_reads_its_files(
    tmp_path: Path, wide: Tokenizer, source: Path, dtype: str, expected: list[list[int]]
) -> None:
    pytest.importorskip("datatrove")
    from datatrove.pipeline.tokens import merger

    out, merged = tmp_path / "out", tmp_path / "merged"
    tokenize_files(wide, source, out, format="raw", preset="datatrove", part_bytes=20_000)
    width, code = (2, "H") if dtype == "uint16" else (4, "I")
    found = []
    for path in sorted(out.glob("*.ds")):
        # Its functions close the files.
        ends = merger.load_doc_ends(Path(f"{path}.index").open("rb"))  # noqa: SIM115
        found += [array(code, document).tolist() for document in merger.get_data_reader(path.open("rb"), ends, width)]
    assert found == expected
    # Its own merging reads the width from the third file, and writes what it has read.
    step = merger.DocumentTokenizerMerger(str(out), str(merged), "all", shuffle=False, progress=False)
    step.run()
    (ids,) = merged.glob("*_all.ds")
    assert array(code, ids.read_bytes()).tolist() == list(chain.from_iterable(expected))
    ends = merger.load_doc_ends(Path(f"{ids}.index").open("rb"))  # noqa: SIM115
    assert ends.tolist() == list(accumulate(map(len, expected)))


@pytest.mark.parametrize("validation", [0.0, 0.2])
@pytest.mark.parametrize("options", [{}, {"columns": ["url"], "offsets": True}, {"pack": 64, "pad_token": 0}])
def test_folders_of_parquet_are_opened_whole(
    tmp_path: Path, tokenizer: Tokenizer, validation: float, options: dict[str, Any]
) -> None:
    path, out = tmp_path / "in.jsonl", tmp_path / "out"
    path.write_text("".join(json.dumps({"text": text, "url": "u"}) + "\n" for text in TEXTS))
    tokenize_files(tokenizer, path, out, format="parquet", part_bytes=20_000, validation=validation, **options)
    splits = ["train", "validation"] if validation else ["train"]
    rows = {split: len(open_tokens(out, split)) for split in splits}
    total = sum(rows.values())
    opened: list[tuple[str, Any]] = [
        ("pandas", lambda pandas: len(pandas.read_parquet(out))),
        ("pyarrow.parquet", lambda parquet: parquet.read_table(out).num_rows),
        ("pyarrow.dataset", lambda dataset: dataset.dataset(out).count_rows()),
        ("polars", lambda polars: len(polars.read_parquet(out))),
        ("polars", lambda polars: polars.scan_parquet(out).collect().height),
    ]
    for name, count in opened:
        assert count(pytest.importorskip(name)) == total, name
    datasets = pytest.importorskip("datasets")
    datasets.disable_progress_bars()
    for given, folder in ((str(out), None), ("parquet", str(out))):
        found = datasets.load_dataset(given, data_dir=folder, cache_dir=str(tmp_path / "cache"))
        assert {split: loaded.num_rows for split, loaded in found.items()} == rows


@pytest.mark.parametrize("validation", [0.0, 0.2])
def test_folders_of_arrow_are_opened_by_datasets(tmp_path: Path, tokenizer: Tokenizer, validation: float) -> None:
    datasets = pytest.importorskip("datasets")
    path, out = tmp_path / "in.jsonl", tmp_path / "out"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS))
    tokenize_files(tokenizer, path, out, format="arrow", part_bytes=20_000, validation=validation)
    found = datasets.load_from_disk(str(out))
    parts = [found["train"], found["validation"]] if validation else [found]
    splits = ["train", "validation"] if validation else ["train"]
    assert [part.num_rows for part in parts] == [len(open_tokens(out, split)) for split in splits]


OPTIONS: dict[str, Any] = {"part_bytes": 20_000, "validation": 0.2}
SPLITS = ("train", "validation")
ROWS: dict[str, Any] = {"pack": 64, "pad_token": 0}
COLUMNS_OF_ROWS: dict[str, Any] = {**ROWS, "pack_columns": COLUMNS}


# It leaves the files open.
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("options", [{}, COLUMNS_OF_ROWS], ids=["documents", "rows"])
def test_webdataset_reads_tar_files(tmp_path: Path, wide: Tokenizer, source: Path, dtype: str, options: Any) -> None:
    webdataset = pytest.importorskip("webdataset")
    tokenize_files(wide, source, tmp_path / "out", format="webdataset", **OPTIONS, **options)
    for split in SPLITS:
        files = [str(path) for path in sorted((tmp_path / "out" / split).glob("*.tar"))]
        assert len(files) > 3
        samples = list(webdataset.WebDataset(files, shardshuffle=False).decode())
        assert [sample["input_ids.npy"].tolist() for sample in samples] == rows_of(tmp_path / "out", split)
        assert {sample["input_ids.npy"].dtype.name for sample in samples} == {dtype}
        names = {f"{name}.npy" for name in ["seq_start_id", *COLUMNS]} if options else set()
        assert {name for sample in samples for name in sample if not name.startswith("__")} == {"input_ids.npy", *names}
        if options:
            assert all(sample["cu_seqlens.npy"].tolist() == [*sample["seq_start_id.npy"], 64] for sample in samples)
    del samples
    gc.collect()


@pytest.mark.parametrize("options", [{}, ROWS], ids=["documents", "rows"])
def test_array_record_reads_its_files(tmp_path: Path, wide: Tokenizer, source: Path, dtype: str, options: Any) -> None:
    module = pytest.importorskip("array_record.python.array_record_module")
    source.write_text(source.read_text() + json.dumps({"text": "mat " * 200_000}) + "\n")
    tokenize_files(wide, source, tmp_path / "out", format="arrayrecord", **OPTIONS, **options)
    for split in SPLITS:
        files, rows = sorted((tmp_path / "out" / split).glob("*.array_record")), rows_of(tmp_path / "out", split)
        assert len(files) > 3
        code, found = {"uint16": "H", "uint32": "I"}[dtype], []
        for path in files:
            reader = module.ArrayRecordReader(str(path))
            assert reader.ok()
            assert reader.writer_options_string().startswith("group_size:1,")
            records = reader.read_all()
            # One by one, from the end: the positions of chunks are right, too.
            assert [reader.read([at])[0] for at in reversed(range(len(records)))] == records[::-1]
            found += [array(code, record).tolist() for record in records]
            reader.close()
        assert found == rows
    sources = pytest.importorskip("array_record.python.array_record_data_source")
    data = sources.ArrayRecordDataSource([str(path) for path in files])
    assert [array(code, data[at]).tolist() for at in (0, len(data) - 1)] == [rows[0], rows[-1]]
