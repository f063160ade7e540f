from __future__ import annotations

import math
import pickle
from typing import Any

import pytest

from cases import load, load_cases, pairs
from engines import CoreEngine, Engine, ReferenceEngine, Words
from lexmill import Tokenizer, decoders, models, pre_tokenizers
from lexmill.errors import EmptyCorpusError, OptionError
from lexmill.reference import unigram_exact_loss as exact_loss
from lexmill.trainers import BpeTrainer, UnigramTrainer

TEXTBOOK = load("textbook.json")["unigram"]
WORDS = list(TEXTBOOK["word_counts"].items())
SMALL = [("▁low", 5), ("▁lower", 2), ("▁newest", 6), ("▁widest", 3), ("▁new", 9)]


def test_textbook_seeds_and_losses() -> None:
    pieces = exact_loss.count_pieces(WORDS, TEXTBOOK["seed_size"])
    assert list(pieces.items()) == pairs(TEXTBOOK["initial_pieces"])
    by_count = sorted((item for item in pieces.items() if len(item[0]) > 1), key=lambda item: -item[1])
    assert by_count[:10] == pairs(TEXTBOOK["top_substrings"])
    costs = exact_loss.costs_of(pieces)
    total = exact_loss.loss(WORDS, costs)
    assert total == TEXTBOOK["initial_loss"]
    for word, (found, cost) in TEXTBOOK["initial_encode"].items():
        assert exact_loss.segment(word, costs) == (found, cost)
    for piece, increase in TEXTBOOK["initial_loss_increase"].items():
        assert exact_loss.loss(WORDS, costs, without=piece) - total == increase
    removed = exact_loss.rounds(WORDS, pieces, TEXTBOOK["vocab_size"])
    assert list(removed) == TEXTBOOK["removed_by_round"]


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_textbook_pieces(engine: Engine, threads: int) -> None:
    options = {name: TEXTBOOK[name] for name in ("vocab_size", "seed_size")}
    found = engine.train_unigram(WORDS, algorithm="exact-loss", num_threads=threads, **options)
    assert found == pairs(TEXTBOOK["final_pieces"])


def test_each_round_removes_what_the_textbook_removes() -> None:
    left = TEXTBOOK["seed_size"]
    kept = [piece for piece, _ in TEXTBOOK["initial_pieces"]]
    for removed in TEXTBOOK["removed_by_round"]:
        left -= len(removed)
        kept = [piece for piece in kept if piece not in removed]
        trained = CoreEngine().train_unigram(
            WORDS, algorithm="exact-loss", vocab_size=left, seed_size=TEXTBOOK["seed_size"]
        )
        assert [piece for piece, _ in trained] == kept


def test_textbook_sentence(engine: Engine) -> None:
    for text, expected in TEXTBOOK["final_encode"].items():
        words = ["▁" + word for word in text.split()]
        found = [
            token
            for word in words
            for _, token, _ in engine.encode_unigram(pairs(TEXTBOOK["final_pieces"]), word, unk_id=0)
        ]
        assert found == expected


def test_pieces_come_by_score_and_hold_all_characters(engine: Engine) -> None:
    found = engine.train_unigram(SMALL, vocab_size=16)
    scores = [score for _, score in found]
    assert scores == sorted(scores, reverse=True)
    assert len(found) == 16
    assert {piece for piece, _ in found} >= set("".join(word for word, _ in SMALL))
    assert math.fsum(map(math.exp, scores)) == pytest.approx(1, abs=0.2)


def test_vocab_size_below_the_characters_is_refused(engine: Engine) -> None:
    for algorithm in ("em", "exact-loss"):
        with pytest.raises(OptionError) as raised:
            engine.train_unigram(SMALL, vocab_size=5, algorithm=algorithm)
        assert str(raised.value) == "vocab_size is 5 but special tokens and initial alphabet need 11"


# More characters than a block has; likelihoods that need a power of two; counts that leave less than 2^40 parts of one.
ENDS = ["er", "ing", "ed", "s"]
BLOCKS = [(f"▁{number * number % 7919:x}{ENDS[number % 4]}", number % 9 + 1) for number in range(4000)]
LONG = [("abcd" * 300 + "x", 2), ("abcd" * 299, 1), ("abx", 5), ("abcdabcd", 7)]
FREQUENT = [("abab", 1 << 61), ("ab", 1 << 60), ("b", 3), ("ba", 1 << 40)]


@pytest.mark.parametrize(
    ("words", "vocab_size"), [(BLOCKS, 60), (LONG, 12), (FREQUENT, 4)], ids=["blocks", "long", "frequent"]
)
def test_core_learns_as_the_reference_at_the_edges(words: Words, vocab_size: int) -> None:
    words = list(dict(words).items())
    expected = ReferenceEngine().train_unigram(words, vocab_size=vocab_size, seed_size=300)
    for threads in (1, 3):
        found = CoreEngine().train_unigram(words, vocab_size=vocab_size, seed_size=300, num_threads=threads)
        assert found == expected


def test_unknown_and_zero_in_the_corpus_are_ordinary_text(engine: Engine) -> None:
    words = [("<unk>a", 5), ("<UNK>", 4), ("\0b", 3), ("\0", 2), ("a\0\0b", 2)]
    found = engine.train_unigram(words, vocab_size=40)
    assert all(math.isfinite(score) for _, score in found)
    assert {"<unk>a", "<UNK>", "\0", "\0b"} <= {piece for piece, _ in found}


