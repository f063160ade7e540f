"""Continued training: the core and the reference learn the same."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import lexmill
from lexmill import Tokenizer, models, trainers
from lexmill.errors import LexmillError
from lexmill.reference.bpe_trainer import train_bpe
from lexmill.reference.continued_bpe import continue_bpe
from lexmill.reference.continued_unigram import continue_unigram
from lexmill.reference.continued_wordpiece import continue_wordpiece
from lexmill.reference.unigram_trainer import train_unigram
from lexmill.reference.wordlevel import continue_wordlevel, train_wordlevel
from lexmill.reference.wordpiece_trainer import train_wordpiece

Words = list[tuple[str, int]]
ADDED = "<added>"


@st.composite
def words(draw: st.DrawFn, letters: str = "") -> Words:
    letters = letters or draw(st.sampled_from(["ab", "abc", "abcd", "aé日", "ab#"]))
    distinct = draw(st.lists(st.text(letters, min_size=1, max_size=12), max_size=8, unique=True))
    return [(word, draw(st.integers(1, 9))) for word in distinct]


def outcome(call: Any) -> Any:
    try:
        return call()
    except LexmillError as error:
        return type(error), str(error)


def model_json(model: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Tokenizer(model).to_str())["model"]
    return found


def core(model: Any, corpus: Words, trainer: Any, added: dict[str, int], threads: int) -> dict[str, Any]:
    continued, replaced = lexmill._core.continue_training_words(
        model, corpus, trainer, added=list(added.items()), num_threads=threads
    )
    assert replaced == {}
    return model_json(continued)


BPE_OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "min_frequency": st.integers(0, 4),
        "special_tokens": st.lists(st.sampled_from(["<s>", "a", "ab", "abc"]), max_size=2),
        "limit_alphabet": st.integers(0, 4),
        "initial_alphabet": st.lists(st.sampled_from(["a", "z", "é"]), max_size=2),
        "max_token_length": st.integers(0, 7),
        "tie_break": st.sampled_from(["smallest-ids", "first-seen"]),
    },
)
AFFIXES = st.fixed_dictionaries(
    {},
    optional={
        "continuing_subword_prefix": st.sampled_from(["##", "a"]),
        "end_of_word_suffix": st.sampled_from(["</w>", "b"]),
    },
)
ROOM = st.integers(-2, 25)
THREADS = st.sampled_from([1, 2, 5])


def spread(tokens: list[str], gap: int) -> dict[str, int]:
    return {token: place + (gap if place > len(tokens) // 2 else 0) for place, token in enumerate(tokens)}


@given(
    words(),
    words(),
    BPE_OPTIONS,
    AFFIXES,
    st.integers(0, 20),
    ROOM,
    st.integers(0, 2),
    st.booleans(),
    st.booleans(),
    THREADS,
)
def test_bpe(
    first: Words,
    corpus: Words,
    options: dict[str, Any],
    affixes: dict[str, str],
    size: int,
    room: int,
    gap: int,
    is_added: bool,
    ignore_merges: bool,
    threads: int,
) -> None:
    tokens, merges = train_bpe(first, vocab_size=24 + size, special_tokens=["ab"], **affixes)
    vocab = spread(tokens, gap)
    added = {ADDED: max(vocab.values()) + 3} if is_added else {}
    present = {**vocab, **added}
    size = max(len(present) + room, 0)

    def expected() -> Any:
        given = {**options, **affixes, "ignore_merges": ignore_merges}
        continued, all_merges = continue_bpe(corpus, present, merges, vocab_size=size, **given)
        is_same = len(continued) == len(present)
        return (vocab if is_same else continued), [list(merge) for merge in all_merges]

    def found() -> Any:
        model = models.BPE(vocab, merges, ignore_merges=ignore_merges, **affixes)
        given = core(model, corpus, trainers.BpeTrainer(vocab_size=size, **options), added, threads)
        return given["vocab"], given["merges"]

    assert outcome(found) == outcome(expected)


WORDPIECE_OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "min_frequency": st.integers(0, 4),
        "special_tokens": st.lists(st.sampled_from(["<s>", "a", "ab"]), max_size=2),
        "limit_alphabet": st.integers(0, 4),
        "initial_alphabet": st.lists(st.sampled_from(["a", "z", "é"]), max_size=2),
        "score": st.sampled_from(["frequency", "likelihood", "likelihood-float64"]),
        "tie_break": st.sampled_from(["smallest-ids", "first-seen"]),
        "min_pair_frequency": st.integers(0, 3),
    },
)


@given(
    words(),
    words(),
    WORDPIECE_OPTIONS,
    st.integers(0, 20),
    ROOM,
    st.integers(0, 2),
    st.integers(0, 12),
    st.sampled_from(["##", ""]),
    THREADS,
    st.data(),
)
def test_wordpiece(
    first: Words,
    corpus: Words,
    options: dict[str, Any],
    size: int,
    room: int,
    gap: int,
    most: int,
    prefix: str,
    threads: int,
    data: st.DataObject,
) -> None:
    tokens, _ = train_wordpiece(first, vocab_size=20 + size, special_tokens=["[UNK]"], continuing_subword_prefix=prefix)
    lost = data.draw(st.sets(st.sampled_from(tokens), max_size=3))
    vocab = spread([token for token in tokens if token not in lost], gap)
    added = {ADDED: max(vocab.values(), default=0) + 2}
    present = {**vocab, **added}
    size = max(len(present) + room, 0)
    given_model: dict[str, Any] = {"continuing_subword_prefix": prefix, "max_input_chars_per_word": most}

    def expected() -> Any:
        given = {**options, **given_model, "added_tokens": ["[UNK]", ADDED]}
        continued = continue_wordpiece(corpus, present, vocab_size=size, **given)
        return vocab if len(continued) == len(present) else continued

    def found() -> Any:
        model = models.WordPiece(vocab, unk_token="[UNK]", **given_model)
        return core(model, corpus, trainers.WordPieceTrainer(vocab_size=size, **options), added, threads)["vocab"]

    assert outcome(found) == outcome(expected)


UNIGRAM_OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "special_tokens": st.lists(st.sampled_from(["<s>", "a", "ab"]), max_size=2),
        "initial_alphabet": st.lists(st.sampled_from(["a", "z"]), max_size=2),
        "shrinking_factor": st.sampled_from([0.3, 0.75, 0.99]),
        "max_piece_length": st.integers(1, 9),
        "n_sub_iterations": st.integers(0, 3),
        "seed_size": st.integers(0, 40),
        "character_coverage": st.sampled_from([0.5, 0.9, 1.0]),
    },
)


@given(words(), words(), UNIGRAM_OPTIONS, st.integers(0, 20), ROOM, st.booleans(), THREADS, st.data())
def test_unigram(
    first: Words,
    corpus: Words,
    options: dict[str, Any],
    size: int,
    room: int,
    is_added: bool,
    threads: int,
    data: st.DataObject,
) -> None:
    trained = [(text, score) for text, score in train_unigram(first, vocab_size=8 + size, special_tokens=["<unk>"])]
    odd = data.draw(
        st.lists(
            st.tuples(st.text("ab", min_size=1, max_size=14), st.sampled_from([0.0, -1.5, -40.0, -300.0, 2.0])),
            max_size=2,
        )
    )
    pieces = [("<unk>", 0.0), *trained, *odd]
    added = {ADDED: len(pieces)} if is_added else {}
    present = [*pieces, *((token, 0.0) for token in added)]
    size = max(len(present) + room, 0)

    def expected() -> Any:
        excluded = ["<unk>", *added]
        continued = continue_unigram(corpus, present, vocab_size=size, excluded=excluded, **options)
        # Writing may change the last digit of a score, so both go through the file.
        expected = pieces if len(continued) == len(present) else continued
        return model_json(models.Unigram(expected, unk_id=0))["vocab"]

    def found() -> Any:
        model = models.Unigram(pieces, unk_id=0)
        return core(model, corpus, trainers.UnigramTrainer(vocab_size=size, **options), added, threads)["vocab"]

    assert outcome(found) == outcome(expected)


@given(words(), words(), st.integers(0, 8), ROOM, st.integers(0, 5), st.integers(0, 2), st.booleans())
def test_wordlevel(
    first: Words, corpus: Words, size: int, room: int, min_frequency: int, gap: int, is_special: bool
) -> None:
    vocab = spread(train_wordlevel(first, vocab_size=size), gap)
    added = {ADDED: max(vocab.values(), default=0) + 1}
    present = {**vocab, **added}
    size = max(len(present) + room, 0)
    options: dict[str, Any] = {"min_frequency": min_frequency, "special_tokens": ["<s>"] if is_special else []}

    def expected() -> Any:
        continued = continue_wordlevel(corpus, present, vocab_size=size, **options)
        return vocab if len(continued) == len(present) else continued

    def found() -> Any:
        model = models.WordLevel(vocab, unk_token="<unk>")
        return core(model, corpus, trainers.WordLevelTrainer(vocab_size=size, **options), added, 1)["vocab"]

    assert outcome(found) == outcome(expected)
