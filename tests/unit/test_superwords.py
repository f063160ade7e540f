from __future__ import annotations

import json
import pickle
import random
from functools import partial
from itertools import groupby, permutations
from pathlib import Path
from typing import Any

import pytest

import lexmill
from cases import load_cases, pairs
from growth import assert_in_proportion
from lexmill import Regex, Tokenizer
from lexmill.errors import LexmillError, OptionError, OptionRangeError, RegexError
from lexmill.models import BPE
from lexmill.pre_tokenizers import ByteLevel, PreTokenizer, Sequence, Split, WhitespaceSplit
from lexmill.reference.bpe_extended import extend_bpe
from lexmill.trainers import BpeTrainer, SuperwordOptions

TEXTS = ["the cat and the cat", "the cat and a cat"]


def trained(superwords: SuperwordOptions | None, vocab_size: int, **options: Any) -> Tokenizer:
    tokenizer = Tokenizer(BPE())
    tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False)
    trainer = BpeTrainer(vocab_size=vocab_size, superwords=superwords, show_progress=False, **options)
    tokenizer.train_from_iterator(TEXTS, trainer)
    return tokenizer


@pytest.mark.parametrize("case", load_cases("bpe_extended.json"))
def test_golden(case: dict[str, Any]) -> None:
    words, merges = pairs(case["words"]), pairs(case["merges"])
    assert extend_bpe(words, case["vocab"], merges, **case["options"]) == (case["tokens"], pairs(case["learnt"]))
    core = lexmill._core.extend_bpe_words(words, list(case["vocab"].items()), merges, **case["options"])
    assert (dict(core[0]), pairs(core[1])) == (case["tokens"], pairs(case["learnt"]))


def test_a_base_whose_tokens_share_an_id_is_refused() -> None:
    with pytest.raises(LexmillError, match="two tokens share an id"):
        lexmill._core.extend_bpe_words([("ab", 1)], [("a", 0), ("b", 0)], [])


def test_ids_far_beyond_their_number_are_refused() -> None:
    with pytest.raises(LexmillError, match="has ids below"):
        lexmill._core.extend_bpe_words([("ab", 1)], [("a", 1 << 31)], [])


def test_the_first_phase_is_ordinary_training() -> None:
    first = json.loads(trained(None, 17).to_str())["model"]
    both = json.loads(trained(SuperwordOptions(17), 19).to_str())["model"]
    assert both["merges"][: len(first["merges"])] == first["merges"]
    assert first["vocab"].items() <= both["vocab"].items()
    assert len(both["vocab"]) == 19


def test_superwords_are_encoded_after_saving() -> None:
    tokenizer = trained(SuperwordOptions(17), 19)
    again = Tokenizer.from_str(tokenizer.to_str())
    tokens = again.encode(TEXTS[0]).tokens
    assert tokens == tokenizer.encode(TEXTS[0]).tokens
    assert any(token.count("Ġ") + (token[0] != "Ġ") > 1 for token in tokens)


@pytest.mark.parametrize("pattern", [r"\w+|[^\w]+", "[^\n]+"])
def test_a_huge_line_takes_time_in_proportion(pattern: str) -> None:
    superwords = SuperwordOptions(270, algorithm="superbpe", pattern=pattern)
    tokenizer = trained(superwords, 276, initial_alphabet=ByteLevel.alphabet())
    order = random.Random(1)
    line = " ".join(order.choices(["the", "cat", "and", "a"], k=600_000))

    def encode(size: int) -> None:
        tokenizer.encode_batch_arrays([line[:size]], num_threads=1)

    assert_in_proportion(encode, 1_000_000)


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_superbpe_tokens_have_no_more_words_than_the_limit(limit: int) -> None:
    vocab = trained(SuperwordOptions(12, algorithm="superbpe", max_words=limit), 60).get_vocab()
    assert max(len(token.replace("Ġ", " ").split()) for token in vocab) == limit


