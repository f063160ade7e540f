from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from cases import load
from engines import Engine
from lexmill import Tokenizer, models, normalizers, pre_tokenizers, trainers
from lexmill.errors import FormatError, OptionError

HUGS = [("hug", 10), ("pug", 5), ("pun", 12), ("bun", 4), ("hugs", 5)]
LIKELIHOODS = ["likelihood", "likelihood-float64"]


@pytest.mark.parametrize("score", LIKELIHOODS)
@pytest.mark.parametrize("threads", [1, 2, 7])
def test_textbook_corpus(engine: Engine, score: str, threads: int) -> None:
    golden = load("textbook.json")["wordpiece"]
    vocab, merges = engine.train_wordpiece(
        list(golden["word_counts"].items()),
        vocab_size=golden["vocab_size"],
        special_tokens=golden["special_tokens"],
        score=score,
        num_threads=threads,
    )
    assert vocab == golden["vocab"]
    assert merges == [(left, right) for left, right, _ in golden["merges"]]


def test_textbook_corpus_through_the_stages() -> None:
    golden = load("textbook.json")
    wordpiece = golden["wordpiece"]
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(
        vocab_size=wordpiece["vocab_size"],
        special_tokens=wordpiece["special_tokens"],
        score="likelihood",
        show_progress=False,
    )
    tokenizer.train_from_iterator(golden["corpus"], trainer)
    vocab = tokenizer.get_vocab()
    assert sorted(vocab, key=vocab.__getitem__) == wordpiece["vocab"]
    for text, expected in wordpiece["encode"].items():
        assert tokenizer.encode(text).tokens == expected


def test_library_corpus(engine: Engine) -> None:
    golden = load("textbook.json")["library_wordpiece_frequency"]
    corpus = golden["corpus"].split()
    words = [(word, corpus.count(word)) for word in dict.fromkeys(corpus)]
    vocab, _ = engine.train_wordpiece(words, special_tokens=["[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"])
    assert sorted(vocab) == sorted(golden["tokens"])
    for text, expected in golden["encode"].items():
        assert [token for word in text.split() for _, token, _ in engine.encode_wordpiece(vocab, word)] == expected


def test_the_pair_that_is_seldom_found_apart_goes_first(engine: Engine) -> None:
    # By hand: (##g, ##s) has 5 / (20 * 5), and no other pair more than 1 / 21.
    vocab, merges = engine.train_wordpiece(HUGS, vocab_size=8, score="likelihood")
    assert vocab == ["##g", "##n", "##s", "##u", "b", "h", "p", "##gs"]
    assert merges == [("##g", "##s")]


def test_the_most_frequent_pair_goes_first_and_symbols_count_from_the_first_seen(engine: Engine) -> None:
    vocab, merges = engine.train_wordpiece(HUGS, vocab_size=12)
    assert vocab == ["b", "g", "h", "n", "p", "s", "u", "##u", "##g", "##n", "##s", "##ug"]
    assert merges == [("##u", "##g")]


def test_equal_scores_go_by_the_rule_named(engine: Engine) -> None:
    words = [("cd", 1), ("ab", 1)]
    orders = {
        rule: engine.train_wordpiece(words, score="likelihood", tie_break=rule)[1] for rule in (None, "first-seen")
    }
    assert list(orders.values()) == [[("c", "##d"), ("a", "##b")]] * 2
    by_ids = engine.train_wordpiece(words, score="likelihood", tie_break="smallest-ids")[1]
    assert by_ids == [("a", "##b"), ("c", "##d")]
    assert engine.train_wordpiece(words, tie_break="first-seen")[1] == [("c", "##d"), ("a", "##b")]


def test_fractions_that_round_to_the_same_number_are_told_apart_only_exactly(engine: Engine) -> None:
    large = 1 << 59
    words = [("ab", large), ("cd", large), ("a", large), ("c", large - 1)]
    exact, rounded = (engine.train_wordpiece(words, vocab_size=5, score=score)[1] for score in LIKELIHOODS)
    assert (exact, rounded) == ([("c", "##d")], [("a", "##b")])


@pytest.mark.parametrize("option", ["min_frequency", "min_pair_frequency"])
@pytest.mark.parametrize("score", ["frequency", "likelihood"])
def test_rare_pairs_are_never_merged(engine: Engine, option: str, score: str) -> None:
    words = [("xy", 2), ("ab", 3), ("ac", 3)]
    _, merges = engine.train_wordpiece(words, score=score, **{option: 3})
    assert merges == [("a", "##b"), ("a", "##c")]


