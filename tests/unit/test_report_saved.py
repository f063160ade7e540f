"""Reports as pages and files, and what is refused."""

from __future__ import annotations

import gzip
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

import lexmill
from lexmill import Tokenizer, models, pre_tokenizers
from lexmill.errors import EmptyCorpusError, FileError, FormatError, LexmillError, OptionError, VocabError
from lexmill.reports import Numbers, Report
from lexmill.sources import Documents, JsonLines, Lines
from report_cases import (
    TEXTS,
    byte_level,
    unigram,
    write_corpus,
)
from small import letters


@pytest.fixture
def corpus(tmp_path: Path) -> list[Path]:
    return write_corpus(tmp_path)


def test_a_second_run_gives_equal_bytes(corpus: list[Path], tmp_path: Path) -> None:
    pytest.importorskip("plotly")
    pages = []
    for name, threads in (("a.html", 1), ("b.html", 4)):
        lexmill.report({"it": unigram(), "other": byte_level()}, corpus, num_threads=threads).save(tmp_path / name)
        pages.append(((tmp_path / name).read_bytes(), (tmp_path / name).with_suffix(".json").read_bytes()))
    assert pages[0] == pages[1]


def test_text_cannot_leave_its_place_in_the_page(tmp_path: Path) -> None:
    pytest.importorskip("plotly")
    path = tmp_path / "<b>.txt"
    path.write_text("</script><script>alert(1)</script><!-- <img src=x onerror=alert(1)> " * 3)
    tokenizer = letters("".join(sorted(set(path.read_text()) - {" "})))
    page = lexmill.report({"<i>&": tokenizer}, path).to_html()
    outside = page[page.index("</style>") :]
    for evil in ("<script>alert", "<img", "<b>", "<i>", "<!--"):
        assert evil not in outside.replace("<!doctype", "").split("</head>", 1)[1]
    for name in ("numbers", "figures"):
        found = re.search(f'<script type="application/json" id="{name}">(.*?)</script>', page)
        assert found is not None
        json.loads(found[1])


def test_figures_have_the_numbers(corpus: list[Path]) -> None:
    pytest.importorskip("plotly")
    report = lexmill.report(byte_level(), corpus)
    found = re.search('<script type="application/json" id="figures">(.*?)</script>', report.to_html())
    assert found is not None
    figures = json.loads(found[1])
    (bars,) = figures["scripts"]["data"]
    for name, ratio in zip(bars["y"], bars["x"], strict=True):
        (group,) = [group for group in report.numbers.scripts if group.name == name]
        assert ratio == group.bytes / group.tokens[0]
    (line,) = figures["curve"]["data"]
    assert line["y"][-1] == report.numbers.corpus.bytes / report.numbers.tokenizers[0].tokens
    (texts,) = figures["text-lengths"]["data"]
    assert sum(texts["y"]) == len(TEXTS)


def test_the_evaluation_of_the_same_corpus_is_in_the_report(corpus: list[Path], tmp_path: Path) -> None:
    pytest.importorskip("plotly")
    lines = tmp_path / "lines"
    lines.mkdir()
    (lines / "<eng>.txt").write_text("the cat\n")
    (lines / "deu.txt").write_text("die Katze\n")
    given = {"it": byte_level(), "<other>": unigram()}
    options: Any = {"parallel": lines, "base": "deu", "alpha": 3, "sample_every": 2}
    report = lexmill.report(given, corpus, words="whitespace", **options)
    evaluation = lexmill.evaluate(given, corpus, **options)
    assert report.numbers.evaluation == evaluation
    assert json.loads(report.to_json())["evaluation"] == json.loads(json.dumps(evaluation.to_dict(candidates=200)))
    page = report.to_html()
    premium = evaluation.parallel.tokenizers[0].premiums[0]  # type: ignore[union-attr]
    assert f"<td>&lt;eng&gt;</td><td>{premium:.4f}</td>" in page
    assert "tokens that merging makes and that never remain" in page
    assert "Parallel lines: 1</h2>" in page
    assert "Parallel lines" not in lexmill.report(given, corpus).to_html()


def test_an_empty_corpus_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text("")
    with pytest.raises(EmptyCorpusError, match="nothing to measure: 0 texts without a character in 1 files"):
        lexmill.report(byte_level(), tmp_path / "empty.txt")
    (tmp_path / "blank.jsonl").write_text('{"text": ""}\n')
    with pytest.raises(EmptyCorpusError, match="1 texts without a character"):
        lexmill.report(byte_level(), [tmp_path / "blank.jsonl"])


def test_broken_records_are_errors_or_left_out(tmp_path: Path) -> None:
    path = tmp_path / "broken.jsonl"
    path.write_text('{"text": "the cat", "lang": "en"}\n{"text": 1}\n')
    with pytest.raises(FormatError, match="line 2"):
        lexmill.report(byte_level(), path)
    source = JsonLines(path, on_error="skip")
    with pytest.warns(lexmill.errors.SkippedRecordsWarning, match="a record was left out"):
        assert lexmill.report(byte_level(), source).numbers.corpus.texts == 1
    with pytest.raises(OptionError, match="records that are skipped have no language"):
        lexmill.report(byte_level(), source, group_by="lang")
    path.write_text('{"text": "the cat"}\n')
    with pytest.raises(FormatError, match="no field `lang`"):
        lexmill.report(byte_level(), path, group_by="lang")
    with pytest.raises(FileError):
        lexmill.report(byte_level(), tmp_path / "absent.txt")