def test_options_are_shown_compared_and_pickled() -> None:
    options = SuperwordOptions(100, algorithm="superbpe", joins="a|b", pattern="[^\n]+")
    assert repr(options) == ("SuperwordOptions(100, algorithm='superbpe', max_words=4, joins='a|b', pattern='[^\\n]+')")
    assert (options.algorithm, options.max_words, options.initial_vocab_size) == ("superbpe", 4, 100)
    assert SuperwordOptions(100).max_words is None
    assert pickle.loads(pickle.dumps(options)) == options != SuperwordOptions(100)
    trainer = BpeTrainer(vocab_size=200, superwords=options)
    assert pickle.loads(pickle.dumps(trainer)).superwords == options
    trainer.superwords = None
    assert trainer.superwords is None
    assert pickle.loads(pickle.dumps(trainer)).superwords is None


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"initial_vocab_size": -1}, OptionRangeError, "initial_vocab_size is -1"),
        ({"initial_vocab_size": 9, "max_words": -1}, OptionRangeError, "max_words is -1"),
        ({"initial_vocab_size": 9, "algorithm": "other"}, OptionError, "must be boundless or superbpe"),
        ({"initial_vocab_size": 9, "joins": "("}, RegexError, "[(]"),
        ({"initial_vocab_size": 9, "pattern": "("}, RegexError, "[(]"),
    ],
    ids=str,
)
def test_options_out_of_range_are_refused(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        SuperwordOptions(**options)


def test_more_initial_tokens_than_tokens_are_refused() -> None:
    with pytest.raises(OptionError, match="initial_vocab_size is 20 but must be at most vocab_size, 19"):
        trained(SuperwordOptions(20), 19)


@pytest.mark.parametrize(
    "pre_tokenizer",
    [
        None,
        ByteLevel(),
        ByteLevel(add_prefix_space=False, use_regex=False),
        WhitespaceSplit(),
        Split(" ", "isolated"),
        Split(Regex(" "), "removed"),
        Sequence([ByteLevel(add_prefix_space=False), Split(Regex("a"), "isolated")]),
        Sequence([Split(Regex("a"), "isolated"), Split(Regex("b"), "isolated")]),
    ],
    ids=str,
)
def test_other_pre_tokenizers_are_refused(pre_tokenizer: PreTokenizer | None) -> None:
    tokenizer = Tokenizer(BPE())
    if pre_tokenizer is not None:
        tokenizer.pre_tokenizer = pre_tokenizer
    before = tokenizer.to_str()
    with pytest.raises(LexmillError, match="superwords need a pre-tokenizer"):
        tokenizer.train_from_iterator(TEXTS, BpeTrainer(superwords=SuperwordOptions(9), show_progress=False))
    assert tokenizer.to_str() == before


@pytest.mark.parametrize("algorithm", ["boundless", "superbpe"])
@pytest.mark.parametrize("tie_break", ["smallest-ids", "first-seen"])
def test_bounded_memory_learns_the_same(algorithm: str, tie_break: str, tmp_path: Path) -> None:
    path = tmp_path / "corpus.txt"
    words = [f"{chr(97 + place % 26)}{chr(97 + place * place % 11)}" for place in range(3000)]
    lines = [" ".join(words[place : place + 7]) + "\n" for place in range(0, 3000, 7)]
    path.write_text("".join(lines), encoding="utf-8")
    options = SuperwordOptions(150, algorithm=algorithm)
    saved: list[str] = []
    for max_memory, from_file in [(None, True), (None, False), ("64MB", True), ("64MB", False)]:
        tokenizer = Tokenizer(BPE())
        tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False)
        trainer = BpeTrainer(vocab_size=250, superwords=options, tie_break=tie_break, show_progress=False)
        if from_file:
            tokenizer.train([path], trainer, max_memory=max_memory, folder=tmp_path, num_threads=2)
        else:
            tokenizer.train_from_iterator(lines, trainer, max_memory=max_memory, folder=tmp_path, num_threads=2)
        saved.append(tokenizer.to_str())
    assert saved == saved[:1] * 4
    assert len(json.loads(saved[0])["model"]["vocab"]) == 250