def test_alphabet_options_hold_for_likelihoods(engine: Engine) -> None:
    words = [("abc", 5), ("bb", 1), ("zb", 1)]
    vocab, merges = engine.train_wordpiece(
        words, score="likelihood", limit_alphabet=3, initial_alphabet=["q", "ab"], special_tokens=["z"], vocab_size=7
    )
    # The limit keeps the two that are asked for and `b`; `z` is a special token and stays.
    assert vocab == ["z", "##b", "a", "b", "q", "ab", "bb"]
    assert merges == [("a", "##b"), ("b", "##b")]


def test_a_suffix_marks_the_last_symbol(engine: Engine) -> None:
    vocab, _ = engine.train_wordpiece(
        [("aa", 1), ("a", 1)], score="likelihood", end_of_word_suffix="</w>", vocab_size=4
    )
    assert vocab == ["##a</w>", "a", "a</w>", "aa</w>"]


@pytest.mark.parametrize("score", LIKELIHOODS)
@pytest.mark.parametrize("threads", [1, 3])
def test_runs_count_overlaps_and_merge_from_the_left(engine: Engine, score: str, threads: int) -> None:
    vocab, merges = engine.train_wordpiece([("a" * 9, 3), ("b", 2)], score=score, vocab_size=6, num_threads=threads)
    # By hand: 3 of `a` and 24 of `##a` make 3 / 72 at the beginning and 21 / 576 inside; then the same with `aa`.
    assert vocab == ["##a", "a", "b", "aa", "aaa", "aaaa"]
    assert merges == [("a", "##a"), ("aa", "##a"), ("aaa", "##a")]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"score": "x"}, "score is x but must be frequency or likelihood or likelihood-float64"),
        ({"tie_break": "x"}, "tie_break is x but must be smallest-ids or first-seen"),
        ({"vocab_size": -1}, "vocab_size is -1 but must be at least 0"),
        ({"min_frequency": -1}, "min_frequency is -1 but must be at least 0"),
        ({"min_pair_frequency": -1}, "min_pair_frequency is -1 but must be at least 0"),
        ({"limit_alphabet": -1}, "limit_alphabet is -1 but must be at least 0"),
        ({"vocab_size": 6}, "vocab_size is 6 but special tokens and initial alphabet need 11"),
        (
            {"vocab_size": 6, "score": "likelihood"},
            "vocab_size is 6 but special tokens and initial alphabet need 7",
        ),
    ],
    ids=str,
)
def test_option_out_of_range_is_refused(engine: Engine, options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError) as raised:
        engine.train_wordpiece(HUGS, **options)
    assert str(raised.value).removesuffix(": can't convert negative int to unsigned") == message


def test_the_model_keeps_what_the_trainer_has_no_word_on() -> None:
    tokenizer = Tokenizer(models.WordPiece(unk_token="?", max_input_chars_per_word=7, continuing_subword_prefix="$"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.train_from_iterator(["low lower"], trainers.WordPieceTrainer(continuing_subword_prefix="@@"))
    model = tokenizer.model
    assert (model.unk_token, model.max_input_chars_per_word, model.continuing_subword_prefix) == ("?", 7, "@@")
    assert tokenizer.encode("lower").tokens == ["lower"]
    assert isinstance(model.get_trainer(), trainers.WordPieceTrainer)


def test_another_trainer_is_refused() -> None:
    tokenizer = Tokenizer(models.WordPiece())
    with pytest.raises(OptionError, match="BpeTrainer can only train a BPE, the tokenizer's model is WordPiece"):
        tokenizer.train_from_iterator(["a"], trainers.BpeTrainer())
    with pytest.raises(FormatError, match="the state is that of BpeTrainer, not of WordPieceTrainer"):
        trainers.WordPieceTrainer().__setstate__(trainers.BpeTrainer().__getstate__())


def test_bert_is_trained_through_its_normalizer() -> None:
    tokenizer = Tokenizer(models.WordPiece())
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(special_tokens=["[UNK]"], vocab_size=100, show_progress=False)
    tokenizer.train_from_iterator(["Café CAFÉ cafe", "中文中"], trainer)
    assert tokenizer.encode("CAFE\u0301 中").tokens == ["cafe", "中"]


@pytest.mark.parametrize("score", ["frequency", *LIKELIHOODS])
def test_the_result_does_not_depend_on_threads(score: str) -> None:
    texts = [f"{left}{right} {right}ing {left}" for left, right in pairwise(["an", "other", "walk", "talk", "an"] * 50)]
    saved = set()
    for threads in (1, 2, 5):
        tokenizer = Tokenizer(models.WordPiece())
        tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
        trainer = trainers.WordPieceTrainer(vocab_size=60, score=score, show_progress=False)
        tokenizer.train_from_iterator(texts, trainer, num_threads=threads)
        saved.add(tokenizer.to_str())
    assert len(saved) == 1
