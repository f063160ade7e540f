"""Compressed files that are cut off, damaged, padded, empty, or no compressed files."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest

from lexmill import Tokenizer, count_words, models, open_tokens, pre_tokenizers, tokenize_files
from lexmill.errors import FileError
from lexmill.sources import Lines

TEXT = "".join(f"line {number}\n" for number in range(20_000)).encode()


def zstd(data: bytes) -> bytes:
    """A frame with a checksum; its blocks are stored."""
    pyarrow = pytest.importorskip("pyarrow")
    return bytes(pyarrow.Codec("zstd").compress(data))


COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstd,
}


@pytest.fixture(params=COMPRESSIONS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def read(path: Path, data: bytes) -> list[str]:
    path.write_bytes(data)
    return list(Lines(path))


def test_a_file_that_is_cut_off_is_named(name: str, tmp_path: Path) -> None:
    path, whole = tmp_path / f"cut.{name}", COMPRESSIONS[name](TEXT)
    for kept in (12, len(whole) // 3, len(whole) // 2, len(whole) - 8, len(whole) - 1):
        with pytest.raises(FileError, match=rf"^cannot read \S*cut\.{name}: "):
            read(path, whole[:kept])
        with pytest.raises(FileError, match=rf"cut\.{name}"):
            count_words([Lines(path)], pre_tokenizer=pre_tokenizers.Whitespace())


def test_all_members_frames_and_streams_are_read(name: str, tmp_path: Path) -> None:
    compress = COMPRESSIONS[name]
    pieces = [compress(TEXT[:100]), compress(b""), compress(TEXT[100:150_000]), compress(TEXT[150_000:]), compress(b"")]
    assert "".join(read(tmp_path / f"many.{name}", b"".join(pieces))).encode() == TEXT


def test_what_follows_the_compressed_data_is_an_error(name: str, tmp_path: Path) -> None:
    whole = COMPRESSIONS[name](TEXT)
    for after in (b"garbage after the end", b"\n", TEXT):
        with pytest.raises(FileError, match=rf"cannot read \S*after\.{name}: "):
            read(tmp_path / f"after.{name}", whole + after)


def test_changed_bytes_are_an_error(name: str, tmp_path: Path) -> None:
    whole = bytearray(COMPRESSIONS[name](TEXT))
    whole[len(whole) // 2] ^= 0xFF
    with pytest.raises(FileError, match=rf"cannot read \S*changed\.{name}: "):
        read(tmp_path / f"changed.{name}", bytes(whole))


def test_empty_files_hold_no_texts(name: str, tmp_path: Path) -> None:
    assert read(tmp_path / f"empty.{name}", COMPRESSIONS[name](b"")) == []
    assert read(tmp_path / f"nothing.{name}", b"") == []


def test_first_bytes_and_not_names_tell_the_compression(name: str, tmp_path: Path) -> None:
    assert read(tmp_path / f"plain.{name}", b"just text\n") == ["just text\n"]
    assert read(tmp_path / "compressed.txt", COMPRESSIONS[name](b"just text\n")) == ["just text\n"]


def stored_frame(window_log: int) -> bytes:
    """A zstd frame of one stored block, whose header asks for a window."""
    block = (1 | 6 << 3).to_bytes(3, "little") + b"hello\n"
    return b"\x28\xb5\x2f\xfd" + bytes([0, (window_log - 10) << 3]) + block


def test_a_zstd_window_above_the_limit_is_refused_with_the_limit(tmp_path: Path) -> None:
    assert read(tmp_path / "most.zst", stored_frame(27)) == ["hello\n"]
    for window_log in (28, 31):
        with pytest.raises(FileError, match=r"long\.zst: its zstd window is above the limit of 128 MiB; .*--long=27"):
            read(tmp_path / "long.zst", stored_frame(window_log))


def test_tokenizing_keeps_what_was_finished_before_the_damage(name: str, tmp_path: Path) -> None:
    tokenizer = Tokenizer(models.WordLevel({"line": 0, "unk": 1}, unk_token="unk"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    first, second, out = tmp_path / "first.txt", tmp_path / f"second.{name}", tmp_path / "tokens"
    first.write_bytes(TEXT * 4)
    second.write_bytes(COMPRESSIONS[name](TEXT)[:-9])
    with pytest.raises(FileError, match=rf"second\.{name}"):
        tokenize_files(tokenizer, [Lines(first), Lines(second)], out, part_bytes=40_000, num_threads=1)
    kept = {path: path.stat().st_mtime_ns for path in out.glob("part-*")}
    assert len(kept) > 4
    assert not list(out.glob(".*"))
    # The file has another size once it is whole, which another run may say, and not one that goes on.
    second.write_bytes(COMPRESSIONS[name](TEXT))
    tokenize_files(tokenizer, [Lines(first), Lines(second)], out, part_bytes=40_000, overwrite=True)
    assert len(open_tokens(out)) == 5 * 20_000
