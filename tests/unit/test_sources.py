"""Texts from files in several formats: the same texts however they lie on the disk."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import os
import pickle
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lexmill import Tokenizer, pre_tokenizers
from lexmill.errors import FileError, FormatError, InvalidUtf8Error, OptionError, SkippedRecordsWarning
from lexmill.models import BPE
from lexmill.sources import Csv, JsonLines, Lines, Source
from lexmill.trainers import BpeTrainer

# Half a megabyte: more than a block.
TEXTS = [f'a{number % 977} été 日本\n{"x" * (number % 50)} \\ "{number}", ' for number in range(12_000)]

COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
}


def as_json(texts: list[str]) -> bytes:
    return "".join(json.dumps({"id": 1, "meta": {"text": text}}) + "\n" for text in texts).encode()


def as_csv(texts: list[str]) -> bytes:
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter="\t")
    writer.writerow(["id", "text"])
    writer.writerows([1, text] for text in texts)
    return stream.getvalue().encode()


@pytest.fixture(params=COMPRESSIONS)
def compress(request: pytest.FixtureRequest) -> Callable[[bytes], bytes]:
    return COMPRESSIONS[request.param]


def test_every_format_and_compression_gives_back_the_texts(tmp_path: Path, compress: Callable[[bytes], bytes]) -> None:
    # Two members in one file.
    (tmp_path / "j").write_bytes(compress(as_json(TEXTS[:5000])) + compress(as_json(TEXTS[5000:])))
    (tmp_path / "c").write_bytes(compress(as_csv(TEXTS)))
    (tmp_path / "l").write_bytes(compress("".join(TEXTS).encode()))
    assert list(JsonLines(tmp_path / "j", field="meta.text")) == TEXTS
    assert list(Csv(tmp_path / "c", delimiter="\t")) == TEXTS
    assert list(Lines(tmp_path / "l")) == "".join(TEXTS).splitlines(keepends=True)


def trained(files: list[str | Source], threads: int) -> str:
    tokenizer = Tokenizer(BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel()
    trainer = BpeTrainer(vocab_size=600, show_progress=False, tie_break="first-seen")
    tokenizer.train(files, trainer, num_threads=threads)
    return tokenizer.to_str()


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_training_learns_the_same_from_every_format(tmp_path: Path, threads: int) -> None:
    third = len(TEXTS) // 3
    (tmp_path / "1.gz").write_bytes(gzip.compress(as_json(TEXTS[:third])))
    (tmp_path / "2").write_bytes(as_json(TEXTS[third : 2 * third]))
    (tmp_path / "3").write_bytes(as_csv(TEXTS[2 * third :]))
    tokenizer = Tokenizer(BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel()
    trainer = BpeTrainer(vocab_size=600, show_progress=False, tie_break="first-seen")
    tokenizer.train_from_iterator(TEXTS, trainer)
    sources: list[str | Source] = [
        JsonLines([tmp_path / "1.gz", tmp_path / "2"], field="meta.text"),
        Csv(tmp_path / "3", delimiter="\t"),
    ]
    assert trained(sources, threads) == tokenizer.to_str()


def test_training_tells_progress_in_bytes_of_files(tmp_path: Path) -> None:
    (tmp_path / "1.gz").write_bytes(gzip.compress(as_json(TEXTS)))
    size = (tmp_path / "1.gz").stat().st_size
    seen: list[tuple[str, int, int]] = []
    trainer = BpeTrainer(vocab_size=300, show_progress=False)
    source = JsonLines(tmp_path / "1.gz", field="meta.text")
    Tokenizer(BPE()).train([source], trainer, on_progress=lambda *report: seen.append(report))
    counted = [report[1:] for report in seen if report[0] == "count words"]
    assert counted[-1] == (size, size)


def test_folders_and_patterns_stand_for_their_files_in_order(tmp_path: Path) -> None:
    for name in ["b.txt", "a.txt", "sub/c.txt", ".hidden", "sub/.d/e.txt", "other.md"]:
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).write_text(name)
    assert list(Lines(tmp_path)) == ["a.txt", "b.txt", "other.md", "sub/c.txt"]
    assert list(Lines(f"{tmp_path}/*.txt")) == ["a.txt", "b.txt"]
    assert list(Lines(f"{tmp_path}/**/*.txt")) == ["a.txt", "b.txt", "sub/c.txt"]
    assert list(Lines([f"{tmp_path}/*.md", f"{tmp_path}/a.txt"])) == ["other.md", "a.txt"]
    # A name may look like a pattern.
    (tmp_path / "[1].txt").write_text("1")
    assert list(Lines(tmp_path / "[1].txt")) == ["1"]
    with pytest.raises(FileError, match=r"no file is there: .*\*\.json"):
        list(Lines(f"{tmp_path}/*.json"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileError, match="no file is there"):
        list(Lines(tmp_path / "empty"))


def test_standard_input_is_a_file() -> None:
    program = "from lexmill.sources import JsonLines; print(list(JsonLines('-')))"
    data = gzip.compress(b'{"text": "a"}\n{"text": "b"}')
    done = subprocess.run([sys.executable, "-c", program], input=data, capture_output=True, check=True)
    assert done.stdout.decode().strip() == "['a', 'b']"


def test_sources_are_values() -> None:
    source = JsonLines(["a", Path("b")], field="x")
    assert source == pickle.loads(pickle.dumps(source))
    assert hash(source) == hash(JsonLines(("a", "b"), field="x"))
    assert source != JsonLines(["a", "b"])
    assert repr(source) == "JsonLines(paths=('a', 'b'), field='x', errors='strict', on_error='raise')"


def test_a_broken_record_is_named(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"text": "a"}\n{"text": 1}\n{"texts": "b"}\n{"text": "c\xff"}\n[\n{"text": "d"}\n')
    with pytest.raises(FormatError, match=r"x\.jsonl, line 2: invalid type: integer `1`, expected a text at byte 10"):
        list(JsonLines(path))
    with pytest.warns(
        SkippedRecordsWarning, match=r"^4 records were left out: .*line 2: .*line 3: there is no field `text`"
    ):
        assert list(JsonLines(path, on_error="skip")) == ["a", "d"]
    with pytest.warns(SkippedRecordsWarning, match="3 records"):
        assert list(JsonLines(path, on_error="skip", errors="replace")) == ["a", "c\ufffd", "d"]
    with pytest.warns(SkippedRecordsWarning, match="4 records"):
        trained([JsonLines(path, on_error="skip")], 1)


def test_many_broken_records_are_counted_and_the_first_are_told(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text("".join(f'{{"text": {json.dumps(text)}}}\nx{"y" * 50}\n' for text in TEXTS))
    for threads in [1, 2]:
        with pytest.warns(SkippedRecordsWarning) as caught:
            trained([JsonLines(path, on_error="skip")], threads)
        message = str(caught[0].message)
        assert message.startswith("12,000 records were left out: ")
        assert re.findall(r"line (\d+): expected", message) == [str(line) for line in range(2, 21, 2)]


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "cut.gz").write_bytes(gzip.compress(as_json(TEXTS))[:-100])
    (tmp_path / "bad").write_bytes(b"ab\n\xff\n")
    (tmp_path / "columns").write_bytes(b"a,b\n1,2\n3\n")
    with pytest.raises(FileError, match=r"cannot read .*cut\.gz"):
        list(JsonLines(tmp_path / "cut.gz", field="meta.text", on_error="skip"))
    with pytest.raises(FileError, match=r"cannot open .*missing"):
        list(Lines(tmp_path / "missing"))
    with pytest.raises(InvalidUtf8Error, match="bad is not valid UTF-8 at byte 3"):
        list(Lines(tmp_path / "bad"))
    assert list(Lines(tmp_path / "bad", errors="replace")) == ["ab\n", "\ufffd\n"]
    with pytest.raises(FormatError, match="columns: there is no column `text`, only a, b"):
        list(Csv(tmp_path / "columns"))
    with pytest.raises(FormatError, match="columns, line 3: the record has 1 values, but the text is in number 1"):
        list(Csv(tmp_path / "columns", column="b"))
    assert list(Csv(tmp_path / "columns", column=0)) == ["a", "1", "3"]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (JsonLines("x", field="a..b"), "field is 'a..b' but must be a name"),
        (JsonLines("x", on_error="drop"), "on_error is drop but must be raise or skip"),  # type: ignore[arg-type]
        (Csv("x", delimiter="é"), "delimiter is 'é' but must be an ASCII character"),
        (Csv("x", delimiter='"'), "delimiter is"),
    ],
)
def test_bad_options_are_refused_by_name(source: Source, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        list(source)


@pytest.mark.skipif(os.name != "posix", reason="needs pipes by name")
def test_a_pipe_can_be_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    program = f"import pathlib; pathlib.Path({str(pipe)!r}).write_bytes(b'a\\nb')"
    with subprocess.Popen([sys.executable, "-c", program]):
        assert list(Lines(pipe)) == ["a\n", "b"]
