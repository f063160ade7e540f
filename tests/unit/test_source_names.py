"""Sources: one rule for paths, folders and patterns in every call."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import json
import lzma
import os
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
import pyarrow.feather
import pyarrow.parquet
import pytest

from lexmill import Tokenizer, count_words, errors, merge_token_files, pre_tokenizers
from lexmill.estimation import estimate
from lexmill.models import BPE, WordLevel
from lexmill.reports import report
from lexmill.sources import Arrow, Csv, Documents, JsonLines, Lines, Parquet
from lexmill.token_files import tokenize_files
from lexmill.trainers import ParityBpeTrainer, WordLevelTrainer

WORDS = ["one", "three", "two"]


def tokenizer() -> Tokenizer:
    made = Tokenizer(WordLevel(unk_token="?"))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return made


def quiet() -> WordLevelTrainer:
    return WordLevelTrainer(show_progress=False, special_tokens=["?"])


def trained() -> Tokenizer:
    made = tokenizer()
    made.train_from_iterator([" ".join(WORDS)], quiet())
    return made


def words_of(files: Any) -> list[str]:
    counts = count_words(files, pre_tokenizer=pre_tokenizers.WhitespaceSplit())
    return sorted(word for word, *_ in counts)


@pytest.fixture(autouse=True)
def in_tmp_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(name: str) -> None:
    """A file of three texts of one word each, in the format that the name says."""
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    lowered = Path(name.lower())
    bare, packed = (lowered.stem, lowered.suffix) if lowered.suffix in (".gz", ".bz2", ".xz") else (lowered.name, "")
    table = pa.table({"id": [1, 2, 3], "text": WORDS})
    if bare.endswith(".parquet"):
        pa.parquet.write_table(table, path)
    elif bare.endswith((".arrow", ".feather")):
        pa.feather.write_feather(table, path)
    else:
        lines = {
            "jsonl": lambda: "".join(json.dumps({"id": 1, "text": word}) + "\n" for word in WORDS),
            "csv": lambda: "id,text\n" + "".join(f"1,{word}\n" for word in WORDS),
            "tsv": lambda: "id\ttext\n" + "".join(f"1\t{word}\n" for word in WORDS),
        }
        text = lines.get(bare.rpartition(".")[2], lambda: "\n".join(WORDS))()
        compress = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}.get(packed, bytes)
        path.write_bytes(compress(text.encode()))


TEXT_NAMES = ["a.txt", "a.txt.xz", "a.gz", "a"]
NAMES = [
    "a.jsonl",
    "a.JSONL.gz",
    "a.csv.bz2",
    "a.tsv",
    "a.parquet",
    "a.arrow",
    "a.feather",
    *TEXT_NAMES,
]


class TestNames:
    @pytest.mark.parametrize("name", NAMES)
    def test_every_call_reads_what_the_name_says(self, name: str) -> None:
        write(name)
        known = trained()
        is_text = name in TEXT_NAMES
        made = tokenizer()
        made.train([name], quiet())
        assert sorted(made.get_vocab()) == sorted(["?", *WORDS])
        made.train([name], quiet(), max_memory="100MB")
        assert sorted(made.get_vocab()) == sorted(["?", *WORDS])
        assert words_of(name) == words_of([Path(name)]) == WORDS
        counts = count_words(name, pre_tokenizer=pre_tokenizers.WhitespaceSplit(), checkpoint="checkpoint")
        assert sorted(word for word, *_ in counts) == WORDS
        assert estimate(name, pre_tokenizer=pre_tokenizers.WhitespaceSplit()).words == 3
        rows = (
            [[known.token_to_id(word) for word in WORDS]] if is_text else [[known.token_to_id(word)] for word in WORDS]
        )
        assert [row.tolist() for row in known.encode_files_arrays([name])] == rows
        assert known.count_tokens_files([name]).tolist() == list(map(len, rows))
        assert report({"it": known}, name).numbers.corpus.texts == 3
        if not is_text:
            assert tokenize_files(known, name, "tokens").manifest["total"]["tokens"] == 3

    def test_several_formats_come_in_order(self) -> None:
        for name in ("b.parquet", "a.txt", "c.jsonl.gz"):
            write(name)
        Path("a.txt").write_text("one||two||")
        known = trained()
        counts = known.count_tokens_files(["b.parquet", "a.txt", Lines("a.txt"), "c.jsonl.gz"]).tolist()
        assert counts == [1, 1, 1, 1, 1, 1, 1, 1]

    def test_a_separator_is_for_text(self) -> None:
        write("a.jsonl")
        Path("a.txt").write_text("one||two||")
        known = trained()
        assert len(known.encode_files_arrays(["a.txt", JsonLines("a.jsonl")], "||")) == 5
        with pytest.raises(errors.OptionError, match=r"separator is '\|\|' but a\.jsonl holds records"):
            known.encode_files_arrays(["a.jsonl"], "||")

    def test_rows_are_limited_as_one_batch(self) -> None:
        write("a.jsonl")
        known = trained()
        known.enable_padding(pad_id=0, pad_token="?")
        arrays = known.encode_files_arrays(["a.jsonl"], padding="max_length", max_length=4)
        assert [len(row) for row in arrays] == [4, 4, 4]

    def test_a_record_without_text_is_an_error_of_every_call(self) -> None:
        Path("a.jsonl").write_text('{"content": "x"}\n')
        known = trained()
        for call in (tokenizer().train, known.count_tokens_files, known.encode_files_arrays, words_of, estimate):
            with pytest.raises(errors.FormatError, match=r"a\.jsonl, line 1"):
                call(["a.jsonl"])

    def test_a_source_says_how_a_file_is_read_whatever_its_name(self) -> None:
        write("a.jsonl")
        assert words_of(Lines("a.jsonl")) == sorted(set(Path("a.jsonl").read_text().split()))


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
    what, content = BINARY[kind]
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
        with pytest.raises(errors.FormatError, match=rf"^x\S* is .*{what}"):
            call()


@pytest.mark.parametrize(
    "text", ["PAR1 is a mark", "PK", "BM", "MZ", "GIF89a", "%PDF", "Rar!", "\ufefftext", "BZh9", "\0\0\0"]
)
def test_text_that_looks_like_another_format_is_text(text: str) -> None:
    Path("x").write_text(text, encoding="utf-8")
    assert list(Lines("x")) == [text]
    assert trained().count_tokens_files(["x"]).tolist() == [len(text.split())]


class TestFoldersAndPatterns:
    @pytest.fixture(autouse=True)
    def files(self) -> None:
        for folder, end in [("p", ".parquet"), ("j", ".jsonl"), ("a", ".arrow"), ("c", ".csv"), ("t", ".txt")]:
            for name in ("1", "2", "sub/3", "_temporary/4", ".hidden/5", "_6", ".7"):
                write(f"{folder}/{name}{end}")
            Path(folder, "_SUCCESS").touch()
            Path(folder, "._SUCCESS.crc").write_bytes(b"crc")
        for folder in "pjac":
            Path(folder, "README.md").write_text("not data")

    @pytest.mark.parametrize("source", [Parquet("p"), JsonLines("j"), Arrow("a"), Csv("c"), Lines("t"), Documents("t")])
    def test_of_a_folder_the_files_of_the_format_are_read(self, source: Any) -> None:
        assert [word.strip() for word in " ".join(source).split()] == ["one", "three", "two"] * 3

    @pytest.mark.parametrize("folder", "pjact")
    def test_a_folder_is_read_by_every_call(self, folder: str) -> None:
        known, three = trained(), folder != "t"
        assert words_of(folder) == WORDS
        assert known.count_tokens_files([folder]).tolist() == ([1] * 9 if three else [3] * 3)
        assert estimate(folder, pre_tokenizer=pre_tokenizers.WhitespaceSplit()).words == 9

    @pytest.mark.parametrize(
        ("pattern", "count"),
        [
            ("j/*.jsonl", 3),
            ("j/[12].jsonl", 2),
            ("j/**/*.jsonl", 4),
            ("?/sub", 5),
            ("j/[123]*", 2),
            ("p/*.parquet", 3),
            ("j/s*", 1),
        ],
    )
    def test_a_pattern_stands_for_its_files_and_those_of_folders(self, pattern: str, count: int) -> None:
        counted = count_words(pattern, pre_tokenizer=pre_tokenizers.WhitespaceSplit())
        assert counted.total == 3 * count
        made = tokenizer()
        made.train([pattern], quiet())
        assert sorted(made.get_vocab()) == sorted(["?", *WORDS])

    def test_markers_have_to_be_named_by_a_pattern(self) -> None:
        Path("j/README.md").unlink()
        assert len(list(JsonLines("j/*"))) == 4 * 3
        assert len(list(JsonLines("j/_*.jsonl"))) == 3
        assert len(list(JsonLines("?/_temporary/*.jsonl"))) == 3

    def test_folders_that_a_pattern_matches_are_read_for_a_named_source(self) -> None:
        assert len(list(Parquet(["p*", "?/sub/*.parquet"]))) == 12

    def test_what_holds_no_file_is_named(self) -> None:
        Path("empty").mkdir()
        for call in (words_of, tokenizer().train, trained().count_tokens_files, estimate):
            with pytest.raises(errors.FileError, match="no file is there: 'x/\\*'"):
                call(["x/*"])
            with pytest.raises(errors.FileError, match="is a directory, but no file is there to read as text: 'empty'"):
                call(["empty"])
        with pytest.raises(errors.FileError, match=r"whose name ends in \.parquet: 't'"):
            list(Parquet("t"))

    def test_a_folder_of_several_formats_is_refused(self) -> None:
        write("t/8.jsonl")
        with pytest.raises(errors.OptionError, match="t holds files of several formats, jsonl, lines"):
            words_of("t")
        assert words_of("t/*.jsonl") == WORDS


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


@pytest.mark.skipif(os.name != "posix", reason="names may not hold colons elsewhere")
def test_names_with_a_colon_are_names() -> None:
    Path("x:").mkdir()
    Path("ab:").mkdir()
    for name in ("a:b.txt", "x:/a.txt", "ab:/a.txt"):
        Path(name).write_text("one")
        assert words_of(name) == ["one"]


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
def test_what_gives_no_texts_is_refused(kind: str) -> None:
    given, what = NO_TEXTS[kind]
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
            with pytest.raises(errors.InputTypeError, match=f"iterator is {what}"):
                call(given)
        if kind == "str":
            continue
        for iterator in ([given], ("a", given), items(["a"], given)):
            with pytest.raises(errors.InputTypeError, match=rf"item \d of the iterator is {what}"):
                call(iterator)
        with pytest.raises(errors.InputTypeError, match=f"text 1 of item 0 of the iterator is {what}"):
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
