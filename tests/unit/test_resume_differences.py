"""Work that goes on has to be the work that was begun: each difference is named, and what was finished stays."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from lexmill import AddedToken, Tokenizer, count_words, models, pre_tokenizers, tokenize_files
from lexmill.errors import OutputError
from lexmill.normalizers import Lowercase
from lexmill.pre_tokenizers import Whitespace, WhitespaceSplit
from lexmill.sources import Documents, JsonLines, Lines


class StopError(Exception):
    """Raised to cut a run short."""


def tokenizer() -> Tokenizer:
    made = Tokenizer(models.WordLevel({"a": 0, "b": 1, "unk": 2}, unk_token="unk"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    return made


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / "one.txt", tmp_path / "two.txt"]
    for path in paths:
        path.write_text("a b\n" * 1000)
    return paths


BEGUN: dict[str, Any] = {
    "format": "arrow",
    "begin_token": "a",
    "end_token": "b",
    "pack": 16,
    "pad_token": "a",
    "validation": 0.1,
    "seed": 3,
    "part_bytes": 1000,
}
OPTIONS: list[tuple[dict[str, Any], str]] = [
    ({"format": "parquet"}, 'format was "arrow" but is "parquet"'),
    ({"format": "raw", "preset": "dolma", "pack": None, "pad_token": None}, 'format was "arrow" but is "raw"'),
    ({"begin_token": "b"}, "begin_token was 0 but is 1"),
    ({"begin_token": None}, "begin_token was 0 but is null"),
    ({"end_token": None}, "end_token was 1 but is null"),
    ({"add_special_tokens": False}, "add_special_tokens was true but is false"),
    ({"pack": 32}, "pack was 16 but is 32"),
    ({"pack": None, "pad_token": None}, "pack was 16 but is null"),
    ({"packing": "best-fit"}, 'packing was "concat" but is "best-fit"'),
    ({"pack_columns": ["position_ids"]}, r'pack_columns was \[\] but is \["position_ids"\]'),
    ({"pad_token": "b"}, "pad_token was 0 but is 1"),
    ({"pad_token": None}, "pad_token was 0 but is null"),
    ({"validation": 0.2}, r"validation was 0\.1 but is 0\.2"),
    ({"seed": 4}, "seed was 3 but is 4"),
    ({"part_bytes": 2000}, "part_bytes was 1000 but is 2000"),
    ({"signed": True}, 'dtype was "uint16" but is "int32"'),
]


@pytest.fixture
def begun(files: list[Path], tmp_path: Path) -> Path:
    """A run with finished parts that is not finished."""
    out = tmp_path / "out"

    def stop(_: str, done: int, total: int, *_rest: object) -> None:
        if done == total:
            raise StopError

    with pytest.raises(StopError):
        tokenize_files(tokenizer(), [Lines(path) for path in files], out, on_progress=stop, **BEGUN)
    return out


def refused(out: Path, made: Tokenizer, sources: list[Any], message: str, **options: Any) -> None:
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    with pytest.raises(OutputError, match=f"^{out}: cannot resume: {message}"):
        tokenize_files(made, sources, out, resume=True, **{**BEGUN, **options})
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before


def test_every_option_is_compared(begun: Path, files: list[Path]) -> None:
    sources = [Lines(path) for path in files]
    for options, message in OPTIONS:
        refused(begun, tokenizer(), sources, message, **options)
    tokenize_files(tokenizer(), sources, begun, resume=True, **BEGUN).verify()


def test_the_tokenizer_is_compared(begun: Path, files: list[Path]) -> None:
    sources = [Lines(path) for path in files]
    special, other, stage = tokenizer(), tokenizer(), tokenizer()
    special.add_special_tokens([AddedToken("<s>")])
    other.model = models.WordLevel({"b": 0, "a": 1, "unk": 2}, unk_token="unk")
    stage.normalizer = Lowercase()
    for made in (special, other, stage):
        refused(begun, made, sources, r"the tokenizer was [0-9a-f]{16}-\d+ but is [0-9a-f]{16}-\d+")


def test_inputs_are_compared(begun: Path, files: list[Path]) -> None:
    one, two = files
    cases: list[tuple[list[Any], str]] = [
        ([Lines(two), Lines(one)], r"an input was \S*one\.txt .* but is \S*two\.txt"),
        ([Lines(one)], "there were 2 inputs but are 1"),
        ([Lines(one), Documents(two)], r"an input was \S*two\.txt \(lines.* but is \S*two\.txt \(documents"),
        ([Lines(one), JsonLines(two)], r"an input was \S*two\.txt \(lines.* but is \S*two\.txt \(JSON lines"),
    ]
    for sources, message in cases:
        refused(begun, tokenizer(), sources, message)
    times = two.stat()
    os.utime(two, ns=(times.st_atime_ns, times.st_mtime_ns + 1))
    refused(begun, tokenizer(), [Lines(one), Lines(two)], r"the input \S*two\.txt was modified")
    os.utime(two, ns=(times.st_atime_ns, times.st_mtime_ns))
    two.write_text("a b\n" * 999)
    refused(begun, tokenizer(), [Lines(one), Lines(two)], r"the input \S*two\.txt had 4000 bytes but has 3996")


def test_formats_are_told_in_words(begun: Path, files: list[Path]) -> None:
    message = (
        r".*\(lines, errors=\"strict\", .*\(documents, separator \"a\\n\", errors=\"strict\", on_error=\"raise\"\)"
    )
    refused(begun, tokenizer(), [Documents(path, separator="a\n") for path in files], message)
    refused(begun, tokenizer(), [JsonLines(files[0], field="a.b")], r".*\(JSON lines, field \"a.b\", errors")


@pytest.mark.parametrize("kind", ["tokenize", "count"])
def test_the_version_is_compared(kind: str, begun: Path, files: list[Path], tmp_path: Path) -> None:
    out = begun if kind == "tokenize" else tmp_path / "parts"
    if kind == "count":
        count_words(files, pre_tokenizer=Whitespace(), checkpoint=out)
    manifest = json.loads((out / "manifest.json").read_text())
    (out / "manifest.json").write_text(json.dumps({**manifest, "lexmill": "0.0.1"}))
    with pytest.raises(OutputError, match=r"cannot resume: the version of lexmill was 0\.0\.1 but is"):  # noqa: PT012
        if kind == "tokenize":
            tokenize_files(tokenizer(), [Lines(path) for path in files], out, resume=True, **BEGUN)
        else:
            count_words(files, pre_tokenizer=Whitespace(), checkpoint=out, resume=True)


def test_what_is_counted_is_compared(files: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "parts"
    given: dict[str, Any] = {"normalizer": Lowercase(), "pre_tokenizer": Whitespace(), "added_tokens": ["<s>"]}
    count_words(files, checkpoint=out, **given)
    one, two = files
    cases: list[tuple[list[Any], dict[str, Any], str]] = [
        (files, {"normalizer": None}, r"the normalizer was \{.*Lowercase.* but is null"),
        (files, {"pre_tokenizer": WhitespaceSplit()}, "the pre-tokenizer was .*Whitespace.* but is .*WhitespaceSplit"),
        (files, {"added_tokens": []}, "the list of added tokens was .*<s>"),
        (files, {"first_source": 1}, "first_source was 0 but is 1"),
        ([two, one], {}, r"an input was \S*one\.txt .* but is \S*two\.txt"),
        ([one], {}, "there were 2 inputs but are 1"),
        ([one, JsonLines(two)], {}, r"an input was \S*two\.txt \(lines"),
    ]
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    for sources, options, message in cases:
        with pytest.raises(OutputError, match=f"^{out}: cannot resume: {message}"):
            count_words(sources, checkpoint=out, resume=True, **{**given, **options})
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before
    # How the work is divided may change: it is the same work.
    options = {"checkpoint_bytes": 7, "num_threads": 1, "max_memory": "40MB"}
    assert count_words(files, checkpoint=out, resume=True, **given, **options).texts == 2000
