"""Replaced tokens in continued training: laws on the reference, and the core learns and replaces the same."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lexmill
from lexmill import Tokenizer, models, trainers
from lexmill.errors import LexmillError, OptionError
from lexmill.reference.bpe import Bpe, Token
from lexmill.reference.bpe_trainer import train_bpe
from lexmill.reference.replaced import replace_unigram, replace_wordlevel, replace_wordpiece
from lexmill.reference.replaced_bpe import replace_bpe
from lexmill.reference.unigram import Unigram
from lexmill.reference.unigram_trainer import train_unigram
from lexmill.reference.wordlevel import WordLevel, train_wordlevel
from lexmill.reference.wordpiece import WordPiece
from lexmill.reference.wordpiece_trainer import train_wordpiece

Words = list[tuple[str, int]]
ADDED = "<added>"


@st.composite
def words(draw: st.DrawFn, longest: int = 10) -> Words:
    letters = draw(st.sampled_from(["ab", "abc", "abcd", "aé日", "ab#"]))
    distinct = draw(st.lists(st.text(letters, min_size=1, max_size=longest), max_size=8, unique=True))
    return [(word, draw(st.integers(1, 9))) for word in distinct]


def outcome(call: Any) -> Any:
    try:
        return call()
    except LexmillError as error:
        return type(error), str(error)


def core(
    model: Any, corpus: Words, trainer: Any, added: dict[str, int], most: int | None, threads: int
) -> tuple[dict[str, Any], dict[int, str]]:
    continued, gone = lexmill._core.continue_training_words(
        model, corpus, trainer, added=list(added.items()), replace=most, num_threads=threads
    )
    return json.loads(Tokenizer(continued).to_str())["model"], gone


def spread(tokens: list[str], gap: int) -> dict[str, int]:
    return {token: place + (gap if place > len(tokens) // 2 else 0) for place, token in enumerate(tokens)}


def check_ids(before: dict[str, int], after: dict[str, int], gone: dict[int, str], size: int, most: int) -> set[int]:
    """The law of ids; returns the ids of new tokens."""
    old = {id_: token for token, id_ in before.items()}
    assert {id_: old[id_] for id_ in gone} == gone
    assert list(gone) == sorted(gone)
    assert len(gone) <= most
    tokens = {id_: token for token, id_ in after.items()}
    assert len(tokens) == len(after) <= max(size, len(before))
    assert all(tokens[id_] == token for id_, token in old.items() if id_ not in gone)
    appended = sorted(set(tokens) - set(old))
    first = max(old, default=-1) + 1
    assert appended == list(range(first, first + len(appended)))
    new = sorted({*gone, *appended})
    # Nothing is appended while a token can still be replaced, and no new token is an old one.
    assert not {tokens[id_] for id_ in new} & set(before)
    return set(new)


def keeps_text(before: list[Token], after: list[Token], new: set[int], gone: dict[int, str]) -> bool:
    is_kept = not any(token.id in gone for token in before)
    return not is_kept or any(token.id in new for token in after) or before == after


SIZES = st.integers(0, 14)
ROOM = st.integers(-2, 12)
MOST = st.integers(0, 8) | st.just(1 << 60)
THREADS = st.sampled_from([1, 2, 5])
SPECIAL = st.lists(st.sampled_from(["<s>", "ab", "abc"]), max_size=2)
AFFIXES = st.fixed_dictionaries(
    {},
    optional={
        "continuing_subword_prefix": st.sampled_from(["##", "a"]),
        "end_of_word_suffix": st.sampled_from(["</w>", "b"]),
    },
)
BPE_OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "min_frequency": st.integers(0, 3),
        "special_tokens": SPECIAL,
        "limit_alphabet": st.integers(0, 4),
        "initial_alphabet": st.lists(st.sampled_from(["a", "z"]), max_size=2),
        "tie_break": st.sampled_from(["smallest-ids", "first-seen"]),
    },
)


@given(words(), words(5), BPE_OPTIONS, AFFIXES, SIZES, ROOM, MOST, st.integers(0, 2), st.booleans(), THREADS)
def test_bpe(
    first: Words,
    corpus: Words,
    options: dict[str, Any],
    affixes: dict[str, str],
    size: int,
    room: int,
    most: int,
    gap: int,
    ignore_merges: bool,
    threads: int,
) -> None:
    tokens, merges = train_bpe(first, vocab_size=24 + size, special_tokens=["<s>", "ba"], **affixes)
    vocab = spread(tokens, gap)
    added = {ADDED: max(vocab.values()) + 3}
    present = {**vocab, **added}
    size = max(len(present) + room, 0)
    model = {**affixes, "ignore_merges": ignore_merges}

    def expected() -> Any:
        continued, rest, gone = replace_bpe(
            corpus, present, merges, vocab_size=size, most=most, added_tokens=[ADDED], **options, **model
        )
        return {"vocab": continued, "merges": rest}, gone

    def found() -> Any:
        trainer = trainers.BpeTrainer(vocab_size=size, **options)
        given, gone = core(models.BPE(vocab, merges, **model), corpus, trainer, added, most, threads)
        is_same = given["vocab"] == vocab
        assert not (is_same and gone)
        return {
            "vocab": present if is_same else given["vocab"],
            "merges": [tuple(merge) for merge in given["merges"]],
        }, gone

    made = outcome(expected)
    assert outcome(found) == made
    if isinstance(made[0], type):
        return
    continued, gone = made
    new = check_ids(present, continued["vocab"], gone, size, most)
    base, extended = Bpe(vocab, merges, **model), Bpe(continued["vocab"], continued["merges"], **model)
    for word, _ in first + corpus:
        assert keeps_text(base.tokenize(word), extended.tokenize(word), new, gone)
    assert not {token.id for word, _ in corpus for token in base.tokenize(word)} & set(gone)
    if affixes:
        return
    plain, old = Bpe(continued["vocab"], continued["merges"]), Bpe(vocab, merges)
    for token, id_ in continued["vocab"].items():
        was_made = token in vocab and id_ not in gone and [one.id for one in old.tokenize(token)] == [id_]
        if was_made or id_ in new - {continued["vocab"].get(special) for special in options.get("special_tokens", [])}:
            assert [one.id for one in plain.tokenize(token)] == [id_]


WORDPIECE_OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "min_frequency": st.integers(0, 3),
        "special_tokens": SPECIAL,
        "limit_alphabet": st.integers(0, 4),
        "score": st.sampled_from(["frequency", "likelihood"]),
    },
)


@given(words(), words(5), WORDPIECE_OPTIONS, SIZES, ROOM, MOST, st.integers(0, 2), st.integers(2, 12), THREADS)
def test_wordpiece(
    first: Words,
    corpus: Words,
    options: dict[str, Any],
    size: int,
    room: int,
    most: int,
    gap: int,
    longest: int,
    threads: int,
) -> None:
    tokens, _ = train_wordpiece(first, vocab_size=20 + size, special_tokens=["[UNK]", "[unused]"])
    vocab = spread(tokens, gap)
    added = {ADDED: max(vocab.values()) + 2}
    present = {**vocab, **added}
    size = max(len(present) + room, 0)
    limit = {"max_input_chars_per_word": longest}

    def expected() -> Any:
        given = {**options, **limit, "added_tokens": ["[UNK]", ADDED]}
        return replace_wordpiece(corpus, present, vocab_size=size, most=most, **given)

    def found() -> Any:
        trainer = trainers.WordPieceTrainer(vocab_size=size, **options)
        given, gone = core(models.WordPiece(vocab, unk_token="[UNK]", **limit), corpus, trainer, added, most, threads)
        return (present if given["vocab"] == vocab else given["vocab"]), gone

    made = outcome(expected)
    assert outcome(found) == made
    if isinstance(made[0], type):
        return
    continued, gone = made
    new = check_ids(present, continued, gone, size, most)
    base, extended = WordPiece(vocab, **limit), WordPiece(continued, **limit)
    for word, _ in first + corpus:
        before = base.tokenize(word)
        assert before[0].id == 0 or keeps_text(before, extended.tokenize(word), new, gone)
    for token, id_ in continued.items():
        if id_ in new and not token.startswith("##"):
            whole = WordPiece(continued, max_input_chars_per_word=99)
            assert [one.id for one in whole.tokenize(token)] == [id_]


UNIGRAM_OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "special_tokens": SPECIAL,
        "max_piece_length": st.integers(1, 9),
        "seed_size": st.integers(0, 40),
        "character_coverage": st.sampled_from([0.5, 1.0]),
    },
)


@given(words(), words(5), UNIGRAM_OPTIONS, SIZES, ROOM, MOST, st.booleans(), THREADS, st.data())
def test_unigram(
    first: Words,
    corpus: Words,
    options: dict[str, Any],
    size: int,
    room: int,
    most: int,
    is_added: bool,
    threads: int,
    data: st.DataObject,
) -> None:
    trained = [(text, score) for text, score in train_unigram(first, vocab_size=8 + size, special_tokens=["<unk>"])]
    scores = st.sampled_from([0.0, -1.5, -40.0, -300.0])
    odd = data.draw(st.lists(st.tuples(st.text("ab", min_size=1, max_size=9), scores), max_size=3))
    pieces = [("<unk>", 0.0), *trained, *odd]
    added = {ADDED: len(pieces)} if is_added else {}
    present = [*pieces, *((token, 0.0) for token in added)]
    size = max(len(present) + room, 0)

    def expected() -> Any:
        given = {**options, "excluded": ["<unk>", *added], "unk_id": 0}
        continued, gone = replace_unigram(corpus, present, vocab_size=size, most=most, **given)
        is_same = continued == present
        model = Tokenizer(models.Unigram(pieces if is_same else continued, unk_id=0))
        # Writing may change the last digit of a score, so both go through the file.
        return json.loads(model.to_str())["model"]["vocab"], gone

    def found() -> Any:
        trainer = trainers.UnigramTrainer(vocab_size=size, **options)
        given, gone = core(models.Unigram(pieces, unk_id=0), corpus, trainer, added, most, threads)
        return given["vocab"], gone

    made = outcome(expected)
    assert outcome(found) == made
    if isinstance(made[0], type):
        return
    continued, gone = made
    new = {*gone, *range(len(present), len(continued))}
    assert all(piece == present[place][0] for place, (piece, _) in enumerate(continued) if place not in new)
    assert {id_: present[id_][0] for id_ in gone} == gone
    base, extended = Unigram(pieces, unk_id=0), Unigram([(piece, score) for piece, score in continued], unk_id=0)
    for word, _ in first + corpus:
        assert keeps_text(base.tokenize(word), extended.tokenize(word), new, gone)
    for place in new:
        assert [one.id for one in extended.tokenize(continued[place][0])] == [place]


@given(words(4), words(4), SIZES, ROOM, MOST, st.integers(0, 3), st.integers(0, 2))
def test_wordlevel(first: Words, corpus: Words, size: int, room: int, most: int, least: int, gap: int) -> None:
    vocab = spread(train_wordlevel(first, vocab_size=size, special_tokens=["<unk>"] if size else []), gap)
    added = {ADDED: max(vocab.values(), default=0) + 1}
    present = {**vocab, **added}
    size = max(len(present) + room, 0)
    options: dict[str, Any] = {"min_frequency": least, "special_tokens": ["<s>"]}

    def expected() -> Any:
        return replace_wordlevel(corpus, present, vocab_size=size, most=most, added_tokens=[ADDED], **options)

    def found() -> Any:
        trainer = trainers.WordLevelTrainer(vocab_size=size, **options)
        given, gone = core(models.WordLevel(vocab, unk_token="<unk>"), corpus, trainer, added, most, 1)
        return (present if given["vocab"] == vocab else given["vocab"]), gone

    made = outcome(expected)
    assert outcome(found) == made
    if isinstance(made[0], type):
        return
    continued, gone = made
    check_ids(present, continued, gone, size, most)
    base, extended = WordLevel(vocab), WordLevel(continued)
    for word, _ in corpus:
        if word in vocab:
            assert base.tokenize(word) == extended.tokenize(word)


@pytest.mark.parametrize("most", [1, 9])
def test_a_size_without_room_is_refused(most: int) -> None:
    vocab, merges = {"a": 0, "b": 1, "ab": 2}, [("a", "b")]
    replaceable = min(most, 1)
    message = (
        f"vocab_size is 3 but must be at least {5 - replaceable}: the tokenizer has 3 tokens, {replaceable} can be "
        "replaced, new special tokens and characters need 2"
    )
    with pytest.raises(OptionError, match=message):
        replace_bpe([("bxy", 1)], vocab, merges, vocab_size=3, most=most)
