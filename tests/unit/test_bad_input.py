"""What is refused, how it is called, and that nothing is left half done."""

from __future__ import annotations

import json
import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import lexmill
from lexmill import Tokenizer, models, trainers
from lexmill.errors import (
    EmptyCorpusError,
    FileError,
    FormatError,
    IdRangeError,
    InputTypeError,
    InvalidUtf8Error,
    OptionError,
    TextTooLongError,
    VocabError,
)
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


class TestTraining:
    @pytest.mark.parametrize("texts", [[], [""], ["  ", "\n"]])
    def test_a_corpus_without_words_is_refused(self, texts: list[str]) -> None:
        tokenizer = letters("ab")
        with pytest.raises(EmptyCorpusError, match=f"{len(texts)} texts"):
            tokenizer.train_from_iterator(texts, quiet())
        assert tokenizer.get_vocab_size() == 2

    def test_vocab_size_below_the_alphabet_is_refused(self) -> None:
        with pytest.raises(OptionError, match="vocab_size is 3 but special tokens and initial alphabet need 4"):
            letters().train_from_iterator(["abc"], quiet(vocab_size=3, special_tokens=["<s>"]))

    @pytest.mark.parametrize("options", [{"vocab_size": -1}, {"min_frequency": -1}, {"limit_alphabet": -1}])
    def test_negative_options_are_named(self, options: dict[str, int]) -> None:
        with pytest.raises(OptionError, match=f"{next(iter(options))} is -1 but must be at least 0"):
            quiet(**options)

    def test_trainer_must_be_one(self) -> None:
        with pytest.raises(TypeError):
            letters().train_from_iterator(["a"], 5)

    @pytest.mark.parametrize("items", [None, 5, [5], [None], [["ab", 5]], [b"ab"], [[["ab"]]]])
    def test_items_must_be_texts_or_lists_of_texts(self, items: Any) -> None:
        tokenizer = letters("ab")
        with pytest.raises(TypeError):
            tokenizer.train_from_iterator(items, quiet())
        assert tokenizer.get_vocab_size() == 2

    def test_an_empty_special_token_takes_an_id_and_is_never_found(self) -> None:
        # Hugging Face does the same, and its file is what ours must be.
        tokenizer = Tokenizer(models.BPE())
        tokenizer.train_from_iterator(["ab ab"], quiet(special_tokens=["", "<s>"], vocab_size=6))
        assert tokenizer.get_vocab() == {"": 0, "<s>": 1, " ": 2, "a": 3, "b": 4, "ab": 5}
        assert list(tokenizer.get_added_tokens_decoder()) == [1]
        assert tokenizer.encode("ab<s>").ids == [5, 1]

    def test_what_the_iterator_raises_comes_through(self) -> None:
        def texts() -> Iterator[str]:
            yield "ab"
            raise ZeroDivisionError

        tokenizer = letters("ab")
        with pytest.raises(ZeroDivisionError):
            tokenizer.train_from_iterator(texts(), quiet())
        assert tokenizer.get_vocab_size() == 2

    @pytest.mark.parametrize("stage", ["count words", "count pairs", "merge pairs"])
    def test_what_the_callback_raises_comes_through(self, stage: str) -> None:
        seen = []

        def report(at: str, done: int, total: int, *_rest: object) -> None:
            seen.append(at)
            if at == stage:
                raise ZeroDivisionError

        tokenizer = letters("ab")
        with pytest.raises(ZeroDivisionError):
            tokenizer.train_from_iterator(["abc abd"], quiet(), on_progress=report)
        assert seen[-1] == stage
        assert tokenizer.get_vocab_size() == 2

    @pytest.mark.filterwarnings("ignore::lexmill.errors.RepeatedInputWarning")
    @pytest.mark.parametrize("stage", ["count words", "merge pairs"])
    @pytest.mark.parametrize("how", ["iterator", "files"])
    def test_an_interrupt_takes_effect_within_half_a_second(self, how: str, stage: str, tmp_path: Path) -> None:
        # Words without repetition keep the trainer busy; the clock starts once it has begun the stage.
        words = [f"{number * 2654435761 % 2**32:032b}" for number in range(150_000)]
        path = tmp_path / "corpus.txt"
        path.write_text("\n".join(words), encoding="utf-8")
        tokenizer, trainer = letters(), quiet(vocab_size=100_000)
        due: list[float] = []

        def report(at: str, done: int, total: int, *_rest: object) -> None:
            if at == stage and not due:
                due.append(time.monotonic() + 0.02)
                signal.setitimer(signal.ITIMER_REAL, 0.02)

        train, corpus = {
            "files": (tokenizer.train, [path] * 8),
            "iterator": (tokenizer.train_from_iterator, words * 8),
        }[how]
        before = signal.signal(signal.SIGALRM, signal.default_int_handler)
        try:
            with pytest.raises(KeyboardInterrupt):
                train(corpus, trainer, on_progress=report)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
        assert time.monotonic() - due[0] < 0.5
        assert tokenizer.get_vocab_size() == 10


