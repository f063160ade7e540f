"""Token files as the libraries that they are for read them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lexmill import Tokenizer, models, open_tokens, pre_tokenizers, tokenize_files, trainers
from lexmill.errors import EmptyCorpusWarning, OutputError
from lexmill.sources import Arrow, ArrowStream, Parquet, Source

datasets = pytest.importorskip("datasets")
pyarrow = pytest.importorskip("pyarrow")
pyarrow_parquet = pytest.importorskip("pyarrow.parquet")
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


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS))
    return path


@pytest.mark.parametrize("part_bytes", [20_000, 1 << 27])
@pytest.mark.parametrize(("signed", "dtype"), [(False, "uint16"), (True, "int32")])
def test_datasets_opens_folders(
    tmp_path: Path, tokenizer: Tokenizer, source: Path, part_bytes: int, signed: bool, dtype: str
) -> None:
    tokenize_files(tokenizer, source, tmp_path / "out", format="arrow", part_bytes=part_bytes, signed=signed)
    found = datasets.load_from_disk(str(tmp_path / "out"))
    assert found["input_ids"][:] == [tokenizer.encode(text).ids for text in TEXTS if text]
    assert found.features["input_ids"].feature.dtype == dtype


def test_datasets_opens_splits_also_if_one_is_empty(tmp_path: Path, tokenizer: Tokenizer, source: Path) -> None:
    tokenize_files(tokenizer, source, tmp_path / "1", format="arrow", validation=0.1)
    found = datasets.load_from_disk(str(tmp_path / "1"))
    for split in ("train", "validation"):
        assert found[split]["input_ids"][:] == [ids.tolist() for ids in open_tokens(tmp_path / "1", split)]
    source.write_text(json.dumps({"text": ""}))
    with pytest.warns(EmptyCorpusWarning):
        tokenize_files(tokenizer, source, tmp_path / "2", format="arrow", validation=0.1)
    assert {name: len(split) for name, split in datasets.load_from_disk(str(tmp_path / "2")).items()} == {
        "train": 0,
        "validation": 0,
    }


def test_what_datasets_caches_is_not_taken_for_another_corpus(
    tmp_path: Path, tokenizer: Tokenizer, source: Path
) -> None:
    tokenize_files(tokenizer, source, tmp_path / "1", format="arrow")
    source.write_text(json.dumps({"text": "the mat"}))
    tokenize_files(tokenizer, source, tmp_path / "2", format="arrow")
    first, second = (datasets.load_from_disk(str(tmp_path / name)) for name in "12")
    assert first._fingerprint != second._fingerprint


@pytest.mark.parametrize("name", ["texts.parquet", "texts.arrow", "table"])
def test_columns_of_texts_are_sources(tmp_path: Path, tokenizer: Tokenizer, name: str) -> None:
    table, path = pyarrow.table({"text": TEXTS * 10}), tmp_path / name
    if name == "texts.parquet":
        pyarrow_parquet.write_table(table, path, row_group_size=1000)
    elif name == "texts.arrow":
        with pyarrow.ipc.new_stream(path, table.schema) as stream:
            stream.write_table(table)

    def source() -> Source:
        return {"texts.parquet": Parquet, "texts.arrow": Arrow}[name](path) if path.exists() else ArrowStream(table)

    def stop(_: str, done: int, total: int, *_rest: object) -> None:
        if len((tmp_path / "out" / "parts.jsonl").read_text().splitlines()) >= 3:
            raise StopError

    with pytest.raises(StopError):
        tokenize_files(tokenizer, source(), tmp_path / "out", part_bytes=20_000, on_progress=stop)
    if name == "table":
        with pytest.raises(OutputError, match="Arrow stream can be read only once"):
            tokenize_files(tokenizer, source(), tmp_path / "out", part_bytes=20_000, resume=True)
        tokenize_files(tokenizer, source(), tmp_path / "out", part_bytes=20_000, overwrite=True)
    else:
        tokenize_files(tokenizer, source(), tmp_path / "out", part_bytes=20_000, resume=True)
    assert [ids.tolist() for ids in open_tokens(tmp_path / "out")] == [
        tokenizer.encode(text).ids for text in TEXTS * 10 if text
    ]


class StopError(Exception):
    """Raised to cut a run short."""


@pytest.mark.parametrize("pack", [None, 64])
def test_pyarrow_reads_parquet(tmp_path: Path, tokenizer: Tokenizer, source: Path, pack: int | None) -> None:
    for layout in ("parquet", "arrow"):
        tokenize_files(tokenizer, source, tmp_path / layout, format=layout, part_bytes=20_000, pack=pack)
    files = sorted((tmp_path / "parquet").glob("*.parquet"))
    found = [row for file in files for row in pyarrow_parquet.read_table(file)["input_ids"].to_pylist()]
    assert found == [ids.tolist() for ids in open_tokens(tmp_path / "arrow")]
    if pack is not None:
        table = pyarrow_parquet.read_table(files[0])
        first = datasets.load_from_disk(str(tmp_path / "arrow"))[: table.num_rows]
        assert table["seq_start_id"].to_pylist() == first["seq_start_id"]
