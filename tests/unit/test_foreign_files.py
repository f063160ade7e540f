"""Files that were given in the place of a tokenizer's: the error names the file and its kind."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lexmill import Tokenizer, models
from lexmill.errors import FileError, FormatError, InvalidUtf8Error
from small import letters


def zipped() -> bytes:
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w") as archive:
        archive.writestr("tokenizer.json", "{}")
    return memory.getvalue()


JSON = letters("ab").to_str().encode()
FOREIGN: dict[str, tuple[bytes, str]] = {
    "lfs": (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", "a pointer of Git LFS"),
    "html": (b"\n<!DOCTYPE html>\n<html>", "a web page"),
    "bare html": (b"<HTML><head>", "a web page"),
    "xml": (b"\xef\xbb\xbf<?xml version='1.0'?><Error/>", "a web page"),
    "gzip": (gzip.compress(JSON), "compressed with gzip"),
    "xz": (lzma.compress(JSON), "compressed with xz"),
    "bzip2": (bz2.compress(JSON), "compressed with bzip2"),
    "zstd": (b"\x28\xb5\x2f\xfd\x04\x00", "compressed with zstd"),
    "zip": (zipped(), "a zip archive"),
    "pickle": (pickle.dumps({}), "a Python pickle"),
    "utf-16": (JSON.decode().encode("utf-16"), "text in UTF-16"),
    "utf-16-le": (JSON.decode().encode("utf-16-le"), "text in UTF-16"),
    "utf-16-be": (JSON.decode().encode("utf-16-be"), "text in UTF-16"),
}
READERS: dict[str, Callable[[str], Any]] = {
    "tokenizer": Tokenizer.from_file,
    "vocab.json": lambda path: models.BPE.read_file(path, path),
    "words": models.WordLevel.read_file,
    "vocab.txt": models.WordPiece.read_file,
    "spm": Tokenizer.from_spm,
    "tiktoken": lambda path: Tokenizer.from_tiktoken(path, "."),
}


def refused(read: Callable[[str], Any], path: Path, message: str) -> None:
    with pytest.raises(FormatError, match=message) as info:
        read(str(path))
    assert str(info.value).startswith(str(path))


@pytest.mark.parametrize("kind", FOREIGN)
@pytest.mark.parametrize("reader", READERS)
def test_every_reader_says_what_a_file_is(reader: str, kind: str, tmp_path: Path) -> None:
    path = tmp_path / "given"
    path.write_bytes(FOREIGN[kind][0])
    refused(READERS[reader], path, f"this is {FOREIGN[kind][1]}")


@pytest.mark.parametrize("kind", FOREIGN)
def test_bytes_in_memory_are_told_too(kind: str) -> None:
    with pytest.raises(FormatError, match=f"^Cannot instantiate Tokenizer from buffer: this is {FOREIGN[kind][1]}"):
        Tokenizer.from_buffer(FOREIGN[kind][0])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "there is nothing in it"),
        (b" \n", "there is nothing in it"),
        (JSON[: len(JSON) // 2], "it ends in the middle, as after a download that was cut off"),
        (b'{"a": 0, "b": 1}', "`model` is missing; this is a vocabulary, such as vocab.json"),
        (b'{"tokenizer_class": "X", "a": 1}', "`model` is missing; this is a tokenizer_config.json"),
        (b'{"architectures": ["X"]}', "`model` is missing; this is the config.json of a model"),
        (b'{"bos_token": "<s>"}', "`model` is missing; this is a special_tokens_map.json"),
        (b"\n\x0e\n\x05<unk>\x15\0\0\0\0\x18\x02", "read it with Tokenizer.from_spm"),
        (b"[1]", "expected an object$"),
    ],
)
def test_json_that_is_no_tokenizer(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_bytes(content)
    refused(Tokenizer.from_file, path, message)


def test_places_within_a_file_come_after_its_name(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    parts = json.loads(JSON)
    parts["model"]["vocab"]["a"] = "0"
    path.write_text(json.dumps(parts, indent=1))
    # Lines of the model alone would be taken for lines of the file.
    refused(Tokenizer.from_file, path, r"mine\.json: model\.vocab\.a: invalid type: string \"0\", expected u32$")
    with pytest.raises(FormatError) as info:
        Tokenizer.from_file(str(path))
    assert " line " not in str(info.value)


def test_a_byte_order_mark_is_passed_over(tmp_path: Path) -> None:
    def written(name: str, content: bytes) -> str:
        (tmp_path / name).write_bytes(b"\xef\xbb\xbf" + content)
        return str(tmp_path / name)

    assert Tokenizer.from_file(written("t.json", JSON)).to_str() == JSON.decode()
    assert Tokenizer.from_buffer(b"\xef\xbb\xbf" + JSON).to_str() == JSON.decode()
    assert models.WordPiece.read_file(written("vocab.txt", b"[PAD]\na\n")) == {"[PAD]": 0, "a": 1}
    vocab, merges = written("vocab.json", b'{"a": 0, "b": 1, "ab": 2}'), written("merges.txt", b"#version: 0.2\na b\n")
    assert models.BPE.read_file(vocab, merges) == ({"a": 0, "b": 1, "ab": 2}, [("a", "b")])


def test_what_holds_no_lines_of_tokens_is_no_vocabulary(tmp_path: Path) -> None:
    path = tmp_path / "vocab.txt"
    path.write_bytes(JSON)
    refused(models.WordPiece.read_file, path, "this is JSON")
    path.write_bytes(b"")
    refused(models.WordPiece.read_file, path, "there is nothing in it")
    refused(Tokenizer.from_spm, path, "there is nothing in it")
    refused(lambda given: Tokenizer.from_tiktoken(given, "."), path, "there is nothing in it")
    path.write_bytes(JSON)
    refused(models.WordLevel.read_file, path, "read it with Tokenizer.from_file")
    refused(Tokenizer.from_spm, path, "read a tokenizer.json with Tokenizer.from_file")


def test_no_advice_that_the_call_does_not_take(tmp_path: Path) -> None:
    path = tmp_path / "latin.json"
    path.write_bytes(b'{"a": "\xe9"}')
    with pytest.raises(InvalidUtf8Error, match=r"latin\.json is not valid UTF-8 at byte 7$"):
        Tokenizer.from_file(str(path))
    with pytest.raises(FileError, match="directory"):
        Tokenizer.from_file(str(tmp_path))


def test_a_path_given_as_contents_is_told() -> None:
    with pytest.raises(FormatError, match="from_str takes the contents of a file, from_file its path"):
        Tokenizer.from_str("tokenizer.json")
