"""Laws of continued training, on the reference."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexmill.errors import OptionError
from lexmill.reference.bpe import Bpe, Token
from lexmill.reference.bpe_trainer import train_bpe
from lexmill.reference.continued_bpe import continue_bpe
from lexmill.reference.continued_unigram import continue_unigram
from lexmill.reference.continued_wordpiece import continue_wordpiece
from lexmill.reference.unigram import Unigram
from lexmill.reference.unigram_trainer import train_unigram
from lexmill.reference.wordlevel import continue_wordlevel, train_wordlevel
from lexmill.reference.wordpiece import WordPiece
from lexmill.reference.wordpiece_trainer import train_wordpiece

Words = list[tuple[str, int]]


@st.composite
def corpora(draw: st.DrawFn) -> tuple[Words, Words]:
    """The words of the tokenizer and the words to continue on, of letters that overlap."""

    def words(letters: str) -> Words:
        distinct = draw(st.lists(st.text(letters, min_size=1, max_size=9), min_size=1, max_size=7, unique=True))
        return [(word, draw(st.integers(1, 9))) for word in distinct]

    return words(draw(st.sampled_from(["ab", "abc", "abé"]))), words(
        draw(st.sampled_from(["ab", "abc", "abcd", "é日a"]))
    )


SIZES = st.integers(0, 12)
BPE_OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "min_frequency": st.integers(0, 4),
        "limit_alphabet": st.none() | st.integers(1, 4),
        "initial_alphabet": st.lists(st.sampled_from(["a", "z", "é"]), max_size=2),
        "max_token_length": st.none() | st.integers(0, 7),
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
SPECIAL = st.lists(st.sampled_from(["<s>", "</s>", "ab"]), max_size=2)


def ids(tokens: list[str]) -> dict[str, int]:
    return {token: place for place, token in enumerate(tokens)}


def spread(tokens: list[str], gap: int) -> dict[str, int]:
    """Ids with a gap in the middle, as added and removed tokens leave one."""
    return {token: place + (gap if place > len(tokens) // 2 else 0) for place, token in enumerate(tokens)}


def new_ids(vocab: dict[str, int], continued: dict[str, int]) -> set[int]:
    """Checks that old tokens keep their ids and new ones follow; returns the new ids."""
    assert list(continued.items())[: len(vocab)] == list(vocab.items())
    first = max(vocab.values(), default=-1) + 1
    added = sorted(set(continued.values()) - set(vocab.values()))
    assert added == list(range(first, first + len(continued) - len(vocab)))
    return set(added)


def keeps_text(before: list[Token], after: list[Token], new: set[int]) -> bool:
    return any(token.id in new for token in after) or before == after


@given(corpora(), BPE_OPTIONS, AFFIXES, SPECIAL, SIZES, SIZES, st.integers(0, 2), st.booleans())
def test_bpe_keeps_what_it_had(
    given_words: tuple[Words, Words],
    options: dict[str, Any],
    affixes: dict[str, str],
    special: list[str],
    first: int,
    more: int,
    gap: int,
    ignore_merges: bool,
) -> None:
    words, others = given_words
    tokens, merges = train_bpe(words, vocab_size=20 + first, **{**affixes, "special_tokens": special})
    vocab = spread(tokens, gap)
    model = {**affixes, "ignore_merges": ignore_merges}
    try:
        continued, all_merges = continue_bpe(others, vocab, merges, vocab_size=len(vocab) + more, **options, **model)
    except OptionError:
        assert len(vocab) + more < 100
        return
    assert all_merges[: len(merges)] == merges
    new = new_ids(vocab, continued)
    if more == 0:
        assert (continued, all_merges) == (vocab, merges)
    base, extended = Bpe(vocab, merges, **model), Bpe(continued, all_merges, **model)
    for word, _ in words + others:
        assert keeps_text(base.tokenize(word), extended.tokenize(word), new)
    made = {
        continued[left + right.removeprefix(affixes.get("continuing_subword_prefix", ""))]: (left, right)
        for left, right in all_merges[len(merges) :]
    }
    # Each merge makes a token of its own, from symbols that become the token alone.
    assert len(made) == len(all_merges) - len(merges)
    assert made.keys() <= new
    if not affixes:
        plain = Bpe(continued, all_merges)
        for token, token_id in continued.items():
            if token_id in made:
                assert [found.id for found in plain.tokenize(token)] == [token_id]


@given(corpora(), BPE_OPTIONS, SIZES, SIZES)
def test_bpe_continued_on_the_same_words_is_bpe_trained_in_one_go(
    given_words: tuple[Words, Words], options: dict[str, Any], first: int, more: int
) -> None:
    words = given_words[0]
    options = {**options, "special_tokens": ["<s>", "</s>"]}
    tokens, merges = train_bpe(words, vocab_size=8 + first, **options)
    whole = train_bpe(words, vocab_size=8 + first + more, **options)
    continued, all_merges = continue_bpe(words, ids(tokens), merges, vocab_size=8 + first + more, **options)
    assert (list(continued), all_merges) == whole


WORDPIECE_OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "min_frequency": st.integers(0, 4),
        "limit_alphabet": st.none() | st.integers(1, 4),
        "initial_alphabet": st.lists(st.sampled_from(["a", "z"]), max_size=2),
        "score": st.sampled_from(["frequency", "likelihood", "likelihood-float64"]),
        "tie_break": st.sampled_from([None, "smallest-ids", "first-seen"]),
    },
)


def word_of(token: str, vocab: dict[str, int], prefix: str) -> tuple[str, str]:
    """A word that ends with a token that continues it, and the text of the word's other token."""
    text = token.removeprefix(prefix)
    plain = {known for known in vocab if not known.startswith(prefix) and known != "[UNK]"}
    before = min(plain, key=len)
    while longer := [before + text[:end] for end in range(1, len(text) + 1) if before + text[:end] in plain]:
        before = longer[0]
    return before + text, before


