"""Sources: one rule for paths, folders and patterns in every call."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from lexmill import count_words, errors, pre_tokenizers
from lexmill.estimation import estimate
from lexmill.reports import report
from lexmill.sources import Arrow, Csv, Documents, JsonLines, Lines, Parquet
from lexmill.token_files import tokenize_files
from named_files import WORDS, quiet, tokenizer, trained, words_of, write


@pytest.fixture(autouse=True)
def in_tmp_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


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


@pytest.mark.skipif(os.name != "posix", reason="names may not hold colons elsewhere")
def test_names_with_a_colon_are_names() -> None:
    Path("x:").mkdir()
    Path("ab:").mkdir()
    for name in ("a:b.txt", "x:/a.txt", "ab:/a.txt"):
        Path(name).write_text("one")
        assert words_of(name) == ["one"]