def test_counts_of_the_wrong_kind_are_refused(tmp_path: Path) -> None:
    tokenizer = Tokenizer(BPE())
    tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False)
    options = SuperwordOptions(20)
    trainer = BpeTrainer(vocab_size=99, superwords=options, show_progress=False)
    count = partial(lexmill.count_words, pre_tokenizer=tokenizer.pre_tokenizer)
    words, both = count(iterator=TEXTS), count(iterator=TEXTS, superwords=options)
    other = count(iterator=TEXTS, superwords=SuperwordOptions(0, algorithm="superbpe"))
    assert (words.phrases, both.phrases > 0) == (0, True)
    assert list(words) == list(both)
    with pytest.raises(LexmillError, match="the word counts have no phrases"):
        tokenizer.train_from_counts(words, trainer)
    with pytest.raises(LexmillError, match="the pre-tokenizer of phrases of the word counts is"):
        tokenizer.train_from_counts(other, trainer)
    for one, two in permutations([words, both, other], 2):
        with pytest.raises(LexmillError, match="cannot be merged: the pre-tokenizer of phrases differs"):
            lexmill.merge_counts([one, two])
    # Without superwords, phrases do not matter.
    saved = []
    for counts in (words, both):
        tokenizer = Tokenizer(BPE())
        tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False)
        tokenizer.train_from_counts(counts, BpeTrainer(vocab_size=99, show_progress=False))
        saved.append(tokenizer.to_str())
    assert saved[0] == saved[1]


def test_trimming_leaves_out_words_and_no_phrases(tmp_path: Path) -> None:
    options = SuperwordOptions(20)
    counts = lexmill.count_words(
        iterator=["of the sea of the sun"], pre_tokenizer=ByteLevel(add_prefix_space=False), superwords=options
    )
    trimmed = counts.trim(2)
    assert (len(counts), counts.phrases) == (5, 1)
    assert (len(trimmed), trimmed.phrases, trimmed.dropped_words) == (1, 1, 4)


def test_mixtures_learn_superwords_of_all_domains(tmp_path: Path) -> None:
    paths = {name: tmp_path / name for name in ("one", "two")}
    paths["one"].write_text("of the sea of the sun\n" * 3)
    paths["two"].write_text("a cat and a cat\n" * 2)
    saved = []
    for is_mixed in (True, False):
        tokenizer = Tokenizer(BPE())
        tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False)
        trainer = BpeTrainer(vocab_size=40, superwords=SuperwordOptions(25), show_progress=False)
        if is_mixed:
            tokens = tokenizer.train(paths, trainer, weights={"two": 3})
            assert tokens is not None
            assert tokens["two"].tokens == sum(len(tokenizer.encode("a cat and a cat\n").ids) for _ in range(2))
        else:
            tokenizer.train_from_iterator([*["of the sea of the sun\n"] * 3, *["a cat and a cat\n"] * 6], trainer)
        saved.append(tokenizer.to_str())
    assert saved[0] == saved[1]


def test_options_that_do_not_go_together_are_refused() -> None:
    tokenizer = Tokenizer(BPE())
    tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False)
    trainer = BpeTrainer(vocab_size=99, superwords=SuperwordOptions(20), continuing_subword_prefix="##")
    with pytest.raises(LexmillError, match="superwords cannot be trained with continuing_subword_prefix"):
        tokenizer.train_from_iterator(TEXTS, trainer)


@pytest.mark.parametrize(("algorithm", "memory"), [("boundless", "27100KB"), ("superbpe", "30MB")])
@pytest.mark.parametrize("limit_alphabet", [None, 20])
def test_phrases_beyond_the_memory_are_cut_between_rare_pairs(
    algorithm: str, memory: str, limit_alphabet: int | None, tmp_path: Path
) -> None:
    draw = random.Random(1)
    words = ["".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=draw.randint(1, 5))) for _ in range(300)]
    weights = [1 / (at + 1) for at in range(300)]
    lines = [" ".join(draw.choices(words, weights, k=24)) + "\n" for _ in range(24_000)]
    options = SuperwordOptions(400, algorithm=algorithm)
    saved, stages = [], []
    for max_memory in (None, memory):
        tokenizer = Tokenizer(BPE())
        tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False)
        trainer = BpeTrainer(vocab_size=500, superwords=options, show_progress=False)
        trainer.limit_alphabet = limit_alphabet
        stages.append([])
        tokenizer.train_from_iterator(
            lines,
            trainer,
            max_memory=max_memory,
            folder=tmp_path,
            num_threads=2,
            on_progress=lambda stage, *_: stages[-1].append(stage),
        )
        saved.append(tokenizer.to_str())
    assert saved[0] == saved[1]
    # The second time, runs or tokens are counted, and then their parts.
    recounted = [stage for stage, _ in groupby(stages[1]) if stage == "count superwords"]
    assert len(recounted) >= 2
