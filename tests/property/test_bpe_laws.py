from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from engines import CoreEngine, Encoded, Engine, Merges, ReferenceEngine, Words
from lexmill.errors import LexmillError

REFERENCE = ReferenceEngine()
CORE = CoreEngine()

# Few letters and short words make ties, runs and overlaps common.
ALPHABETS = ["ab", "abc", "abcd", "aé日"]


@st.composite
def corpora(draw: st.DrawFn) -> Words:
    letters = draw(st.sampled_from(ALPHABETS))
    words = draw(st.lists(st.text(letters, min_size=1, max_size=12), max_size=10, unique=True))
    return [(word, draw(st.integers(1, 4))) for word in words]


def sometimes(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | strategy


PLAIN_OPTIONS = {
    "vocab_size": st.integers(0, 60),
    "min_frequency": st.integers(0, 4),
    "special_tokens": st.lists(st.sampled_from(["<s>", "a", "ab", "ba", "aa", "abc", "aba", "bb"]), max_size=4),
    "initial_alphabet": st.lists(st.sampled_from(["a", "zq", "", "é"]), max_size=3),
    "max_token_length": sometimes(st.integers(0, 7)),
}
INITIAL = st.lists(
    st.sampled_from(["ab", "aba", "abab", "bba", "é日", "a", "zz", "##ab", "ab</w>", "▁b", "$", "日a日"]), max_size=3
)
FORBID = st.lists(st.sampled_from(["aa", "^b", "c$", "a.b", "[bc]{2}", "^..$", "日", "(?=a)b"]), max_size=2)
PLAIN = st.fixed_dictionaries({}, optional=PLAIN_OPTIONS)
DISTINCT_SYMBOLS = {
    "continuing_subword_prefix": st.sampled_from([None, "", "##", "▁"]),
    "end_of_word_suffix": st.sampled_from([None, "", "</w>", "$"]),
}
LAWFUL = st.fixed_dictionaries(
    {"tie_break": st.sampled_from(["smallest-ids", "first-seen"])},
    optional={
        **PLAIN_OPTIONS,
        **DISTINCT_SYMBOLS,
        "limit_alphabet": sometimes(st.integers(0, 4)),
        "forbid": FORBID,
        "initial_tokens": INITIAL,
    },
)
# A prefix or suffix of letters that the words use makes different merges spell one string.
ANY = st.fixed_dictionaries(
    {"tie_break": st.sampled_from(["smallest-ids", "first-seen"])},
    optional={
        **PLAIN_OPTIONS,
        "continuing_subword_prefix": st.sampled_from([None, "", "##", "a", "b"]),
        "end_of_word_suffix": st.sampled_from([None, "", "</w>", "a", "b"]),
        "limit_alphabet": sometimes(st.integers(0, 4)),
        "forbid": FORBID,
        "initial_tokens": INITIAL,
    },
)


def outcome(engine: Engine, words: Words, **options: Any) -> tuple[Any, ...]:
    try:
        return engine.train_bpe(words, **options)
    except LexmillError as error:
        return type(error), str(error)


def trained(engine: Engine, words: Words, options: dict[str, Any]) -> tuple[list[str], Merges]:
    result = outcome(engine, words, **options)
    assume(isinstance(result[0], list))
    return result[0], result[1]


@pytest.mark.parametrize("threads", [1, 2, 7])
@given(words=corpora(), options=ANY)
def test_core_trains_as_the_reference(threads: int, words: Words, options: dict[str, Any]) -> None:
    expected = outcome(REFERENCE, words, **options)
    assert outcome(CORE, words, num_threads=threads, **options) == expected


SHARED = st.fixed_dictionaries(
    {"auto_character_coverage": st.just(True), "vocab_size": st.integers(254, 280)},
    optional={
        "min_frequency": st.integers(0, 4),
        "special_tokens": st.lists(st.sampled_from(["<s>", "é", "ab", "東京", "<0x41>"]), max_size=4),
        "max_token_length": sometimes(st.integers(0, 7)),
        "tie_break": st.sampled_from(["smallest-ids", "first-seen"]),
    },
)
MIXED_WORDS = st.text("abé東京😀ñ", min_size=1, max_size=8)


@pytest.mark.parametrize("threads", [1, 3])
@given(
    words=st.lists(st.tuples(MIXED_WORDS, st.integers(1, 9)), max_size=12, unique_by=lambda item: item[0]),
    options=SHARED,
)
def test_core_shares_places_as_the_reference(threads: int, words: Words, options: dict[str, Any]) -> None:
    expected = outcome(REFERENCE, words, **options)
    assert outcome(CORE, words, num_threads=threads, **options) == expected


@given(words=corpora(), options=LAWFUL, room=st.integers(0, 10))
def test_more_room_extends_the_merges(engine: Engine, words: Words, options: dict[str, Any], room: int) -> None:
    vocab, merges = trained(engine, words, options)
    larger_vocab, larger_merges = engine.train_bpe(words, **{**options, "vocab_size": len(vocab) + room})
    assert larger_vocab[: len(vocab)] == vocab
    assert larger_merges[: len(merges)] == merges or merges[: len(larger_merges)] == larger_merges


@given(words=corpora(), options=LAWFUL)
def test_every_token_has_one_id_and_every_merge_spells_a_token(
    engine: Engine, words: Words, options: dict[str, Any]
) -> None:
    vocab, merges = trained(engine, words, options)
    prefix = options.get("continuing_subword_prefix") or ""
    assert len(set(vocab)) == len(vocab)
    assert {left + right.removeprefix(prefix) for left, right in merges} <= set(vocab)
    assert {half for pair in merges for half in pair} <= set(vocab)


@given(words=corpora(), options=LAWFUL)
def test_tokens_of_a_trained_word_spell_the_word(engine: Engine, words: Words, options: dict[str, Any]) -> None:
    assume(options.get("limit_alphabet") is None)
    vocab, merges = trained(engine, words, options)
    prefix = options.get("continuing_subword_prefix") or ""
    suffix = options.get("end_of_word_suffix") or ""
    for word, _ in words:
        found = engine.encode_word(vocab, merges, word, continuing_subword_prefix=prefix, end_of_word_suffix=suffix)
        spelt = "".join(token.removeprefix(prefix) for _, token, _ in found)
        assert spelt == word + suffix
        data = word.encode("utf-8")
        assert [data[start:end].decode("utf-8") for _, _, (start, end) in found] == [
            token.removeprefix(prefix).removesuffix(suffix) for _, token, _ in found
        ]


@st.composite
def models(draw: st.DrawFn) -> tuple[list[str], Merges, dict[str, Any]]:
    """A vocabulary that misses some characters and bytes, and merges of any of its tokens in any order."""
    options: dict[str, Any] = {
        "unk_token": draw(st.sampled_from([None, "<unk>"])),
        "fuse_unk": draw(st.booleans()),
        "byte_fallback": draw(st.booleans()),
        "ignore_merges": draw(st.booleans()),
        "continuing_subword_prefix": draw(st.sampled_from([None, "", "#", "▁"])),
        "end_of_word_suffix": draw(st.sampled_from([None, "", "$"])),
    }
    prefix = options["continuing_subword_prefix"] or ""
    suffix = options["end_of_word_suffix"] or ""
    bytes_ = [f"<0x{byte:02X}>" for byte in "abé日#▁$".encode()]
    symbols = [before + char + after for char in "abé日" for before in ("", prefix) for after in ("", suffix)]
    candidates = list(dict.fromkeys(bytes_ + symbols))
    vocab = ["<unk>", *draw(st.lists(st.sampled_from(candidates), unique=True, min_size=len(candidates) // 2))]
    merges: Merges = []
    for _ in range(draw(st.integers(0, 10))):
        left, right = draw(st.sampled_from(vocab)), draw(st.sampled_from(vocab))
        # The peer cannot load a right half without the prefix, so there is nothing to agree with.
        if right.startswith(prefix):
            merges.append((left, right))
            if left + right.removeprefix(prefix) not in vocab:
                vocab.append(left + right.removeprefix(prefix))
    return vocab, merges, options


WORDS = st.text("abé日xü", max_size=12)


@given(model=models(), word=WORDS)
def test_core_encodes_as_the_reference(model: tuple[list[str], Merges, dict[str, Any]], word: str) -> None:
    vocab, merges, options = model
    assert CORE.encode_word(vocab, merges, word, **options) == REFERENCE.encode_word(vocab, merges, word, **options)


def train_peer(words: Words, **options: Any) -> tuple[list[str], Merges]:
    tokenizers = pytest.importorskip("tokenizers")
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    trainer = tokenizers.trainers.BpeTrainer(show_progress=False, **options)
    tokenizer.train_from_iterator((" ".join([word] * count) for word, count in words), trainer)
    model = json.loads(tokenizer.to_str())["model"]
    return sorted(model["vocab"], key=model["vocab"].get), [tuple(merge) for merge in model["merges"]]


def encode_peer(vocab: list[str], merges: Merges, word: str, **options: Any) -> Encoded:
    tokenizers = pytest.importorskip("tokenizers")
    numbered = {token: token_id for token_id, token in enumerate(vocab)}
    options = {name: value for name, value in options.items() if value is not None}
    model = tokenizers.models.BPE(vocab=numbered, merges=merges, **options)
    return [(token.id, token.value, token.offsets) for token in model.tokenize(word)]


@pytest.mark.external
@given(words=corpora(), options=PLAIN)
def test_reference_trains_as_the_peer(words: Words, options: dict[str, Any]) -> None:
    vocab, merges = trained(REFERENCE, words, options)
    assert (vocab, merges) == train_peer(words, **options)


@pytest.mark.external
@given(words=corpora(), options=PLAIN, prefixed=st.booleans())
def test_reference_trains_as_the_peer_once_ids_are_fixed(words: Words, options: dict[str, Any], prefixed: bool) -> None:
    # The peer numbers prefixed and suffixed symbols at random; as special tokens they have fixed ids.
    letters = sorted({char for word, _ in words for char in word})
    if prefixed:
        decorated: dict[str, Any] = {"continuing_subword_prefix": "##", "special_tokens": [f"##{c}" for c in letters]}
    else:
        decorated = {"end_of_word_suffix": "$", "special_tokens": [f"{c}$" for c in letters]}
    vocab, merges = trained(REFERENCE, words, {**options, **decorated})
    assert (vocab, merges) == train_peer(words, **{**options, **decorated})


@pytest.mark.external
@given(model=models(), word=WORDS)
def test_reference_encodes_as_the_peer(model: tuple[list[str], Merges, dict[str, Any]], word: str) -> None:
    vocab, merges, options = model
    assert REFERENCE.encode_word(vocab, merges, word, **options) == encode_peer(vocab, merges, word, **options)