class TestTexts:
    @pytest.mark.parametrize("text", [None, 5, b"ab", ["ab"], ("a", "b"), "\ud800"])
    def test_a_text_must_be_str_without_lone_surrogates(self, text: Any) -> None:
        tokenizer = letters()
        with pytest.raises(InputTypeError):
            tokenizer.encode(text)
        with pytest.raises(InputTypeError):
            tokenizer.encode("a", text) if text is not None else tokenizer.encode(text)

    @pytest.mark.parametrize("words", ["ab", [5], [None], {"a": 1}, iter(["a"]), ["\ud800"]])
    def test_words_must_be_a_list_a_tuple_or_an_array_of_str(self, words: Any) -> None:
        with pytest.raises(InputTypeError):
            letters().encode(words, is_pretokenized=True)

    @pytest.mark.parametrize("batch", ["ab", None, 5, {"a": 1}, {"a"}, iter(["a"])])
    def test_a_batch_must_be_a_sequence(self, batch: Any) -> None:
        with pytest.raises(TypeError):
            letters().encode_batch(batch)

    @pytest.mark.parametrize("item", [None, 5, b"ab", ("a",), ("a", "b", "c"), [], "\ud800", ("a", 5)])
    def test_items_must_be_texts_or_pairs(self, item: Any) -> None:
        with pytest.raises(InputTypeError):
            letters().encode_batch(["a", item])


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers here")
@pytest.mark.parametrize("call", ["encode_batch", "encode_batch_arrays", "encode_batch_ids", "count_tokens"])
@pytest.mark.parametrize("threads", [1, 2])
def test_an_interrupt_stops_a_batch_within_half_a_second(call: str, threads: int) -> None:
    # One string many times: seconds of work, and no memory.
    texts = ["ab cd efg " * 20_000] * 3_000
    encode = getattr(byte_level(), call)
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    started = time.monotonic()
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        with pytest.raises(KeyboardInterrupt):
            encode(texts, num_threads=threads)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert time.monotonic() - started < 0.55


@pytest.mark.slow
def test_a_text_above_the_limit_is_refused_before_any_is_encoded(tmp_path: Path) -> None:
    # Texts that would take minutes come first.
    texts = ["ab " * 700_000_000, "a" * 2**31]
    path = tmp_path / "long.txt"
    with path.open("wb") as file:
        file.truncate(2**31)
    message = "a single text has 2147483648 bytes but at most 2147483647 can be addressed"
    tokenizer = byte_level()
    started = time.monotonic()
    for call in (tokenizer.encode_batch_arrays, tokenizer.encode_batch_ids, tokenizer.count_tokens):
        with pytest.raises(TextTooLongError, match=message):
            call(texts)
    assert time.monotonic() - started < 2
    with pytest.raises(TextTooLongError, match=message):
        tokenizer.encode_files_arrays([path])


class TestIds:
    @pytest.mark.parametrize("number", [-1, 2**32, 2**70])
    def test_ids_outside_32_bits_are_named(self, number: int) -> None:
        with pytest.raises(IdRangeError, match=f"id is {number} but must be from 0 to 4294967295"):
            letters().decode([0, number])

    @pytest.mark.parametrize("ids", [None, 5, "abc", [1.0], [None], ["a"], {1}, [[0]]])
    def test_ids_must_be_integers_in_a_sequence(self, ids: Any) -> None:
        with pytest.raises(TypeError):
            letters().decode(ids)

    def test_negative_lookups_overflow(self) -> None:
        with pytest.raises(OverflowError):
            letters().id_to_token(-1)


def test_every_error_that_files_raise_is_ours() -> None:
    assert issubclass(FormatError, lexmill.LexmillError)


def test_any_number_of_threads_may_be_asked_for() -> None:
    tokenizer = letters("ab")
    assert tokenizer.count_tokens(["a"] * 3, num_threads=(1 << 63) - 1).tolist() == [1, 1, 1]


def test_a_device_is_written_and_not_replaced(tmp_path: Path) -> None:
    # A link, so that a mistake replaces nothing but the link.
    path = tmp_path / "null"
    path.symlink_to("/dev/null")
    letters("ab").save(str(path))
    assert path.is_char_device()


@pytest.mark.parametrize("length", [(1 << 28) + 1, 1 << 62, (1 << 64) - 1])
def test_padding_beyond_what_can_be_held_is_refused(length: int) -> None:
    tokenizer = letters("ab")
    limit = "but must be at most 268435456"
    for options in ({"length": length}, {"pad_to_multiple_of": length}):
        tokenizer.enable_padding(**options)
        for encode in (tokenizer.encode, lambda text: tokenizer.encode_batch_ids([text])):
            with pytest.raises(OptionError, match=rf"^length to pad to is \d+ tokens {limit}$"):
                encode("a")
    tokenizer.no_padding()
    encoding = tokenizer.encode("a")
    with pytest.raises(OptionError, match=limit):
        encoding.pad(length)
    assert len(encoding) == 1