@given(corpora(), WORDPIECE_OPTIONS, SIZES, SIZES, st.integers(0, 2), st.integers(2, 12), st.data())
def test_wordpiece_keeps_what_it_had(
    given_words: tuple[Words, Words],
    options: dict[str, Any],
    first: int,
    more: int,
    gap: int,
    most: int,
    data: st.DataObject,
) -> None:
    words, others = given_words
    tokens, _ = train_wordpiece(words, vocab_size=14 + first, special_tokens=["[UNK]"])
    # A pruned vocabulary may lack symbols of its own tokens.
    lost = data.draw(st.sets(st.sampled_from(tokens[1:]), max_size=3))
    vocab = spread([token for token in tokens if token not in lost], gap)
    size = len(vocab) + more
    limit = {"max_input_chars_per_word": most}
    try:
        continued = continue_wordpiece(others, vocab, vocab_size=size, added_tokens=["[UNK]"], **limit, **options)
    except OptionError:
        return
    new = new_ids(vocab, continued)
    assert more or not new
    base, extended = WordPiece(vocab, **limit), WordPiece(continued, **limit)
    for word, _ in words + others:
        assert keeps_text(base.tokenize(word), extended.tokenize(word), new)
    wide = WordPiece(continued, max_input_chars_per_word=1000)
    for token, token_id in continued.items():
        if token_id in new and not token.startswith("##"):
            assert [found.id for found in extended.tokenize(token)] == [token_id]
        elif token_id in new and any(not known.startswith(("##", "[")) for known in continued):
            word, before = word_of(token, continued, "##")
            assert [found.id for found in wide.tokenize(word)] == [continued[before], token_id]


UNIGRAM_OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "initial_alphabet": st.lists(st.sampled_from(["a", "z"]), max_size=2),
        "shrinking_factor": st.sampled_from([0.3, 0.75, 0.99]),
        "max_piece_length": st.integers(1, 9),
        "n_sub_iterations": st.integers(0, 3),
        "seed_size": st.integers(0, 30),
        "character_coverage": st.sampled_from([0.5, 0.9, 1.0]),
    },
)


@given(corpora(), UNIGRAM_OPTIONS, SPECIAL, SIZES, SIZES)
def test_unigram_keeps_what_it_had(
    given_words: tuple[Words, Words], options: dict[str, Any], special: list[str], first: int, more: int
) -> None:
    words, others = given_words
    trained = train_unigram(words, vocab_size=6 + first, special_tokens=["<unk>"])
    pieces = [("<unk>", 0.0), *((text, score) for text, score in trained)]
    try:
        continued = continue_unigram(
            others,
            pieces,
            vocab_size=len(pieces) + more,
            excluded=["<unk>"],
            special_tokens=special,
            **options,
        )
    except OptionError:
        return
    assert continued[: len(pieces)] == pieces
    assert len(continued) <= len(pieces) + more
    base, extended = Unigram(pieces, unk_id=0), Unigram(continued, unk_id=0)
    new = set(range(len(pieces), len(continued)))
    for word, _ in words + others:
        assert keeps_text(base.tokenize(word), extended.tokenize(word), new)
    for place in new:
        assert [found.id for found in extended.tokenize(continued[place][0])] == [place]


@given(corpora(), SPECIAL, SIZES, SIZES)
def test_wordlevel_appends_words(given_words: tuple[Words, Words], special: list[str], first: int, more: int) -> None:
    words, others = given_words
    vocab = ids(train_wordlevel(words, vocab_size=first))
    try:
        continued = continue_wordlevel(others, vocab, vocab_size=len(vocab) + more, special_tokens=special)
    except OptionError:
        return
    assert len(new_ids(vocab, continued)) <= more
    whole = train_wordlevel(words, vocab_size=first + more)
    assert list(continue_wordlevel(words, vocab, vocab_size=max(first + more, len(vocab)))) == whole


@pytest.mark.parametrize("size", [0, 2, 4])
def test_a_size_without_room_for_new_characters_is_refused(size: int) -> None:
    message = f"vocab_size is {size} but must be at least 5: the tokenizer has 3 tokens, "
    with pytest.raises(OptionError, match=message):
        continue_bpe([("xy", 1)], ids(["a", "b", "ab"]), [("a", "b")], vocab_size=size)
