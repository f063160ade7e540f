"""Wrong paths, files and models are refused by name, and nothing is left half done."""

from __future__ import annotations

import json
import os
import re
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import lexmill
from lexmill import Tokenizer, models, trainers
from lexmill.errors import FileError, FormatError, InputTypeError, InvalidUtf8Error, OptionError, VocabError
from small import byte_level, letters


def quiet(**options: Any) -> trainers.BpeTrainer:
    return trainers.BpeTrainer(show_progress=False, **options)


def changed(change: Callable[[dict[str, Any]], Any]) -> str:
    """The file of a tokenizer, with one thing in it changed."""
    tokenizer = letters("ab", ("a", "b"))
    tokenizer.add_tokens(["<x>"])
    tokenizer.enable_truncation(5)
    tokenizer.enable_padding()
    parts = json.loads(tokenizer.to_str())
    change(parts)
    return json.dumps(parts)


class TestFiles:
    @pytest.mark.parametrize("read", [Tokenizer.from_file, lambda path: letters().train([path], quiet())])
    def test_a_missing_file_is_named(self, read: Callable[[str], Any], tmp_path: Path) -> None:
        path = tmp_path / "absent"
        with pytest.raises(FileError, match=re.escape(str(path))) as raised:
            read(str(path))
        assert isinstance(raised.value, OSError)
        assert (raised.value.errno, raised.value.strerror) == (2, os.strerror(2))
        assert raised.value.filename == str(path)
        assert re.match(f"cannot (open|read) {re.escape(str(path))}: ", str(raised.value))

    @pytest.mark.parametrize("read", [Tokenizer.from_file, lambda path: letters().train([path], quiet())])
    def test_a_directory_is_no_file(self, read: Callable[[str], Any], tmp_path: Path) -> None:
        with pytest.raises(FileError, match="directory") as raised:
            read(str(tmp_path))
        assert raised.value.errno == 21

    @pytest.mark.parametrize("path", [3, b"bytes", ["a"]])
    @pytest.mark.parametrize(
        "read",
        [
            Tokenizer.from_file,
            Tokenizer.from_spm,
            letters().save,
            models.WordPiece,
            models.WordLevel.from_file,
            lambda path: models.BPE(path, "merges.txt"),
            lambda path: letters().train([path], quiet()),
            lambda path: letters().count_tokens_files([path]),
        ],
    )
    def test_a_path_must_be_one(self, read: Callable[[str], Any], path: Any) -> None:
        with pytest.raises(InputTypeError, match=r"path"):
            read(path)

    def test_the_place_of_bytes_that_are_not_utf8_is_named(self, tmp_path: Path) -> None:
        path = tmp_path / "corpus.txt"
        path.write_bytes(b"ab\nab\xffab\n")
        message = re.escape(f"{path} is not valid UTF-8 at byte 5")
        tokenizer = letters("ab")
        with pytest.raises(InvalidUtf8Error, match=message):
            tokenizer.train([path], quiet())
        with pytest.raises(InvalidUtf8Error, match=message):
            tokenizer.encode_files_arrays([path])
        assert tokenizer.get_vocab() == {"a": 0, "b": 1}

    def test_such_bytes_can_be_replaced(self, tmp_path: Path) -> None:
        path = tmp_path / "corpus.txt"
        path.write_bytes(b"ab\xffab")
        tokenizer = letters("ab\ufffd")
        assert tokenizer.encode_files_arrays([path], errors="replace").ids.tolist() == [0, 1, 2, 0, 1]
        tokenizer.train([path], quiet(), errors="replace")
        assert "\ufffd" in tokenizer.get_vocab()

    def test_errors_must_be_a_known_word(self, tmp_path: Path) -> None:
        (tmp_path / "a").write_text("ab")
        with pytest.raises(ValueError, match="errors is ignore but must be strict or replace"):
            letters().train([tmp_path / "a"], quiet(), errors="ignore")

    def test_a_failed_save_leaves_the_old_file_and_nothing_else(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        resource = pytest.importorskip("resource")
        path = tmp_path / "tokenizer.json"
        letters().save(path)
        before = path.read_bytes()
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
            with pytest.raises(FileError, match="cannot write"):
                byte_level().save(path)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
            signal.signal(signal.SIGXFSZ, ignored)
        assert path.read_bytes() == before
        assert list(tmp_path.iterdir()) == [path]

    def test_saving_into_nowhere_is_an_error(self, tmp_path: Path) -> None:
        with pytest.raises(FileError):
            letters().save(tmp_path / "absent" / "tokenizer.json")


class TestFormat:
    @pytest.mark.parametrize("text", ["", "not json", "{"])
    def test_no_json_at_all(self, text: str) -> None:
        with pytest.raises(FormatError, match=r"line 1 column"):
            Tokenizer.from_str(text)

    @pytest.mark.parametrize("text", ["[]", "null", "1", ' "a"'])
    def test_no_object(self, text: str) -> None:
        with pytest.raises(FormatError, match=r"^tokenizer: expected an object$"):
            Tokenizer.from_str(text)

    @pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.999])
    def test_truncated(self, share: float) -> None:
        text = byte_level(("a", "b")).to_str()
        with pytest.raises(FormatError):
            Tokenizer.from_str(text[: int(len(text) * share)])

    @pytest.mark.parametrize(
        ("change", "place"),
        [
            (lambda parts: parts.pop("model"), "`model` is missing"),
            (lambda parts: parts.update(version="3.0"), "version: unknown version"),
            (lambda parts: parts["model"].pop("vocab"), "vocab"),
            (lambda parts: parts["model"]["vocab"].update(a="0"), "model.vocab.a: "),
            (lambda parts: parts["model"]["vocab"].update(a=-1), "model.vocab.a: "),
            (lambda parts: parts["model"]["merges"].append("a b c"), r"model.merges\[1\]: "),
            (lambda parts: parts["model"]["merges"].append(["a"]), r"model.merges\[1\]: "),
            (
                lambda parts: parts["model"]["merges"].append(["a", "b", "c"]),
                r"model.merges\[1\]: .*expected a merge as",
            ),
            (lambda parts: parts["model"]["merges"].append(5), r"model.merges\[1\]: .*expected a merge as"),
            (lambda parts: parts["model"]["merges"].append(["a", 5]), r"model.merges\[1\]"),
            (lambda parts: parts["model"].update(dropout="x"), "model.dropout: "),
            (lambda parts: parts["added_tokens"][0].pop("lstrip"), r"added_tokens\[0\]: `lstrip` is missing"),
            (lambda parts: parts["added_tokens"][0].update(id=-1), r"added_tokens\[0\].id: "),
            (lambda parts: parts["truncation"].update(max_length="5"), "truncation.max_length: "),
            (lambda parts: parts["truncation"].update(strategy="Middle"), "truncation.strategy: unknown .* `Middle`"),
            (lambda parts: parts["padding"].update(direction="Up"), "padding.direction: unknown .* `Up`"),
            (
                lambda parts: parts.update(pre_tokenizer={"type": "Split", "pattern": {"Glob": "*"}}),
                "pre_tokenizer.pattern: ",
            ),
            (
                lambda parts: parts.update(pre_tokenizer={"type": "Sequence", "pretokenizers": [{"type": "Digit"}]}),
                r"pre_tokenizer.pretokenizers\[0\]: unknown pre-tokenizer `Digit`, this version knows ByteLevel",
            ),
        ],
    )
    def test_the_place_of_a_mistake_is_named(self, change: Callable[[dict[str, Any]], Any], place: str) -> None:
        with pytest.raises(FormatError, match=place):
            Tokenizer.from_str(changed(change))

    @pytest.mark.parametrize(
        ("key", "kind"),
        [("normalizer", "normalizer"), ("pre_tokenizer", "pre-tokenizer"), ("post_processor", "post-processor"),
         ("decoder", "decoder"), ("model", "model")],
    )  # fmt: skip
    def test_unknown_types_are_named_and_never_ignored(self, key: str, kind: str) -> None:
        with pytest.raises(FormatError, match=f"unknown {kind} `Nonesuch`"):
            Tokenizer.from_str(changed(lambda parts: parts.update({key: {"type": "Nonesuch"}})))

    def test_merges_of_unknown_tokens_are_named(self) -> None:
        with pytest.raises(VocabError, match="token `z` of merge 1 is not in the vocabulary of 3 tokens"):
            Tokenizer.from_str(changed(lambda parts: parts["model"]["merges"].append(["a", "z"])))

    def test_a_buffer_must_be_utf8(self) -> None:
        with pytest.raises(InvalidUtf8Error, match="byte 1"):
            Tokenizer.from_buffer(b"{\xff}")


class TestModel:
    def test_vocab_needs_merges(self) -> None:
        with pytest.raises(ValueError, match="both"):
            models.BPE(vocab={"a": 0})

    def test_merges_must_make_known_tokens(self) -> None:
        with pytest.raises(VocabError, match="token `ab` of merge 0"):
            models.BPE(vocab={"a": 0, "b": 1}, merges=[("a", "b")])

    @pytest.mark.parametrize("dropout", [-0.1, 1.1, float("nan")])
    def test_dropout_is_a_probability(self, dropout: float) -> None:
        with pytest.raises(OptionError, match="dropout"):
            models.BPE(vocab={"a": 0}, merges=[], dropout=dropout)


def test_every_error_that_files_raise_is_ours() -> None:
    assert issubclass(FormatError, lexmill.LexmillError)


def test_a_device_is_written_and_not_replaced(tmp_path: Path) -> None:
    # A link, so that a mistake replaces nothing but the link.
    path = tmp_path / "null"
    path.symlink_to("/dev/null")
    letters("ab").save(str(path))
    assert path.is_char_device()