def test_what_has_no_fields_has_no_languages(corpus: list[Path]) -> None:
    for source in (Lines(corpus[0]), Documents(corpus[0])):
        with pytest.raises(OptionError, match="which has fields"):
            lexmill.report(byte_level(), source, group_by="lang")


def test_a_tokenizer_that_fails_writes_nothing(corpus: list[Path], tmp_path: Path) -> None:
    vocab = {"the": 0}
    tokenizer = Tokenizer(models.WordLevel(vocab, unk_token="absent"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    with pytest.raises(VocabError, match="absent"):
        lexmill.report(tokenizer, corpus)
    for wrong, message in (
        (Tokenizer(models.BPE({"a": 0}, [], dropout=0.5)), "dropout is 0.5"),
        (Tokenizer(models.Unigram([("a", 0.0)], alpha=0.5)), "alpha is 0.5"),
    ):
        with pytest.raises(OptionError, match=message):
            lexmill.report(wrong, corpus)
    with pytest.raises(OptionError, match="no tokenizer"):
        lexmill.report({}, corpus)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["first.txt", "second.jsonl"]


def test_numbers_need_no_plotly(corpus: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "plotly.graph_objects", None)
    report = lexmill.report(byte_level(), corpus)
    with pytest.raises(LexmillError, match=r"lexmill\[report\]"):
        report.save(tmp_path / "out.html")
    assert not list(tmp_path.glob("out*"))
    report.save(tmp_path / "out.json")
    assert (tmp_path / "out.json").read_text(encoding="utf-8") == report.to_json()
    assert [path.name for path in tmp_path.glob("out*")] == ["out.json"]


def test_a_page_appears_whole_or_not_at_all(corpus: list[Path], tmp_path: Path) -> None:
    report = lexmill.report(byte_level(), corpus)
    with pytest.raises(FileError, match="cannot write"):
        report.save(tmp_path / "absent" / "report.json")
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(FileError, match="cannot write"):
        report.save(tmp_path / "folder.json")
    assert not [path for path in tmp_path.iterdir() if path.name.endswith(".tmp")]


@pytest.mark.skipif(sys.platform == "win32", reason="files have no locks that tell litter, and links need rights")
def test_a_page_follows_links_and_removes_what_killed_writers_left(corpus: list[Path], tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    litter = tmp_path / "inner" / ".lexmill-1-0123456789abcdef.tmp"
    litter.write_bytes(b"left")
    (tmp_path / "report.json").symlink_to(tmp_path / "inner" / "numbers.json")
    report = lexmill.report(byte_level(), corpus)
    report.save(tmp_path / "report.json")
    assert (tmp_path / "report.json").is_symlink()
    assert (tmp_path / "inner" / "numbers.json").read_text(encoding="utf-8") == report.to_json()
    assert not litter.exists()


def test_progress_counts_bytes_and_may_stop(corpus: list[Path]) -> None:
    seen: list[tuple[Any, ...]] = []
    lexmill.report(byte_level(), corpus[0], on_progress=lambda *step: seen.append(step))
    size = corpus[0].stat().st_size
    assert [step[:4] for step in seen] == [("read", size, size, 0.0)]
    assert seen[0][4] is None or seen[0][4] > 1 << 20
    # A compressed file does not tell how much text there is.
    (corpus[0].parent / "first.txt.gz").write_bytes(gzip.compress(corpus[0].read_bytes()))
    lexmill.report(byte_level(), corpus[0].parent / "first.txt.gz", on_progress=lambda *step: seen.append(step))
    assert seen[1][1:4] == (size, 0, None)

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        lexmill.report(byte_level(), corpus, on_progress=stop)


def test_report_is_shown_by_its_sizes(corpus: list[Path]) -> None:
    report = lexmill.report({"it": byte_level()}, os.fspath(corpus[0]))
    assert isinstance(report, Report)
    assert isinstance(report.numbers, Numbers)
    assert repr(report) == f"Report(it: 3 texts, {corpus[0].stat().st_size:,} bytes)"


@pytest.fixture
def small(tmp_path: Path) -> Report:
    (tmp_path / "corpus.txt").write_text("a b\n")
    return lexmill.report(Tokenizer(models.WordLevel({"a": 0, "b": 1}, unk_token="a")), tmp_path / "corpus.txt")


def test_numbers_are_written_through_a_link(small: Report, tmp_path: Path) -> None:
    link = tmp_path / "link.json"
    link.symlink_to("numbers.json")
    for _ in range(2):
        small.save(link)
        assert link.is_symlink()
        assert json.loads((tmp_path / "numbers.json").read_text())["corpus"]["texts"] == 1
        (tmp_path / "numbers.json").write_text("{}")


def test_ids_too_large_to_count_by_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "corpus.txt").write_text("a b\n")
    sparse = Tokenizer(models.WordLevel({"a": 0, "b": 2**32 - 1}, unk_token="a"))
    with pytest.raises(OptionError, match="the largest id is 4294967295 but must be at most 16777216"):
        lexmill.report(sparse, tmp_path / "corpus.txt")


def test_a_folder_is_no_page(small: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileError, match=r"cannot write \.: it is a folder"):
        small.save(".")
