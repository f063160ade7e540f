"""Texts from lines, JSON, CSV and documents: the same texts however they lie on the disk."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import pickle
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lexmill import Tokenizer, count_words, pre_tokenizers
from lexmill.errors import (
    FileError,
    FormatError,
    InvalidUtf8Error,
    OptionError,
    SkippedRecordsWarning,
    TextTooLongError,
)
from lexmill.models import BPE
from lexmill.sources import Arrow, Csv, Documents, JsonLines, Lines, Parquet, Source
from lexmill.trainers import BpeTrainer
from source_texts import COMPRESSIONS, TEXTS, as_json, trained


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


@pytest.mark.parametrize("threads", [1, 2])
def test_replaced_bytes_do_not_move_what_comes_first(tmp_path: Path, threads: int) -> None:
    # The first block of 256 KiB is twice as long once its bytes are replaced.
    # `cd` is at its end, and `ab` in the second block.
    block = 1 << 18
    head = (b"\xff " * 100 + b"\n") * 1290
    count = (block - len(head)) // 3
    filler = b" " * (block - len(head) - 3 * count - 1) + b"\n"
    (tmp_path / "bad").write_bytes(head + b"cd\n" * count + filler + b"ab\n" * count)

    def merges(file: str | Source) -> list[list[str]]:
        tokenizer = Tokenizer(BPE())
        tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
        trainer = BpeTrainer(vocab_size=6, show_progress=False, tie_break="first-seen")
        tokenizer.train([file], trainer, errors="replace", num_threads=threads)
        found: list[list[str]] = json.loads(tokenizer.to_str())["model"]["merges"]
        return found

    assert merges(str(tmp_path / "bad")) == [["c", "d"]]
    assert merges(Lines(tmp_path / "bad", errors="replace")) == [["c", "d"]]


def test_training_tells_progress_in_bytes_of_files(tmp_path: Path) -> None:
    (tmp_path / "1.gz").write_bytes(gzip.compress(as_json(TEXTS)))
    size = (tmp_path / "1.gz").stat().st_size
    seen: list[tuple[object, ...]] = []
    trainer = BpeTrainer(vocab_size=300, show_progress=False)
    source = JsonLines(tmp_path / "1.gz", field="meta.text")
    Tokenizer(BPE()).train([source], trainer, on_progress=lambda *report: seen.append(report))
    counted = [report[1:3] for report in seen if report[0] == "count words"]
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


@pytest.mark.skipif(os.name != "posix", reason="links to folders take rights elsewhere")
def test_links_that_lead_in_a_circle_are_not_followed(tmp_path: Path) -> None:
    for name in ["a/b/c.txt", "a/d.txt", "e.txt", "a/.hidden/f.txt", "a/[g]/h.txt"]:
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).write_text(name)
    all_of_them = ["a/[g]/h.txt", "a/b/c.txt", "a/d.txt", "e.txt"]
    patterns = ["**/*.txt", "**", "*/../**/*.txt", "**/**/*.txt"]
    before = [list(Lines(f"{tmp_path}/{pattern}")) for pattern in patterns]
    # Each of many links within a circle would be followed by each: there would be no end.
    for name in ("one", "two", "three"):
        (tmp_path / "a" / name).symlink_to("..")
    (tmp_path / "a" / "i.txt").symlink_to("b/c.txt")
    assert list(Lines(f"{tmp_path}/a/*.txt")) == ["a/d.txt", "a/b/c.txt"]
    (tmp_path / "a" / "i.txt").unlink()
    assert [list(Lines(f"{tmp_path}/{pattern}")) for pattern in patterns] == before
    assert before[0] == before[1] == before[3] == all_of_them
    assert list(Lines(tmp_path)) == all_of_them
    # A link that is named is followed.
    assert list(Lines(f"{tmp_path}/a/one/*.txt")) == ["e.txt"]
    assert list(Lines(f"{tmp_path}/a/one/**/*.txt")) == all_of_them
    with pytest.raises(FileError, match="no file is there"):
        list(Lines(f"{tmp_path}/**/"))


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


def test_a_broken_record_far_into_a_file_has_its_line(tmp_path: Path) -> None:
    lines = [json.dumps({"text": f"text {number} " + "x" * 500}) for number in range(6000)]
    for number in (2500, 4000, 5999):
        lines[number] = "{}"
    (tmp_path / "1.jsonl").write_text("\n".join(lines))
    with pytest.raises(FormatError, match=r"1\.jsonl, line 2501: "):
        list(JsonLines(tmp_path / "1.jsonl", field="text"))
    with pytest.warns(UserWarning, match=r"(?s)line 2501: .*line 4001: .*line 6000: "):
        count_words(JsonLines(tmp_path / "1.jsonl", field="text", on_error="skip"), num_threads=3)


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
        (Csv("x", column=-1), "column is -1 but must be a name or a number from 0 on"),
        (Csv("x", delimiter="é"), "delimiter is 'é' but must be an ASCII character"),
        (Csv("x", delimiter='"'), "delimiter is"),
        (Parquet("x", column=1), "column is 1 but must be a name"),  # type: ignore[arg-type]
        (Arrow("x", column=1), "column is 1 but must be a name"),  # type: ignore[arg-type]
        (Documents("x", separator=""), "separator is empty but must be a text, or None for whole files"),
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


def test_documents_are_files_or_parts_of_files(tmp_path: Path, compress: Callable[[bytes], bytes]) -> None:
    for name, data in {"1": b"a\nb<|e|>c<|e|><|e|>\xc3\xa9", "2": b"", "3": b"d<|e|>"}.items():
        (tmp_path / name).write_bytes(compress(data))
    assert list(Documents(tmp_path)) == ["a\nb<|e|>c<|e|><|e|>é", "", "d<|e|>"]
    assert list(Documents(tmp_path, separator="<|e|>")) == ["a\nb", "c", "", "é", "d"]
    (tmp_path / "bad").write_bytes(compress(b"ab|c\xff"))
    with pytest.raises(InvalidUtf8Error, match="bad is not valid UTF-8 at byte 4"):
        list(Documents(tmp_path / "bad", separator="|"))
    assert list(Documents(tmp_path / "bad", separator="|", errors="replace")) == ["ab", "c\ufffd"]


@pytest.mark.parametrize("threads", [1, 2])
def test_training_learns_the_same_from_documents(tmp_path: Path, threads: int) -> None:
    (tmp_path / "x").write_text("\0".join([*TEXTS, ""]))
    (tmp_path / "y").write_bytes(as_json(TEXTS))
    expected = trained([JsonLines(tmp_path / "y", field="meta.text")], threads)
    assert trained([Documents(tmp_path / "x", separator="\0")], threads) == expected


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs sparse files")
def test_a_text_of_three_gigabytes_is_refused(tmp_path: Path) -> None:
    with (tmp_path / "big").open("wb") as file:
        file.truncate(3 << 30)
    path = tmp_path / "big"
    limit = r"the text has more than 2147483647 bytes"
    for source, place in [
        (Lines(path), "line 1"),
        (JsonLines(path), "line 1"),
        (Csv(path), "line 1"),
        (Csv(path, column=0), "line 1"),
        (Documents(path), "document 0"),
        (Documents(path, separator="x"), "document 0"),
    ]:
        with pytest.raises(TextTooLongError, match=f"big, {place}: {limit}"):
            list(source)
    with pytest.raises(TextTooLongError, match=f"big, the line from byte 0 on: {limit}"):
        trained([str(path)], 1)


def test_a_field_that_is_no_string_is_a_type_error(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_text("")
    with pytest.raises(TypeError, match="field is 5 but must be str"):
        list(JsonLines(tmp_path / "corpus.jsonl", field=5))  # type: ignore[arg-type]


def test_standard_input_is_no_folder_of_that_name(tmp_path: Path) -> None:
    (tmp_path / "-").mkdir()
    (tmp_path / "-" / "in.txt").write_text("folder\n")
    code = "from lexmill.sources import Lines; print(list(Lines('-')), list(Lines('./-')))"
    command = [sys.executable, "-c", code]
    found = subprocess.run(command, cwd=tmp_path, input="stdin\n", capture_output=True, text=True, check=True)
    assert found.stdout == "['stdin\\n'] ['folder\\n']\n"
