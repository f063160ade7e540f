"""Tokenizing to disk: the files hold the ids of `encode`, whatever the layout, the threads and the size of parts."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lexmill import Tokenizer, open_tokens, processors, tokenize_files
from lexmill.errors import OptionError
from lexmill.sources import Csv, Lines, Source
from token_corpus import END, FLAT, TEXTS, as_json, corpus_file, corpus_tokenizer, dtype_of, expected, flat, wide
from token_layouts import LAYOUTS, READERS, divided, dtype_for
from token_runs import contents

tokenizer = pytest.fixture(scope="module")(corpus_tokenizer)
corpus = pytest.fixture(scope="module")(corpus_file)


@pytest.mark.parametrize(("format", "preset"), READERS)
@pytest.mark.parametrize("is_wide", [False, True])
@pytest.mark.parametrize("part_bytes", [1, 30_000, 1 << 27])
def test_files_hold_the_ids_of_encode(
    tmp_path: Path, tokenizer: Tokenizer, format: Any, preset: Any, is_wide: bool, part_bytes: int
) -> None:
    if is_wide and preset == "nanogpt":
        pytest.skip("nanoGPT reads 16 bits")
    # A part a document makes many files.
    texts = TEXTS[980:1020] if part_bytes == 1 else TEXTS
    (tmp_path / "in.jsonl").write_bytes(as_json(texts))
    chosen = wide(tokenizer) if is_wide else tokenizer
    out = tmp_path / "out"
    tokenize_files(
        chosen, tmp_path / "in.jsonl", out, format=format, preset=preset, end_token=END, part_bytes=part_bytes
    )
    assert dtype_of(out) == dtype_for(format, is_wide)
    found = READERS[format, preset](out, dtype_of(out))
    documents = expected(tokenizer, texts, [0])
    if (format, preset) in FLAT:
        assert flat(found) == flat(documents)
    else:
        assert found == documents
    parts = json.loads((out / "manifest.json").read_text())["parts"]
    assert len(parts) == {1: len(documents), 30_000: len(parts), 1 << 27: 1}[part_bytes]


@pytest.mark.parametrize(("format", "preset"), LAYOUTS)
def test_threads_do_not_show(tmp_path: Path, tokenizer: Tokenizer, corpus: Path, format: Any, preset: Any) -> None:
    for threads in (1, 2, 5):
        tokenize_files(
            tokenizer,
            corpus,
            tmp_path / str(threads),
            format=format,
            preset=preset,
            part_bytes=50_000,
            validation=0.2,
            num_threads=threads,
        )
    assert contents(tmp_path / "1") == contents(tmp_path / "2") == contents(tmp_path / "5")


@pytest.mark.parametrize(("format", "preset"), LAYOUTS)
def test_the_manifest_lists_all_files_with_their_checksums(
    tmp_path: Path, tokenizer: Tokenizer, corpus: Path, format: Any, preset: Any
) -> None:
    tokenize_files(tokenizer, corpus, tmp_path, format=format, preset=preset, part_bytes=50_000, validation=0.2)
    found = contents(tmp_path)
    manifest = open_tokens(tmp_path).manifest
    found.pop(".manifest.parquet" if format == "parquet" else "manifest.json")
    listed = dict(manifest["files"])
    for part in manifest["parts"]:
        listed |= part["files"]
    sums = {name: {"bytes": len(data), "crc32": f"{zlib.crc32(data):08x}"} for name, data in found.items()}
    assert listed == sums
    total = manifest["total"]
    assert total["documents"] == sum(1 for text in TEXTS if text)
    assert total["empty"] == sum(1 for text in TEXTS if not text)
    assert total["tokens"] == sum(map(len, expected(tokenizer, TEXTS)))
    assert sum(part["documents"] for part in manifest["parts"]) == total["documents"]
    assert sum(part["empty"] for part in manifest["parts"]) == total["empty"]


@pytest.mark.parametrize(("format", "preset"), LAYOUTS)
@pytest.mark.parametrize("part_bytes", [30_000, 1 << 27])
def test_open_tokens_gives_documents_and_windows(
    tmp_path: Path, tokenizer: Tokenizer, corpus: Path, format: Any, preset: Any, part_bytes: int
) -> None:
    documents = expected(tokenizer, TEXTS, [0])
    written = tokenize_files(
        tokenizer, corpus, tmp_path, format=format, preset=preset, part_bytes=part_bytes, end_token=END
    )
    opened = open_tokens(tmp_path)
    assert len(opened) == len(written) == len(documents)
    assert opened.tokens == sum(map(len, documents))
    whole = flat(documents)
    for length, stride in ((1000, None), (7, 901), (len(whole), 1), (len(whole) + 1, 1)):
        windows = opened.windows(length, stride)
        starts = range(0, len(whole) - length + 1, stride or length)
        assert [window.tolist() for window in windows] == [whole[start : start + length] for start in starts]
    with pytest.raises(OptionError, match="length is 0 but must be at least 1"):
        opened.windows(0)
    if (format, preset) in FLAT:
        with pytest.raises(OptionError, match="does not say where documents begin"):
            opened[0]
        return
    assert [ids.tolist() for ids in opened] == documents
    assert [ids.tolist() for ids in opened[10:2000:7]] == documents[10:2000:7]
    assert all(ids.flags.aligned and not ids.flags.writeable for ids in opened[:50])
    assert opened[-1].tolist() == documents[-1]
    assert opened[5].dtype == dtype_for(format, False)
    for outside in (len(documents), -len(documents) - 1):
        with pytest.raises(IndexError, match="not among"):
            opened[outside]


def test_special_tokens_and_tokens_around_documents(tmp_path: Path, tokenizer: Tokenizer, corpus: Path) -> None:
    tokenizer = Tokenizer.from_str(tokenizer.to_str())
    tokenizer.post_processor = processors.TemplateProcessing("<|pad|> $A", special_tokens=[("<|pad|>", 2)])
    with_all = tokenize_files(tokenizer, corpus, tmp_path / "1", begin_token="<|begin|>", end_token=0)
    plain = tokenize_files(tokenizer, corpus, tmp_path / "2", add_special_tokens=False)
    bare = [tokenizer.encode(text, add_special_tokens=False).ids for text in TEXTS if text]
    assert [ids.tolist() for ids in plain] == bare
    assert [ids.tolist() for ids in with_all] == [[1, 2, *ids, 0] for ids in bare]
    # An empty text is one to which only special tokens are added.
    assert with_all.manifest["total"]["empty"] == plain.manifest["total"]["empty"] > 0


def test_a_post_processor_that_sees_whole_rows(tmp_path: Path, tokenizer: Tokenizer, corpus: Path) -> None:
    tokenizer = Tokenizer.from_str(tokenizer.to_str())
    tokenizer.post_processor = processors.TemplateProcessing("$A <|pad|> $A", special_tokens=[("<|pad|>", 2)])
    written = tokenize_files(tokenizer, corpus, tmp_path)
    assert [ids.tolist() for ids in written] == expected(tokenizer, TEXTS)


COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
}


@pytest.mark.parametrize("suffix", COMPRESSIONS)
def test_all_sources_in_their_order(tmp_path: Path, tokenizer: Tokenizer, suffix: str) -> None:
    def write(name: str, data: bytes) -> Path:
        (tmp_path / (name + suffix)).write_bytes(COMPRESSIONS[suffix](data))
        return tmp_path / (name + suffix)

    sources: list[Source | str | Path] = [
        write("1.jsonl", as_json(TEXTS[:500])),
        Csv(write("2.csv", b"text\n" + "".join(f'"{text}"\n' for text in TEXTS[500:900]).encode())),
        Lines([write("3.txt", b"one\ntwo\n"), write("4.txt", b"three")]),
        str(write("5.ndjson", as_json(TEXTS[900:]))),
    ]
    written = tokenize_files(tokenizer, sources, tmp_path / "out", part_bytes=20_000)
    texts = [*TEXTS[:900], "one\n", "two\n", "three", *TEXTS[900:]]
    assert [ids.tolist() for ids in written] == expected(tokenizer, texts)


def test_documents_for_validation_depend_on_the_seed_and_the_document_alone(
    tmp_path: Path, tokenizer: Tokenizer, corpus: Path
) -> None:
    documents = expected(tokenizer, TEXTS)

    def split(name: str, **options: Any) -> list[list[list[int]]]:
        tokenize_files(tokenizer, corpus, tmp_path / name, validation=0.2, **options)
        opened = [open_tokens(tmp_path / name, split) for split in ("train", "validation")]
        return [[ids.tolist() for ids in files] for files in opened]

    train, validation = split("1")
    assert 0.15 < len(validation) / len(documents) < 0.25
    # Texts differ, so each document is on one side, in its order.
    assert [ids for ids in documents if ids in train] == train
    assert [ids for ids in documents if ids in validation] == validation
    assert len(train) + len(validation) == len(documents)
    assert split("2", part_bytes=10_000, format="arrow") == [train, validation]
    assert split("3", seed=1) != [train, validation]
    with pytest.raises(OptionError, match="split is test but must be train or validation"):
        open_tokens(tmp_path / "1", "test")
    tokenize_files(tokenizer, corpus, tmp_path / "4", validation=0.2, format="raw", preset="nanogpt")
    assert sorted(contents(tmp_path / "4")) == ["manifest.json", "train.bin", "val.bin"]
    assert open_tokens(tmp_path / "4", "validation").windows(500)[0].tolist() == flat(validation)[:500]


@pytest.mark.parametrize("pad_token", [None, "<|pad|>"])
@pytest.mark.parametrize("part_bytes", [20_000, 1 << 27])
def test_packed_rows(
    tmp_path: Path, tokenizer: Tokenizer, corpus: Path, pad_token: str | None, part_bytes: int
) -> None:
    options: dict[str, Any] = {"pack": 128, "pad_token": pad_token, "end_token": END, "part_bytes": part_bytes}
    written = tokenize_files(tokenizer, corpus, tmp_path / "npy", format="npy", **options)
    documents = expected(tokenizer, TEXTS, [0])
    rows, dropped, at = [], 0, 0
    for part in written.manifest["parts"]:
        ids = flat(documents[at : at + part["documents"]])
        at += part["documents"]
        rest = len(ids) % 128
        if pad_token is None:
            ids = ids[: len(ids) - rest]
            dropped += rest
        elif rest:
            ids += [2] * (128 - rest)
        rows += divided(ids, list(range(0, len(ids) + 1, 128)))
    assert [row.tolist() for row in written] == rows
    assert written.manifest["total"].get("dropped_tokens", 0) == dropped
    matrix = np.load(tmp_path / "npy" / "part-00000.npy", mmap_mode="r")
    assert matrix.shape[1] == 128
    # The borders of documents within the rows.
    starts = np.load(tmp_path / "npy" / "part-00000.row_splits.npy")
    lengths = np.cumsum([0] + [len(ids) for ids in documents[: written.manifest["parts"][0]["documents"]]])
    assert set(lengths[lengths < matrix.size].tolist()) <= set(starts.tolist())
    assert set(starts.tolist()) <= {*lengths.tolist(), *range(0, matrix.size + 1, 128)}
    arrow = tokenize_files(tokenizer, corpus, tmp_path / "arrow", format="arrow", **options)
    assert [row.tolist() for row in arrow] == rows
    with pytest.raises(OptionError, match="pack is given but must be absent unless format is"):
        tokenize_files(tokenizer, corpus, tmp_path / "megatron", pack=128)


def test_progress_ends_at_the_bytes_of_the_sources(tmp_path: Path, tokenizer: Tokenizer, corpus: Path) -> None:
    (tmp_path / "in.jsonl.gz").write_bytes(gzip.compress(as_json(TEXTS)))
    seen: list[tuple[str, int, int, float | None, int | None]] = []
    files = [corpus, tmp_path / "in.jsonl.gz"]
    tokenize_files(tokenizer, files, tmp_path / "out", on_progress=lambda *report: seen.append(report))
    size = sum(path.stat().st_size for path in files)
    assert seen[-1][:4] == ("tokenize", size, size, 0.0)
    assert [report[1] for report in seen] == sorted(report[1] for report in seen)


def test_signed_ids(tmp_path: Path, tokenizer: Tokenizer, corpus: Path) -> None:
    written = tokenize_files(tokenizer, corpus, tmp_path, format="arrow", signed=True)
    assert written[0].dtype == np.int32
    assert [ids.tolist() for ids in written] == expected(tokenizer, TEXTS)


@pytest.mark.parametrize("validation", [0.0, 0.3])
def test_a_folder_of_parquet_files_has_its_manifest_in_one_of_them(
    tmp_path: Path, tokenizer: Tokenizer, corpus: Path, validation: float
) -> None:
    out = tmp_path / "out"
    options: dict[str, Any] = {"format": "parquet", "validation": validation, "part_bytes": 30_000}
    written = tokenize_files(tokenizer, corpus, out, **options)
    assert {path.suffix for path in out.rglob("*") if path.is_file()} == {".parquet"}
    whole = contents(out)
    # Folders of earlier versions: a finished run, and a run that was cut short.
    (out / ".manifest.parquet").unlink()
    (out / "manifest.json").write_text(json.dumps(written.manifest))
    assert [ids.tolist() for ids in open_tokens(out)] == [ids.tolist() for ids in written]
    tokenize_files(tokenizer, corpus, out, resume=True, **options).verify()
    begun = {key: value for key, value in written.manifest.items() if key not in ("total", "parts", "files")}
    (out / "manifest.json").write_text(json.dumps(begun))
    tokenize_files(tokenizer, corpus, out, resume=True, **options).verify()
    assert contents(out) == whole
    # Another format takes the place of both.
    tokenize_files(tokenizer, corpus, out, overwrite=True)
    assert not (out / ".manifest.parquet").exists()
    tokenize_files(tokenizer, corpus, out, overwrite=True, **options)
    assert contents(out) == whole


def test_a_split_without_rows_has_an_empty_index(tmp_path: Path, tokenizer: Tokenizer) -> None:
    (tmp_path / "in.jsonl").write_bytes(as_json(["one text"]))
    for format, key in (("mds", "shards"), ("litdata", "chunks")):
        options: dict[str, Any] = {"format": format, "validation": 0.5, "overwrite": True}
        rows = {}
        for seed in range(9):
            written = tokenize_files(tokenizer, tmp_path / "in.jsonl", tmp_path / format, seed=seed, **options)
            for split in ("train", "validation"):
                index = json.loads((tmp_path / format / split / "index.json").read_text())
                rows[split, seed] = len(index[key])
                assert len(open_tokens(tmp_path / format, split)) == rows[split, seed]
        written.verify()
        assert sorted(rows.values()) == [0] * 9 + [1] * 9


def test_an_index_of_chunks_tells_a_corpus_from_others(tmp_path: Path, tokenizer: Tokenizer) -> None:
    found = set()
    for number, text in enumerate(["one text", "another text", "another text"]):
        (tmp_path / "in.jsonl").write_bytes(as_json([text]))
        os.utime(tmp_path / "in.jsonl", (1, 1))
        tokenize_files(tokenizer, tmp_path / "in.jsonl", tmp_path / str(number), format="litdata")
        found.add(json.loads((tmp_path / str(number) / "index.json").read_text())["updated_at"])
    assert len(found) == 2
