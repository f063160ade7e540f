"""`lexmill.report`: measures tokenizers on a corpus and makes a page of the numbers."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from lexmill._core import local_path
from lexmill._data.source_names import OneSource
from lexmill._data.whole_file import whole_file
from lexmill._types import OnProgress
from lexmill.errors import FileError
from lexmill.reports.given import OneTokenizer
from lexmill.reports.measure import measure
from lexmill.reports.numbers import Numbers

if TYPE_CHECKING:
    from lexmill.evaluation.words import Rule

__all__ = ["Report", "report"]

_Path: TypeAlias = "str | os.PathLike[str]"


class Report:
    """A report on tokenizers and a corpus.

    Attributes:
        numbers: all numbers of the report.
    """

    numbers: Numbers

    def __init__(self, numbers: Numbers) -> None:
        """Takes the numbers."""
        self.numbers = numbers

    def __repr__(self) -> str:
        """Names the tokenizers and the size of the corpus."""
        names = ", ".join(tokenizer.name for tokenizer in self.numbers.tokenizers)
        return f"Report({names}: {self.numbers.corpus.texts:,} texts, {self.numbers.corpus.bytes:,} bytes)"

    def to_json(self) -> str:
        """The numbers as JSON; the same corpus and tokenizers give the same text."""
        return self.numbers.to_json()

    def to_html(self) -> str:
        """One page that needs no other file and no network; the same corpus and tokenizers give the same text.

        Raises:
            LexmillError: plotly, which the extra `lexmill[report]` brings, is not installed.
        """
        from lexmill.reports.page import page_of

        return page_of(self.numbers)

    def save(self, path: _Path) -> None:
        """Writes the page, and beside it the numbers under the same name with `.json`; each whole or not at all.

        Args:
            path: the file of the page. If it ends in `.json`, only the numbers are written, which needs no plotly.

        Raises:
            LexmillError: plotly, which the extra `lexmill[report]` brings, is not installed.
            FileError: a file cannot be written.
        """
        page = Path(local_path(path))
        if page.is_dir():
            message = f"cannot write {page}: it is a folder"
            raise FileError(errno.EISDIR, message, str(page))
        if page.suffix.lower() == ".json":
            _write(page, self.to_json())
            return
        html = self.to_html()
        _write(page.with_suffix(".json"), self.to_json())
        _write(page, html)


def report(
    tokenizers: OneTokenizer | Mapping[str, OneTokenizer],
    corpus: OneSource | Iterable[OneSource],
    *,
    group_by: str | None = None,
    parallel: OneSource | Iterable[OneSource] | None = None,
    base: str | None = None,
    alpha: float = 2.5,
    words: Rule = "whitespace",
    sample_every: int = 16,
    num_threads: int | None = None,
    on_progress: OnProgress | None = None,
) -> Report:
    """Measures tokenizers on a corpus, in one pass over its texts and in memory that does not grow with it.

    Tokens are the tokens of `tokenizer.encode(text, add_special_tokens=False)`, without truncation and padding. A word
    is the text between white space.

    Args:
        tokenizers: a tokenizer or the path of a `tokenizer.json`, or several of them by name.
        corpus: objects of `lexmill.sources`, or paths and patterns. The end of a name says how texts are found in a
            file, as for `tokenize_files`; the texts of other files are their lines.
        group_by: the field (`meta.lang`) or column that has the language of each text. All files must have it.
        parallel: a folder with one file a language, or these files, as for `lexmill.evaluate`.
        base: the language that the premiums of others compare with.
        alpha: the order of Rényi's entropy.
        words: the rule that divides words for the shares of cut words, as for `lexmill.evaluate`. Ratios of tokens per
            word always have words between white space.
        sample_every: the distance between the texts that are sampled, as for `lexmill.evaluate`.
        num_threads: threads to encode on; by default one for each core, or the number in `RAYON_NUM_THREADS`.
        on_progress: called with the stage, the bytes of text that are read, their total (0 where it is unknown), the
            seconds left and the bytes of memory taken, see `lexmill.OnProgress`; an exception that it raises ends the
            work.

    Raises:
        EmptyCorpusError: the corpus has no character.
        FileError: a file is missing, cannot be read or is damaged.
        FormatError: a record is broken, with `on_error="raise"`, or lacks the field; the file of a tokenizer is
            malformed; or parallel files have different numbers of lines.
        InvalidUtf8Error: bytes are not UTF-8, with `errors="strict"`.
        LexmillError: `words` is `unicode` and the package `regex` is not installed.
        OptionError: a tokenizer samples or has stages written in Python, a source has no languages, or an argument is
            outside its range.
        VocabError: a model has no token for a word and no unknown token.
    """
    return Report(
        measure(
            tokenizers,
            corpus,
            group_by=group_by,
            parallel=parallel,
            base=base,
            alpha=alpha,
            words=words,
            sample_every=sample_every,
            num_threads=num_threads,
            on_progress=on_progress,
        )
    )


def _write(path: Path, text: str) -> None:
    try:
        with whole_file(os.fspath(path)) as stream:
            stream.write(text.encode())
    except OSError as error:
        message = f"cannot write {path}: {error.strerror}"
        raise FileError(error.errno, message, str(path)) from error
