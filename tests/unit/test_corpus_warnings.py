"""Corpora and options with effects that their users may not intend: each is warned of, and nothing else is."""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from lexmill import (
    Tokenizer,
    count_words,
    merge_counts,
    merge_token_files,
    models,
    processors,
    tokenize_files,
    trainers,
)
from lexmill.errors import (
    CorpusWarning,
    DoubledTokenWarning,
    DroppedRowsWarning,
    EmptyCorpusWarning,
    LengthLimitWarning,
    RepeatedInputWarning,
)
from lexmill.pre_tokenizers import Whitespace
from lexmill.sources import JsonLines, Lines

WORDS = ["<s>", "</s>", "a", "b", "c"]


@pytest.fixture
def tokenizer() -> Tokenizer:
    tokenizer = Tokenizer(models.WordLevel({word: at for at, word in enumerate(WORDS)}, unk_token="a"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.add_special_tokens(["<s>", "</s>"])
    return tokenizer


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    folder.mkdir()
    (folder / "1.txt").write_text("a b\n" * 20)
    (folder / "2.txt").write_text("c\n" * 20)
    return folder


class TestRepeatedInputs:
    def repeated(self, tokenizer: Tokenizer, sources: Any, out: Path, message: str) -> None:
        with pytest.warns(RepeatedInputWarning, match=message):
            tokenize_files(tokenizer, sources, out)

    def test_a_file_by_any_two_ways(self, tokenizer: Tokenizer, corpus: Path, tmp_path: Path) -> None:
        one = corpus / "1.txt"
        self.repeated(tokenizer, Lines([one, one]), tmp_path / "0", r"an input is given more than once, .*: \S*1\.txt$")
        self.repeated(tokenizer, [Lines(corpus), Lines(one)], tmp_path / "1", r"an input is given.*1\.txt")
        self.repeated(tokenizer, [Lines(corpus / "*.txt"), Lines(corpus)], tmp_path / "2", "2 inputs are given")
        link = tmp_path / "link.txt"
        link.symlink_to(one)
        self.repeated(tokenizer, Lines([one, link]), tmp_path / "3", r"link\.txt \(the same file as \S*1\.txt\)")
        os.link(one, tmp_path / "hard.txt")
        self.repeated(tokenizer, Lines([one, tmp_path / "hard.txt"]), tmp_path / "4", "the same file as")
        relative = os.path.relpath(one)
        self.repeated(tokenizer, Lines([one, relative]), tmp_path / "5", "the same file as")

    def test_training_counting_and_merging(self, tokenizer: Tokenizer, corpus: Path, tmp_path: Path) -> None:
        one = corpus / "1.txt"
        trainer = trainers.WordLevelTrainer(show_progress=False)
        with pytest.warns(RepeatedInputWarning):
            tokenizer.train([str(one), str(one)], trainer)
        with pytest.warns(RepeatedInputWarning):
            count_words([one, Lines(corpus)], pre_tokenizer=Whitespace())
        with pytest.warns(RepeatedInputWarning):
            count_words([one, one], pre_tokenizer=Whitespace(), checkpoint=tmp_path / "parts")
        count_words([one], pre_tokenizer=Whitespace()).save(tmp_path / "counts")
        with pytest.warns(RepeatedInputWarning, match=r"counts$"):
            merge_counts([tmp_path / "counts"] * 2)
        tokenize_files(tokenizer, Lines(one), tmp_path / "tokens")
        with pytest.warns(RepeatedInputWarning, match=r"tokens$"):
            merge_token_files([tmp_path / "tokens"] * 2, tmp_path / "merged")

    def test_equal_files_and_streams_are_no_repetition(
        self, tokenizer: Tokenizer, corpus: Path, tmp_path: Path
    ) -> None:
        (corpus / "3.txt").write_bytes((corpus / "1.txt").read_bytes())
        tokenize_files(tokenizer, Lines(corpus), tmp_path / "out")
        count_words(["/dev/null", "/dev/null"], pre_tokenizer=Whitespace())


def template(tokenizer: Tokenizer, single: str) -> Tokenizer:
    tokens: list[tuple[str, int]] = [("<s>", 0), ("</s>", 1)]
    tokenizer.post_processor = processors.TemplateProcessing(single, special_tokens=tokens)
    return tokenizer


@pytest.mark.parametrize(
    ("single", "options", "message"),
    [
        ("$A </s>", {"end_token": "</s>"}, r"`</s>` \(id 1\) stands twice .* so does end_token; leave out end_token"),
        ("<s> $A", {"begin_token": "<s>"}, r"`<s>` \(id 0\) stands twice .* so does begin_token"),
        ("$A </s>", {"begin_token": "</s>"}, "so does begin_token"),
        ("<s> $A </s>", {"end_token": 1}, "so does end_token"),
        ("<s> $A", {"end_token": "</s>"}, None),
        ("<s> $A", {"end_token": "a"}, None),
        ("$A </s>", {"begin_token": "<s>"}, None),
        ("$A </s>", {"end_token": "</s>", "add_special_tokens": False}, None),
        ("$A", {"begin_token": "</s>", "end_token": "</s>"}, None),
    ],
)
def test_doubled_tokens(
    tokenizer: Tokenizer, corpus: Path, tmp_path: Path, single: str, options: Any, message: str | None
) -> None:
    tokenizer, sources = template(tokenizer, single), Lines(corpus)
    if message is None:
        written = tokenize_files(tokenizer, sources, tmp_path / "out", **options)
    else:
        with pytest.warns(DoubledTokenWarning, match=message):
            written = tokenize_files(tokenizer, sources, tmp_path / "out", **options)
    inner = [*written[0].tolist(), *written[1].tolist()]
    is_doubled = any(left == right < 2 for left, right in pairwise(inner))
    assert is_doubled == (message is not None or options.get("begin_token") == options.get("end_token"))


class TestEmptyCorpora:
    def test_a_corpus_without_records(self, tokenizer: Tokenizer, tmp_path: Path) -> None:
        path = tmp_path / "empty.txt"
        path.write_text("")
        for number, options in enumerate([{}, {"shuffle": True}, {"format": "parquet"}, {"join": True}]):
            with pytest.warns(EmptyCorpusWarning, match=r"from 1 input \(\S*empty\.txt\), with no records"):
                tokenize_files(tokenizer, Lines(path), tmp_path / str(number), **options)  # type: ignore[arg-type]

    def test_records_that_are_broken_or_empty(self, tokenizer: Tokenizer, tmp_path: Path) -> None:
        path = tmp_path / "in.jsonl"
        path.write_text('{}\n{"text": ""}\n[]\n')
        with pytest.warns(CorpusWarning) as told:
            tokenize_files(tokenizer, JsonLines(path, on_error="skip"), tmp_path / "out")
        assert [warning.category.__name__ for warning in told] == ["SkippedRecordsWarning", "EmptyCorpusWarning"]
        assert str(told[1].message).endswith("with 2 broken records and 1 document without tokens")

    def test_one_document_is_enough(self, tokenizer: Tokenizer, tmp_path: Path) -> None:
        (tmp_path / "in.txt").write_text("a")
        assert tokenize_files(tokenizer, Lines(tmp_path / "in.txt"), tmp_path / "out").tokens == 1


class TestRows:
    def test_a_corpus_shorter_than_a_row(self, tokenizer: Tokenizer, corpus: Path, tmp_path: Path) -> None:
        options: dict[str, Any] = {"format": "npy", "pack": 64}
        with pytest.warns(DroppedRowsWarning, match="all tokens of split train were left out: they fill no row"):
            assert len(tokenize_files(tokenizer, Lines(corpus), tmp_path / "1", **options)) == 0
        assert len(tokenize_files(tokenizer, Lines(corpus), tmp_path / "2", pad_token="a", **options)) == 1
        assert len(tokenize_files(tokenizer, Lines(corpus), tmp_path / "3", **{**options, "pack": 60})) == 1

    def test_a_split_and_parts_shorter_than_a_row(self, tokenizer: Tokenizer, corpus: Path, tmp_path: Path) -> None:
        options: dict[str, Any] = {"format": "parquet", "pack": 30}
        with pytest.warns(DroppedRowsWarning, match="split validation"):
            tokenize_files(tokenizer, Lines(corpus), tmp_path / "1", validation=0.2, **options)
        with pytest.warns(DroppedRowsWarning, match="split train"):
            tokenize_files(tokenizer, Lines(corpus), tmp_path / "2", part_bytes=8, **options)


class TestLimits:
    def test_counts_of_texts_that_are_cut_or_padded(self, tokenizer: Tokenizer, tmp_path: Path) -> None:
        path = tmp_path / "in.txt"
        path.write_text("a b c " * 1000)
        texts = ["a b c " * 1000, "a b"]
        tokenizer.enable_truncation(512)
        message = r"1 of 2 are cut to 512 tokens .*; whole, all texts have 3,002 tokens; call no_truncation\(\)"
        with pytest.warns(LengthLimitWarning, match=message):
            assert tokenizer.count_tokens(texts).tolist() == [512, 2]
        with pytest.warns(LengthLimitWarning, match=r"1 of 1 are cut to 512"):
            assert tokenizer.count_tokens_files([path]).tolist() == [512]
        tokenizer.no_truncation()
        tokenizer.enable_padding(length=8)
        with pytest.warns(LengthLimitWarning, match=r"1 of 2 are padded; .* 3,002 tokens; call no_padding\(\)"):
            assert tokenizer.count_tokens(texts).tolist() == [3000, 8]

    def test_texts_that_are_whole(self, tokenizer: Tokenizer) -> None:
        tokenizer.enable_truncation(3)
        assert tokenizer.count_tokens(["a b c", "a"]).tolist() == [3, 1]
        template(tokenizer, "<s> $A </s>")
        assert tokenizer.count_tokens(["a", ""]).tolist() == [3, 2]
        tokenizer.no_truncation()
        tokenizer.enable_padding()
        assert tokenizer.count_tokens(["a b c", "a b c"]).tolist() == [5, 5]
