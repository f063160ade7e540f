"""Parallel lines: premiums, parity and inequality of languages, by hand and by the reference."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

import lexmill
from lexmill import Tokenizer, models, pre_tokenizers
from lexmill.errors import EmptyCorpusError, FileError, FormatError, OptionError
from lexmill.reference import evaluation as reference
from report_cases import ALL
from small import letters

LINES = {
    "deu_Latn": ["der Hut", "", "die Größe"],
    "eng_Latn": ["the hat", "", "the size"],
    "rus_Cyrl": ["шляпа", "", "размер"],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "devtest"
    made.mkdir()
    for language, lines in LINES.items():
        (made / f"{language}.devtest").write_text("\n".join(lines) + "\n", encoding="utf-8", newline="")
    return made


def test_a_case_by_hand(tmp_path: Path) -> None:
    for name, text in (("a.txt", "ab ab\nc\n"), ("b.txt", "a b c\nabc abc"), ("c.txt", "\nc")):
        (tmp_path / name).write_text(text)
    parallel = lexmill.evaluate(letters("abc", ("a", "b")), parallel=tmp_path).parallel
    assert parallel is not None
    assert (parallel.lines, [(one.name, one.bytes, one.characters) for one in parallel.languages]) == (
        2,
        [("a", 6, 6), ("b", 12, 12), ("c", 1, 1)],
    )
    (one,) = parallel.tokenizers
    # a: ab ab | c, b: a b c | ab c ab c, c: nothing | c.
    assert (one.tokens, one.base, one.premiums) == ((3, 7, 1), "c", (3, 7, 1))
    assert one.parity == pytest.approx(1 / 7)
    # Differences 4, 2 and 6, each twice, by 2 * 3 * 11.
    assert one.gini == pytest.approx(24 / 66)
    (other,) = lexmill.evaluate(letters("abc", ("a", "b")), parallel=tmp_path, base="a").parallel.tokenizers  # type: ignore[union-attr]
    assert (other.base, other.premiums) == ("a", (1, 7 / 3, 1 / 3))


@pytest.mark.parametrize("make", ALL, ids=lambda make: make.__name__)
def test_languages_match_reference(make: Any, folder: Path) -> None:
    parallel = lexmill.evaluate(make(), parallel=folder, base="eng_Latn").parallel
    assert parallel is not None
    tokenizer = make()
    tokenizer.post_processor = None
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokens = {name: sum(len(tokenizer.encode(line).ids) for line in lines) for name, lines in LINES.items()}
    (found,) = parallel.tokenizers
    assert (parallel.lines, [one.name for one in parallel.languages]) == (3, sorted(LINES))
    assert dict(zip(sorted(LINES), found.tokens, strict=True)) == tokens
    assert dict(zip(sorted(LINES), found.premiums, strict=True)) == pytest.approx(
        reference.premiums(tokens, "eng_Latn")
    )
    assert found.gini == pytest.approx(reference.gini(list(tokens.values())))


def test_line_ends_and_compression_do_not_matter(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    for language, lines in LINES.items():
        text = "\r\n".join(lines).encode()
        name = f"{language}.txt.gz" if language == "rus_Cyrl" else f"{language}.txt"
        (other / name).write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    given = {"one": ALL[0](), "two": ALL[2]()}
    assert lexmill.evaluate(given, parallel=folder).parallel == lexmill.evaluate(given, parallel=other).parallel
    files = sorted(other.iterdir(), reverse=True)
    parallel = lexmill.evaluate(given, parallel=files).parallel
    assert parallel is not None
    assert [one.name for one in parallel.languages] == sorted(LINES, reverse=True)


def test_unknown_text_is_told(tmp_path: Path) -> None:
    tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0, "the": 1, "hat": 2}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    (tmp_path / "eng.txt").write_text("the hat\n")
    (tmp_path / "rus.txt").write_text("шляпа\n", encoding="utf-8")
    (found,) = lexmill.evaluate(tokenizer, parallel=tmp_path).parallel.tokenizers  # type: ignore[union-attr]
    assert (found.tokens, found.unknown, found.premiums) == ((2, 1), (0, 1), (2, 1))


def test_a_language_without_tokens_has_no_quotients(tmp_path: Path) -> None:
    (tmp_path / "eng.txt").write_text("a\n")
    (tmp_path / "xxx.txt").write_text("\n")
    (found,) = lexmill.evaluate(letters("a"), parallel=tmp_path).parallel.tokenizers  # type: ignore[union-attr]
    assert (found.tokens, found.base, found.premiums, found.parity, found.gini) == ((1, 0), "xxx", (None, None), 0, 0.5)


def test_files_that_are_not_parallel_are_refused(folder: Path, tmp_path: Path) -> None:
    tokenizer = letters("abc")

    def refused(kind: type[Exception], message: str, parallel: Any, base: str | None = None) -> None:
        with pytest.raises(kind, match=message):
            lexmill.evaluate(tokenizer, parallel=parallel, base=base)

    (tmp_path / "empty").mkdir()
    refused(FileError, "empty", tmp_path / "empty")
    refused(FileError, "absent", tmp_path / "absent")
    refused(OptionError, "parallel has no file", [])
    refused(
        OptionError, "base is 'eng' but must be a language of parallel: deu_Latn, eng_Latn, rus_Cyrl", folder, "eng"
    )
    (folder / "eng_Latn.txt").write_text("a\n")
    refused(OptionError, r"two files of the language eng_Latn: .*eng_Latn\.devtest and .*eng_Latn\.txt", folder)
    (folder / "eng_Latn.txt").unlink()
    with (folder / "rus_Cyrl.devtest").open("a") as stream:
        stream.write("a")
    refused(FormatError, r"rus_Cyrl\.devtest has 4 lines but must have 3 as .*deu_Latn\.devtest", folder)
    for file in folder.iterdir():
        file.write_text("\n\n")
    refused(EmptyCorpusError, "parallel has nothing to measure: 2 lines without a character in 3 files", folder)
