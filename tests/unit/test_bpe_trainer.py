from __future__ import annotations

import pickle
from typing import Any

import pytest

from cases import load, load_cases, pairs
from engines import Engine
from lexmill import Tokenizer, decoders, models, pre_tokenizers
from lexmill.errors import OptionError
from lexmill.trainers import BpeTrainer


@pytest.mark.parametrize("case", load_cases("bpe_ties.json") + load_cases("bpe_options.json"))
def test_golden(engine: Engine, case: dict[str, Any]) -> None:
    if "error" in case:
        with pytest.raises(OptionError) as raised:
            engine.train_bpe(pairs(case["words"]), **case["options"])
        assert str(raised.value) == case["error"]
    else:
        assert engine.train_bpe(pairs(case["words"]), **case["options"]) == (case["vocab"], pairs(case["merges"]))


def test_textbook_corpus(engine: Engine) -> None:
    golden = load("textbook.json")["bpe"]
    vocab, merges = engine.train_bpe(
        list(golden["word_counts"].items()),
        vocab_size=golden["vocab_size"],
        special_tokens=golden["special_tokens"],
        tie_break="first-seen",
    )
    assert vocab == golden["vocab"]
    assert merges == pairs(golden["merges"])


def test_library_corpus(engine: Engine) -> None:
    golden = load("textbook.json")["library_bpe"]
    words = {word: golden["corpus"].split().count(word) for word in golden["corpus"].split()}
    vocab, merges = engine.train_bpe(list(words.items()), special_tokens=["[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"])
    assert vocab == sorted(golden["vocab"], key=golden["vocab"].__getitem__)
    assert [left + right for left, right in merges] == vocab[-len(merges) :]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tie_break": "random"}, "tie_break is random but must be smallest-ids or first-seen"),
        ({"vocab_size": -1}, "vocab_size is -1 but must be at least 0"),
        ({"min_frequency": -1}, "min_frequency is -1 but must be at least 0"),
        ({"limit_alphabet": -1}, "limit_alphabet is -1 but must be at least 0"),
        ({"max_token_length": -1}, "max_token_length is -1 but must be at least 0"),
    ],
    ids=str,
)
def test_option_out_of_range_is_refused(engine: Engine, options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError) as raised:
        engine.train_bpe([("ab", 1)], **options)
    assert str(raised.value).removesuffix(": can't convert negative int to unsigned") == message


@pytest.mark.parametrize("tie_break", ["smallest-ids", "first-seen"])
@pytest.mark.parametrize("threads", [1, 2, 7])
def test_run_of_one_character_halves_at_every_step(engine: Engine, tie_break: str, threads: int) -> None:
    # Up to 4096 the doubled token occurs several times in a row; after that all pairs occur once.
    vocab, merges = engine.train_bpe([("a" * 10_000, 1)], vocab_size=13, tie_break=tie_break, num_threads=threads)
    assert [len(token) for token in vocab] == [2**power for power in range(13)]
    assert merges == [(token, token) for token in vocab[:-1]]


def test_words_of_one_character_leave_no_merge(engine: Engine) -> None:
    assert engine.train_bpe([("b", 5), ("a", 7)]) == (["a", "b"], [])


def test_combining_marks_and_joiners_are_characters_of_their_own(engine: Engine) -> None:
    vocab, merges = engine.train_bpe([("e\u0301", 1), ("é", 1), ("👩\u200d👧", 1)], vocab_size=7)
    assert vocab == ["e", "é", "\u0301", "\u200d", "👧", "👩", "e\u0301"]
    assert merges == [("e", "\u0301")]


@pytest.mark.parametrize(
    ("count", "kept"),
    [
        # Both characters save 3 * 2 + 1 * 2 tokens, the merge with its two characters 7, 8 or 9.
        (7, ["日", "語"]),
        (8, ["a", "b", "ab"]),
        (9, ["a", "b", "ab"]),
    ],
)
def test_characters_and_merges_compete_for_places(engine: Engine, count: int, kept: list[str]) -> None:
    words = [("ab", count), ("日", 3), ("語", 1)]
    vocab, merges = engine.train_bpe(words, vocab_size=259, auto_character_coverage=True)
    assert vocab == [*(f"<0x{byte:02X}>" for byte in range(256)), *kept]
    assert merges == ([("a", "b")] if "ab" in kept else [])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"limit_alphabet": 0}, "limit_alphabet is 0 but must be absent with auto_character_coverage"),
        ({"initial_alphabet": ["xy"]}, "initial_alphabet is x but must be absent with auto_character_coverage"),
        ({"continuing_subword_prefix": "##"}, "continuing_subword_prefix is ## but must be absent"),
        ({"end_of_word_suffix": "$"}, r"end_of_word_suffix is \$ but must be absent"),
        ({"vocab_size": 255}, "vocab_size is 255 but special tokens and initial alphabet need 256"),
    ],
)
def test_shared_places_refuse_options(engine: Engine, options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        engine.train_bpe([("ab", 1)], auto_character_coverage=True, **{"vocab_size": 300, **options})


def test_shared_places_give_byte_fallback() -> None:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace()])
    trainer = BpeTrainer(vocab_size=270, show_progress=False)
    assert not trainer.auto_character_coverage
    trainer.auto_character_coverage = True
    trainer = pickle.loads(pickle.dumps(trainer))
    assert "auto_character_coverage=True" in repr(trainer)
    tokenizer.train_from_iterator(["low lower lowest"] * 3, trainer)
    assert tokenizer.model.byte_fallback
    text = "lower <0x41> 東京 \N{GRINNING FACE}"
    assert tokenizer.decode(tokenizer.encode(text).ids) == text
