"""What a corpus will take, told from a sample."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import random
from functools import cache, partial
from pathlib import Path

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from lexmill import count_words, errors, pre_tokenizers
from lexmill.estimation import estimate
from lexmill.sources import JsonLines


def corpus(path: Path, lines: int) -> None:
    draw = random.Random(1)
    numbers = (draw.paretovariate(0.7) for _ in range(lines * 10))
    words = [f"{min(int(number), 10**12):x}" for number in numbers]
    path.write_text("".join(" ".join(words[at : at + 10]) + "\n" for at in range(0, len(words), 10)))


def test_a_sample_tells_the_size_of_the_whole(tmp_path: Path) -> None:
    corpus(tmp_path / "1", 60_000)
    cut = pre_tokenizers.WhitespaceSplit()
    counts = count_words(tmp_path / "1", pre_tokenizer=cut)
    told = estimate(tmp_path / "1", pre_tokenizer=cut, sample=400_000)
    assert told.bytes == (tmp_path / "1").stat().st_size
    assert told.sampled_bytes < told.bytes / 2
    assert 0.9 < told.words / counts.total < 1.1
    assert 0.8 < told.distinct_words / len(counts) < 1.3
    assert 0.7 < told.training_memory / counts.training_memory() < 1.4
    assert told.longest[0][1] >= told.longest[-1][1] > 0
    assert told.counting_seconds > 0


def test_small_and_compressed_files_are_read_whole(tmp_path: Path) -> None:
    text = "".join(json.dumps({"text": f"a b {number}"}) + "\n" for number in range(50))
    (tmp_path / "1.jsonl.gz").write_bytes(gzip.compress(text.encode()))
    told = estimate(JsonLines(tmp_path / "*.gz"), pre_tokenizer=pre_tokenizers.WhitespaceSplit())
    assert (told.words, told.distinct_words) == (150, 52)


def packed(name: str, texts: list[str]) -> None:
    """A file of texts beside other fields, in the format of its name."""
    table = pa.table({"text": texts, "pad": ["x" * (number % 300) for number in range(len(texts))]})
    if name.endswith(".parquet"):
        pa.parquet.write_table(table, name)
    elif name.endswith((".arrow", ".feather")):
        pa.feather.write_feather(table, name)
    else:
        bare, _, end = name.rpartition(".")
        rows = table.to_pylist()
        lines = {
            "txt": lambda: "".join(f"{text}\n" for text in texts),
            "csv": lambda: "text,pad\n" + "".join(f"{row['text']},{row['pad']}\n" for row in rows),
            "jsonl": lambda: "".join(json.dumps(row) + "\n" for row in rows),
        }
        fast_xz = partial(lzma.compress, preset=0)
        compress = {"gz": partial(gzip.compress, compresslevel=1), "bz2": bz2.compress, "xz": fast_xz}.get(end)
        text = lines[(bare if compress else name).rpartition(".")[2]]().encode()
        Path(name).write_bytes(compress(text) if compress else text)


@cache
def long_texts(is_repeated: bool) -> list[str]:
    draw = random.Random(1)
    word = (lambda: "hello") if is_repeated else (lambda: f"{draw.getrandbits(30):x}")
    return [" ".join(word() for _ in range(300)) for _ in range(4_000)]


@pytest.mark.parametrize("is_repeated", [False, True], ids=["varied", "repeated"])
@pytest.mark.parametrize(
    "end", ["txt", "jsonl", "csv", "parquet", "feather", "txt.gz", "jsonl.gz", "txt.bz2", "txt.xz"]
)
def test_the_text_of_every_format_is_estimated(tmp_path: Path, end: str, is_repeated: bool) -> None:
    cut = pre_tokenizers.WhitespaceSplit()
    packed(f"{tmp_path}/1.{end}", long_texts(is_repeated))
    told = estimate(tmp_path / f"1.{end}", pre_tokenizer=cut, sample=1 << 19)
    assert told.sampled_bytes < 8 << 20
    assert 0.7 < told.words / (4_000 * 300) < 1.4


def test_fields_beside_the_text_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "1.jsonl").write_text((json.dumps({"text": "a b", "pad": "x" * 100}) + "\n") * 100)
    for sample in (16 << 20, 1000):
        assert (
            estimate(tmp_path / "1.jsonl", pre_tokenizer=pre_tokenizers.WhitespaceSplit(), sample=sample).words == 200
        )


def test_files_that_are_not_sampled_count_by_the_others_of_their_format(tmp_path: Path) -> None:
    for number in range(200):
        packed(f"{tmp_path}/{number:03}.jsonl.gz", ["a b c"] * (200 + number))
        packed(f"{tmp_path}/{number:03}.txt", ["d e f"] * 400)
    cut = pre_tokenizers.WhitespaceSplit()
    told = estimate([f"{tmp_path}/*.gz", f"{tmp_path}/*.txt"], pre_tokenizer=cut, sample=1 << 16)
    assert 0.7 < told.words / count_words([f"{tmp_path}/*.gz", f"{tmp_path}/*.txt"], pre_tokenizer=cut).total < 1.4


@pytest.mark.parametrize("is_byte_level", [False, True])
def test_the_longest_words_are_text_and_their_lengths_bytes(tmp_path: Path, is_byte_level: bool) -> None:
    (tmp_path / "1").write_text("日本語 und abcdefgh\n", encoding="utf-8")
    cut = pre_tokenizers.ByteLevel(add_prefix_space=False) if is_byte_level else pre_tokenizers.WhitespaceSplit()
    told = estimate(tmp_path / "1", pre_tokenizer=cut)
    blank = " " if is_byte_level else ""
    expected = [("日本語", 9), (f"{blank}abcdefgh", 8 + is_byte_level), (f"{blank}und", 3 + is_byte_level)]
    assert sorted(told.longest[:3]) == sorted(expected)


def test_what_cannot_be_estimated_is_named(tmp_path: Path) -> None:
    with pytest.raises(errors.FileError, match="cannot open"):
        estimate(tmp_path / "none")
    with pytest.raises(errors.OptionError, match="files is '/dev/null' but must be files that can be read again"):
        estimate("/dev/null")
    (tmp_path / "empty").write_text("")
    with pytest.raises(errors.EmptyCorpusError, match="the sample holds no words"):
        estimate(tmp_path / "empty")
