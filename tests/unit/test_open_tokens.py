"""`open_tokens`: copies for other processes, wrong indices, and folders that are damaged or hold something else."""

from __future__ import annotations

import json
import pickle
import pickletools
from pathlib import Path
from typing import Any

import pytest

from lexmill import Tokenizer, models, open_tokens, pre_tokenizers, tokenize_files
from lexmill.errors import OutputError
from lexmill.sources import Lines
from token_layouts import read_nanogpt
from token_runs import TEXTS, save_tokenizer


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    folder = tmp_path_factory.mktemp("tokenizer")
    save_tokenizer(folder)
    return Tokenizer.from_file(folder / "tokenizer.json")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("corpus") / "texts.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS))
    return path


def test_harmed_files_are_named(tmp_path: Path, tokenizer: Tokenizer, corpus: Path) -> None:
    written = tokenize_files(tokenizer, corpus, tmp_path, part_bytes=50_000)
    written.verify()
    path = tmp_path / "part-00001.bin"
    data = path.read_bytes()
    path.write_bytes(data[:100] + b"?" + data[101:])
    with pytest.raises(OutputError, match=r"part-00001.bin: it is not as it was written"):
        written.verify()
    path.write_bytes(data[:-2])
    with pytest.raises(OutputError, match=r"part-00001.bin: it holds \d+ tokens but the manifest says \d+"):
        list(open_tokens(tmp_path))
    path.unlink()
    with pytest.raises(OutputError, match=r"part-00001.bin: it is missing"):
        written.verify()


def test_other_folders_are_named(tmp_path: Path, tokenizer: Tokenizer, corpus: Path) -> None:
    with pytest.raises(OutputError, match="holds no token files"):
        open_tokens(tmp_path)
    (tmp_path / "manifest.json").write_text("[]")
    with pytest.raises(OutputError, match="holds no token files"):
        open_tokens(tmp_path)
    with pytest.raises(OutputError, match="is not a manifest of token files"):
        tokenize_files(tokenizer, corpus, tmp_path, overwrite=True)
    tokenize_files(tokenizer, corpus, tmp_path / "1", format="raw", preset="nanogpt")
    (ids,) = read_nanogpt(tmp_path / "1", "uint16")
    assert ids == [token for text in TEXTS for token in tokenizer.encode(text).ids]


@pytest.mark.parametrize("format", ["megatron", "npy", "arrow", "parquet"])
def test_copies_for_other_processes_take_no_ids_along(format: Any, tmp_path: Path) -> None:
    (tmp_path / "corpus.txt").write_text("a b\n" * 10_000)
    tokenizer = Tokenizer(models.WordLevel({"a": 0, "b": 1}, unk_token="a"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokens = tokenize_files(tokenizer, Lines(tmp_path / "corpus.txt"), tmp_path / "tokens", format=format)
    unopened = pickle.dumps(tokens)
    texts = [list(ids) for ids in tokens]
    assert pickle.dumps(tokens) == unopened
    assert [list(ids) for ids in pickle.loads(unopened)] == texts
    assert len(pickle.dumps(tokens.windows(5))) < 2 * len(unopened)
    named = [text for _, text, _ in pickletools.genops(pickle.dumps(tokens.windows(5))) if "lexmill." in str(text)]
    assert named == ["lexmill.token_files"]


def test_files_are_found_from_another_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "corpus.txt").write_text("a b\n")
    tokenizer = Tokenizer(models.WordLevel({"a": 0, "b": 1}, unk_token="a"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    monkeypatch.chdir(tmp_path)
    tokens = tokenize_files(tokenizer, Lines("corpus.txt"), "tokens")
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    tokens.verify()
    assert list(tokens[0]) == [0, 1]


@pytest.mark.parametrize("index", [1.5, "a", None])
def test_an_index_that_is_no_integer_is_a_type_error(index: Any, tmp_path: Path) -> None:
    (tmp_path / "corpus.txt").write_text("a b\n" * 3)
    tokenizer = Tokenizer(models.WordLevel({"a": 0, "b": 1}, unk_token="a"))
    tokens = tokenize_files(tokenizer, Lines(tmp_path / "corpus.txt"), tmp_path / "tokens")
    with pytest.raises(TypeError):
        tokens[index]


@pytest.mark.parametrize("data", [b"", b"PAR1", b"{}"])
def test_a_damaged_manifest_is_an_error(tmp_path: Path, tokenizer: Tokenizer, corpus: Path, data: bytes) -> None:
    tokenize_files(tokenizer, corpus, tmp_path, format="parquet")
    (tmp_path / ".manifest.parquet").write_bytes(data)
    with pytest.raises(OSError, match="token files of this version"):
        open_tokens(tmp_path)
    with pytest.raises(OSError, match=r"\.manifest\.parquet"):
        tokenize_files(tokenizer, corpus, tmp_path, format="parquet", resume=True)
    part = (tmp_path / "part-00000.parquet").read_bytes()
    (tmp_path / ".manifest.parquet").write_bytes(part)
    with pytest.raises(OutputError, match=r"\.manifest\.parquet: it is not a manifest of token files"):
        tokenize_files(tokenizer, corpus, tmp_path, format="parquet", resume=True)
