"""Wrong arguments of training, of encoding and of decoding are refused, and nothing is left half done."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lexmill import Tokenizer, models, trainers
from lexmill.errors import EmptyCorpusError, IdRangeError, InputTypeError, OptionError, TextTooLongError
from small import byte_level, letters


def quiet(**options: Any) -> trainers.BpeTrainer:
    return trainers.BpeTrainer(show_progress=False, **options)


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


def test_any_number_of_threads_may_be_asked_for() -> None:
    tokenizer = letters("ab")
    assert tokenizer.count_tokens(["a"] * 3, num_threads=(1 << 63) - 1).tolist() == [1, 1, 1]


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
