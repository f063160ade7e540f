"""Conversations in token files by worker processes: errors keep their text, and straddling tokens are counted."""

from __future__ import annotations

import multiprocessing
from pathlib import Path
from typing import Any, NoReturn

import pytest

pytest.importorskip("jinja2")

from lexmill import Tokenizer, models, pre_tokenizers
from lexmill.errors import LexmillError, OptionError
from lexmill.messages import iter_message_tokens, tokenize_message_files, tokenize_messages
from message_runs import rows_in, rows_of, write_chats

CHATS = [
    [{"role": "user", "content": "ab"}, {"role": "assistant", "content": content}]
    for content in ("\ncd", "cd", "\n\n", "\n", "x\ny") * 3
]


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    """Bytes, and one token for two line ends: the end of a header with the first character of an answer."""
    vocab = {token: at for at, token in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    made = Tokenizer(models.BPE({**vocab, "\u010a\u010a": 256}, [("\u010a", "\u010a")]))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    return made


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write_chats(tmp_path / "chats.jsonl", CHATS)


class OddError(Exception):
    """An exception that can be pickled, but not made again."""

    def __init__(self, subject: str, verb: str) -> None:
        super().__init__(f"{subject} {verb}")


class OpenError(Exception):
    """An exception that cannot be pickled."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.code = lambda: text


def fail_oddly(_number: int, _message: Any) -> NoReturn:
    subject = "the mask"
    raise OddError(subject, "fails")


def fail_openly(_number: int, _message: Any) -> NoReturn:
    text = "the mask fails"
    raise OpenError(text)


def fail_plainly(_number: int, _message: Any) -> NoReturn:
    text = "the mask fails"
    raise KeyError(text)


@pytest.mark.parametrize("mask", [fail_oddly, fail_openly, fail_plainly])
def test_an_error_of_a_mask_keeps_its_text(tmp_path: Path, tokenizer: Tokenizer, source: Path, mask: Any) -> None:
    expected: tuple[type[Exception], str] = (KeyError, "the mask fails")
    if mask is not fail_plainly:
        expected = LexmillError, "O(dd|pen)Error in a worker process: the mask fails"
    with pytest.raises(expected[0], match=expected[1]):
        tokenize_message_files(tokenizer, source, tmp_path / "o", "chatml", mask=mask, num_workers=2)


def test_a_daemonic_process_has_no_workers(
    tmp_path: Path, tokenizer: Tokenizer, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(multiprocessing.current_process()._config, "daemon", True)  # type: ignore[attr-defined]
    with pytest.raises(OptionError, match="num_workers is 2 but must be 1 in a daemonic process"):
        tokenize_message_files(tokenizer, source, tmp_path / "o", "chatml", num_workers=2)
    assert not (tmp_path / "o").exists()
    assert len(tokenize_message_files(tokenizer, source, tmp_path / "o", "chatml")) == len(CHATS)


def test_a_negative_number_of_threads_is_refused(tmp_path: Path, tokenizer: Tokenizer, source: Path) -> None:
    message = "num_threads is -1 but must be at least 1"
    with pytest.raises(OptionError, match=message):
        tokenize_message_files(tokenizer, source, tmp_path / "o", "chatml", num_threads=-1)
    with pytest.raises(OptionError, match=message):
        iter_message_tokens(tokenizer, CHATS, "chatml", num_threads=-1)


@pytest.mark.parametrize("options", [{}, {"shuffle": True, "part_bytes": 100}, {"format": "arrow", "loss": "ranges"}])
def test_straddling_tokens_are_counted(tmp_path: Path, tokenizer: Tokenizer, source: Path, options: Any) -> None:
    expected = tokenize_messages(tokenizer, CHATS, "chatml")
    assert expected.straddling.tolist() == [1, 0, 1, 1, 0] * 3
    files = tokenize_message_files(tokenizer, source, tmp_path / "o", "chatml", **options)
    assert files.manifest["total"]["straddling"] == 9
    assert sum(part.get("straddling", 0) for part in files.manifest["parts"]) == 9
    # Files have 1 for these tokens, too.
    assert sorted(rows_in(files)) == sorted(rows_of(expected))


def test_a_manifest_without_straddling_tokens_has_no_number(tmp_path: Path, tokenizer: Tokenizer) -> None:
    path = write_chats(tmp_path / "chats.jsonl", CHATS[1:2])
    assert "straddling" not in tokenize_message_files(tokenizer, path, tmp_path / "o", "chatml").manifest["total"]