def test_characters_beyond_the_coverage_have_no_piece(engine: Engine) -> None:
    found = engine.train_unigram([("aaab", 10), ("zaab", 1)], vocab_size=20, character_coverage=0.97)
    assert {piece for piece, _ in found} >= {"a", "b"}
    assert not any("z" in piece for piece, _ in found)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"shrinking_factor": 1.0}, "shrinking_factor is 1 but must be between 0 and 1"),
        ({"character_coverage": 1.5}, "character_coverage is 1.5 but must be from 0 to 1"),
        ({"max_piece_length": 0}, "max_piece_length is 0 but must be from 1 to 1024"),
        ({"vocab_size": -1}, "vocab_size is -1 but must be at least 0"),
        (
            {"use_sparse_pruning": True, "algorithm": "exact-loss"},
            "use_sparse_pruning is true but must be false for algorithm exact-loss",
        ),
        (
            {"auto_character_coverage": True},
            "auto_character_coverage is true but must be false without use_sparse_pruning",
        ),
        (
            {"use_sparse_pruning": True, "auto_character_coverage": True, "character_coverage": 0.9},
            "character_coverage is 0.9 but must be 1 with auto_character_coverage, which chooses the characters",
        ),
        (
            {"use_sparse_pruning": True, "auto_character_coverage": True, "initial_alphabet": ["a"]},
            "initial_alphabet is a but must be empty with auto_character_coverage, which chooses the characters",
        ),
        ({"algorithm": "viterbi"}, "algorithm is viterbi but must be em or exact-loss"),
    ],
    ids=str,
)
def test_option_out_of_range_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError) as raised:
        CoreEngine().train_unigram(SMALL, **options)
    assert str(raised.value).removesuffix(": can't convert negative int to unsigned") == message


def test_tokenizer_is_trained_with_special_and_unknown_tokens() -> None:
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = UnigramTrainer(vocab_size=40, special_tokens=["<s>"], unk_token="<unk>", show_progress=False)
    tokenizer.train_from_iterator(["the new lower low", "the newest widest new"] * 3, trainer)
    assert tokenizer.get_vocab()["<unk>"] == 0
    assert tokenizer.token_to_id("<s>") == 1
    assert tokenizer.encode("<s>the new!").tokens == ["<s>", "▁the", "▁new", "!"]
    assert tokenizer.get_vocab_size() <= 40
    twin = Tokenizer.from_str(tokenizer.to_str())
    assert twin.encode("newer low").ids == tokenizer.encode("newer low").ids


def test_no_words_are_refused() -> None:
    with pytest.raises(EmptyCorpusError):
        Tokenizer(models.Unigram()).train_from_iterator([], UnigramTrainer(show_progress=False))


def test_a_trainer_for_another_model_is_refused() -> None:
    message = "UnigramTrainer can only train a Unigram, the tokenizer's model is BPE"
    with pytest.raises(OptionError, match=message):
        Tokenizer(models.BPE()).train_from_iterator(["a"], UnigramTrainer(show_progress=False))
    assert isinstance(models.Unigram().get_trainer(), UnigramTrainer)
    assert not isinstance(models.Unigram().get_trainer(), BpeTrainer)


@pytest.mark.parametrize("case", load_cases("unigram_sparse.json"))
@pytest.mark.parametrize("threads", [1, 3])
def test_sparse_pruning_keeps_the_golden_pieces(engine: Engine, case: dict[str, Any], threads: int) -> None:
    found = engine.train_unigram(pairs(case["words"]), num_threads=threads, **case["options"])
    assert sorted(piece for piece, _ in found) == case["pieces"]


def test_sparse_pruning_with_shared_places_drops_rare_characters() -> None:
    case = load("unigram_sparse.json")["cases"][-1]
    words = pairs(case["words"])
    found = [engine.train_unigram(words, **case["options"]) for engine in (CoreEngine(), ReferenceEngine())]
    assert found[0] == found[1]
    lacking = {char for word, _ in words for char in word} - {piece for piece, _ in found[0]}
    assert lacking


def test_shared_places_need_byte_fallback_and_give_it() -> None:
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace()])
    trainer = UnigramTrainer(
        vocab_size=290, use_sparse_pruning=True, auto_character_coverage=True, unk_token="<unk>", show_progress=False
    )
    tokenizer.train_from_iterator(["low lower lowest new newer newest wide wider widest é"] * 3, trainer)
    assert tokenizer.model.byte_fallback
    assert [tokenizer.token_to_id(f"<0x{byte:02X}>") for byte in range(256)] == list(range(1, 257))
    text = "lower 東京 é \N{GRINNING FACE}"
    assert tokenizer.decode(tokenizer.encode(text).ids) == text


def test_sparse_options_are_kept_in_pickles_and_shown() -> None:
    trainer = UnigramTrainer(use_sparse_pruning=True, auto_character_coverage=True)
    shown = repr(pickle.loads(pickle.dumps(trainer)))
    assert "use_sparse_pruning=True, auto_character_coverage=True" in shown
    assert "sparse" not in repr(UnigramTrainer())
