"""Files give the ids of their documents, and their number, and little of them is held."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from lexmill import Tokenizer, models, normalizers, pre_tokenizers, processors
from lexmill.errors import FileError, InvalidUtf8Error, OptionError
from small import byte_level, letters

# Far beyond what is read at a time (256 KiB), with text of several kinds and no place to cut near some borders.
LONG = ("ab abc, d\n" * 60_000 + "日本語のテキスト。" * 30_000 + " " * 70_000 + "\n\n\n" + "é" * 50_000) * 3


def tokenizers() -> dict[str, Tokenizer]:
    framed = byte_level(("a", "b"))
    framed.post_processor = processors.TemplateProcessing(single="[C] $A [S]", special_tokens=[("[C]", 7), ("[S]", 8)])
    framed.add_special_tokens(["abc, d\na"])
    cut = byte_level(("a", "b"), ("ab", "c"))
    cut.normalizer = normalizers.NFC()
    truncated = byte_level()
    truncated.enable_truncation(1000)
    padded = byte_level()
    padded.enable_padding()
    staged = byte_level()
    staged.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Digits(), pre_tokenizers.ByteLevel(False)])
    return {"framed": framed, "normalized": cut, "truncated": truncated, "padded": padded, "staged": staged}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("files")
    texts = ["", LONG, "a", "\n\n", "ab\n\n", LONG[: 1 << 20]]
    paths = [folder / str(number) for number in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text, encoding="utf-8")
    return paths


def documents(files: list[Path], separator: str | None) -> list[str]:
    texts = [file.read_bytes().decode() for file in files]
    if separator is None:
        return texts
    cut = [text.split(separator) for text in texts]
    return [text for parts in cut for text in (parts if parts[-1] else parts[:-1])]


@pytest.mark.filterwarnings("ignore::lexmill.errors.LengthLimitWarning")
@pytest.mark.parametrize(
    ("name", "separator"),
    [
        *(("framed", separator) for separator in (None, "\n\n", "\n", "本", "not there")),
        ("normalized", None),
        ("normalized", "\n\n"),
        ("staged", None),
        ("staged", "\n"),
        ("truncated", "\n\n"),
        ("padded", "\n\n"),
    ],
)
def test_same_as_the_ids_of_the_documents(files: list[Path], name: str, separator: str | None) -> None:
    tokenizer = tokenizers()[name]
    expected = tokenizer.encode_batch_arrays(documents(files, separator), num_threads=1)
    rows = tokenizer.encode_files_arrays(files, separator)
    assert np.array_equal(rows.ids, expected.ids)
    assert np.array_equal(rows.row_splits, expected.row_splits)
    counts = tokenizer.count_tokens_files(files, separator)
    assert counts.tolist() == np.diff(expected.row_splits).tolist()
    one = tokenizer.count_tokens_files(files, separator, add_special_tokens=False, num_threads=1)
    assert one.tolist() == tokenizer.count_tokens_files(files, separator, add_special_tokens=False).tolist()


def test_documents_are_cut_from_left_to_right(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_text("ab|||")
    assert letters("ab|").count_tokens_files([path], "||").tolist() == [2, 1]
    assert letters("ab|").encode_files_arrays([path], "||").row_splits.tolist() == [0, 2, 3]


@pytest.mark.parametrize("place", [0, 5, (1 << 20) - 1, (1 << 20) + 1, 20 << 20])
def test_bytes_that_are_not_utf8_are_named_or_replaced(tmp_path: Path, place: int) -> None:
    path = tmp_path / "text"
    path.write_bytes(b"a" * place + b"\xe2\x82" + b"a")
    for work in (byte_level().count_tokens_files, byte_level().encode_files_arrays):
        with pytest.raises(InvalidUtf8Error, match=f"{path} is not valid UTF-8 at byte {place};"):
            work([path])
    rows = byte_level().encode_files_arrays([path, path], errors="replace")
    assert rows.row_splits.tolist() == [0, place + 4, 2 * place + 8]
    assert byte_level().count_tokens_files([path], errors="replace").tolist() == [place + 4]


def test_a_character_at_the_end_that_is_cut_is_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes(b"a\xe2\x82")
    with pytest.raises(InvalidUtf8Error, match="at byte 1;"):
        byte_level().count_tokens_files([path])
    assert byte_level().count_tokens_files([path], errors="replace").tolist() == [4]


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("ab")
    for work in (letters().count_tokens_files, letters().encode_files_arrays):
        with pytest.raises(FileError, match=r"cannot open .*absent"):
            work([tmp_path / "text", tmp_path / "absent"])
        (tmp_path / "empty").mkdir(exist_ok=True)
        with pytest.raises(FileError, match="directory"):
            work([tmp_path / "empty"])
        with pytest.raises(OptionError, match="separator is empty"):
            work([], "")
        assert len(work([])) == 0


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no pipes with names")
def test_what_is_no_regular_file_is_read_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    text = "ab abc\n" * 100_000
    writer = threading.Thread(target=(tmp_path / "pipe").write_text, args=(text,))
    writer.start()
    rows = byte_level(("a", "b")).encode_files_arrays([tmp_path / "pipe"])
    writer.join()
    assert np.array_equal(rows.ids, byte_level(("a", "b")).encode_batch_arrays([text]).ids)


def test_an_unknown_token_is_an_error(tmp_path: Path) -> None:
    tokenizer = Tokenizer(models.BPE(vocab={"a": 0}, merges=[], unk_token="<u>"))
    (tmp_path / "text").write_text("x")
    with pytest.raises(KeyError, match="<u>"):
        tokenizer.count_tokens_files([tmp_path / "text"])
    with pytest.raises(KeyError, match="<u>"):
        tokenizer.encode_files_arrays([tmp_path / "text"])


@pytest.mark.slow
def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    pytest.importorskip("resource")
    program = """
import resource, sys
sys.path.insert(0, "tests/support")
from small import byte_level
tokenizer = byte_level(("a", "b"))
tokenizer.count_tokens_files([sys.argv[1]], num_threads=1)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
tokens = tokenizer.count_tokens_files([sys.argv[2]], num_threads=1)[0]
print(tokens, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    small, large = tmp_path / "small", tmp_path / "large"
    small.write_text("ab cd\n" * 10_000_000)
    large.write_text("ab cd\n" * 100_000_000)
    done = subprocess.run(
        [sys.executable, "-c", program, small, large], capture_output=True, text=True, check=True, timeout=300
    )
    tokens, kilobytes = map(int, done.stdout.split())
    assert tokens == 500_000_000
    assert kilobytes < 10_000
