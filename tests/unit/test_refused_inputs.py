"""Inputs that are refused: files of other formats, URLs as outputs, and objects that are no texts."""

from __future__ import annotations

import contextlib
import gzip
import io
import pickle
import sqlite3
import tarfile
import zipfile
from collections import UserDict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from lexmill import Tokenizer, count_words, errors, merge_token_files, pre_tokenizers
from lexmill.estimation import estimate
from lexmill.models import BPE
from lexmill.reports import report
from lexmill.sources import Documents, JsonLines, Lines
from lexmill.token_files import tokenize_files
from lexmill.trainers import ParityBpeTrainer
from named_files import WORDS, quiet, tokenizer, trained, words_of, write


@pytest.fixture(autouse=True)
def in_tmp_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def tar_of(files: list[str]) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        for file in files:
            archive.add(file)
    return made.getvalue()


def zip_of(files: list[str]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for file in files:
            archive.write(file)
    return made.getvalue()


def array_bytes() -> bytes:
    made = io.BytesIO()
    np.save(made, np.arange(9))
    return made.getvalue()


def arrow_stream() -> bytes:
    made, table = io.BytesIO(), pa.table({"text": WORDS})
    with pa.ipc.new_stream(made, table.schema) as writer:
        writer.write_table(table)
    return made.getvalue()


def database() -> bytes:
    Path("base").unlink(missing_ok=True)
    with contextlib.closing(sqlite3.connect("base")) as base:
        base.execute("create table t (text)")
        base.commit()
    return Path("base").read_bytes()


def of_file(name: str) -> bytes:
    write(name)
    return Path(name).read_bytes()


BINARY: dict[str, tuple[str, Callable[[], bytes]]] = {
    "parquet": ("Parquet", lambda: of_file("t.parquet")),
    "arrow": ("Arrow file", lambda: of_file("t.arrow")),
    "stream": ("Arrow stream", arrow_stream),
    "zip": ("zip archive", lambda: zip_of(["t"])),
    "tar": ("tar archive", lambda: tar_of(["t"])),
    "tar.gz": ("tar archive", lambda: gzip.compress(tar_of(["t"]))),
    "sqlite": ("SQLite", database),
    "npy": (r"\.npy", array_bytes),
    "pickle": ("pickle", lambda: pickle.dumps(WORDS, protocol=4)),
    "utf-16": ("UTF-16", lambda: "text".encode("utf-16")),
    "utf-32": ("UTF-32", lambda: "text".encode("utf-32")),
    "pdf": ("PDF", lambda: b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"),
    "elf": ("ELF", lambda: b"\x7fELF\x02\x01\x01" + bytes(9)),
    "png": ("PNG", lambda: b"\x89PNG\r\n\x1a\n" + bytes(9)),
    "lz4": ("lz4", lambda: b"\x04\x22\x4d\x18\x64\x40\xa7"),
}


@pytest.mark.parametrize("replace", [False, True], ids=["strict", "replace"])
@pytest.mark.parametrize("kind", BINARY)
def test_other_formats_are_never_read_as_text(kind: str, replace: bool) -> None:
    write("t")
    described, content = BINARY[kind]
    for name in ("x.txt", "x", "x.jsonl", "x.csv"):
        Path(name).write_bytes(content())
    handling: Any = {"errors": "replace" if replace else "strict"}
    known = trained()
    calls: list[Callable[[], object]] = [
        lambda: tokenizer().train(["x.txt"], quiet(), **handling),
        lambda: tokenizer().train(["x"], quiet(), **handling),
        lambda: tokenizer().train(["x.jsonl"], quiet(), **handling),
        lambda: count_words("x.csv", **handling),
        lambda: count_words("x.txt", checkpoint="checkpoint", **handling),
        lambda: known.encode_files_arrays(["x"], **handling),
        lambda: known.encode_files_arrays(["x.txt"], "||", **handling),
        lambda: known.count_tokens_files(["x.txt"], **handling),
        lambda: list(Lines("x", **handling)),
        lambda: list(Documents("x", **handling)),
        lambda: estimate("x.txt"),
        lambda: report({"it": known}, "x.txt"),
        lambda: tokenize_files(known, JsonLines("x", **handling), "tokens"),
    ]
    for call in calls:
        with pytest.raises(errors.FormatError, match=rf"^x\S* is .*{described}"):
            call()


@pytest.mark.parametrize(
    "text", ["PAR1 is a mark", "PK", "BM", "MZ", "GIF89a", "%PDF", "Rar!", "\ufefftext", "BZh9", "\0\0\0"]
)
def test_text_that_looks_like_another_format_is_text(text: str) -> None:
    Path("x").write_text(text, encoding="utf-8")
    assert list(Lines("x")) == [text]
    assert trained().count_tokens_files(["x"]).tolist() == [len(text.split())]


REMOTE = ["s3://bucket/a.txt", "gs://b/*.jsonl", "https://example.org/a.parquet", "hf://datasets/x", "file:///tmp/x"]


@pytest.mark.parametrize("url", [*REMOTE, Path("s3://bucket/a.txt")])
def test_urls_are_refused_as_outputs_and_tokenizers(url: str | Path) -> None:
    write("a.jsonl")
    known, counts = trained(), count_words("a.jsonl")
    before = sorted(Path.cwd().iterdir())
    calls: list[Callable[[], object]] = [
        lambda: tokenizer().train(["a.jsonl"], max_memory="1GB", folder=url),
        lambda: count_words("a.jsonl", checkpoint=url),
        lambda: count_words("a.jsonl", folder=url, max_memory="1GB"),
        lambda: counts.save(url),
        lambda: known.save(url),
        lambda: known.save_spm(url),
        lambda: known.save_tiktoken(url),
        lambda: known.model.save(str(url)),
        lambda: merge_token_files(["tokens"], url),
        lambda: report({"it": known}, "a.jsonl").save(url),
        lambda: Tokenizer.from_file(url),
    ]
    for call in calls:
        with pytest.raises(errors.RemotePathError, match="is not on this machine"):
            call()
    assert sorted(Path.cwd().iterdir()) == before


def items(*texts: Any) -> Iterator[Any]:
    yield from texts


NO_TEXTS: dict[str, tuple[Any, str]] = {
    "dict": ({"text": "a"}, "of type dict"),
    "user dict": (UserDict(text="a"), "of type UserDict"),
    "str": ("abc", "of type str"),
    "bytes": (b"abc", "of type bytes"),
    "set": ({"a"}, "of type set"),
    "frozenset": (frozenset("a"), "of type frozenset"),
    "None": (None, "None"),
    "number": (5, "of type int"),
}


@pytest.mark.parametrize("kind", NO_TEXTS)
def test_values_without_texts_are_refused(kind: str) -> None:
    given, described = NO_TEXTS[kind]
    before = trained()
    vocab = before.get_vocab()

    def parity(iterator: Any) -> None:
        made = Tokenizer(BPE())
        ParityBpeTrainer(show_progress=False).train_from_iterator(made, [iterator])

    def bounded(iterator: Any) -> None:
        tokenizer().train_from_iterator(iterator, quiet(), max_memory="1GB")

    for call in (
        lambda it: count_words(iterator=it),
        lambda it: before.train_from_iterator(it, quiet()),
        bounded,
        parity,
    ):
        # Without an iterator words of files are counted.
        if given is not None:
            with pytest.raises(errors.InputTypeError, match=f"iterator is {described}"):
                call(given)
        if kind == "str":
            continue
        for iterator in ([given], ("a", given), items(["a"], given)):
            with pytest.raises(errors.InputTypeError, match=rf"item \d of the iterator is {described}"):
                call(iterator)
        with pytest.raises(errors.InputTypeError, match=f"text 1 of item 0 of the iterator is {described}"):
            call([["a", given]])
    assert before.get_vocab() == vocab


@pytest.mark.parametrize("given", [{"text": "a"}, UserDict(text="a"), {"a"}, frozenset("a"), "a", b"a", None, 5])
def test_batches_of_other_things_than_texts_are_refused(given: Any) -> None:
    known = trained()
    for call in (known.encode_batch_arrays, known.encode_batch_ids, known.count_tokens):
        with pytest.raises(errors.InputTypeError, match=r"^texts are .* but must be a list"):
            call(given)
    for call in (known.encode_batch, known.encode_batch_fast):
        with pytest.raises(TypeError):
            call(given)


def test_nested_lists_are_refused() -> None:
    with pytest.raises(errors.InputTypeError, match="text 0 of item 0 of the iterator is of type list but must be str"):
        count_words(iterator=[[["a"]]])


@pytest.mark.parametrize(
    "texts", [["a b", "a"], [("a b",), ["a"]], items("a b", "a"), pa.array(["a b", "a"]), np.array(["a b", "a"])]
)
def test_texts_are_taken_one_by_one_in_lists_and_in_columns(texts: Any) -> None:
    counts = count_words(iterator=texts, pre_tokenizer=pre_tokenizers.WhitespaceSplit())
    assert [(word, count) for word, count, *_ in counts] == [("a", 2), ("b", 1)]


@pytest.mark.parametrize("given", [{"a.txt": 1}, {"a.txt"}, b"a.txt", 5])
def test_files_are_a_list_of_paths(given: Any) -> None:
    write("a.txt")
    known = trained()
    for call in (tokenizer().train, words_of, known.count_tokens_files, known.encode_files_arrays, estimate, Lines):
        with pytest.raises(errors.InputTypeError, match="must be"):
            call(given)
