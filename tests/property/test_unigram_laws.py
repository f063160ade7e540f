from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from engines import CoreEngine, Engine, Pieces, ReferenceEngine, Words
from lexmill import Tokenizer, models
from lexmill.errors import LexmillError

REFERENCE = ReferenceEngine()
CORE = CoreEngine()

# Scores with few values make ties common.
SCORES = st.integers(1, 30).map(lambda number: -number / 4) | st.floats(-20, -0.1)
PIECES = st.lists(st.tuples(st.text("abé日", min_size=1, max_size=4), SCORES), max_size=10)
BYTES: Pieces = [(f"<0x{byte:02X}>", -9.0) for byte in "é日".encode()]
WORDS = st.text("abé日x", max_size=9)


@st.composite
def models_and_options(draw: st.DrawFn) -> tuple[Pieces, dict[str, Any]]:
    pieces = draw(PIECES)
    # Where the unknown token is that of a byte, the core spells the byte as the text and the reference does not.
    unk_id = draw(st.none() | st.integers(0, len(pieces) - 1)) if pieces else None
    return [*pieces, *draw(st.sampled_from([[], BYTES, BYTES[:3]]))], {
        "unk_id": unk_id,
        "byte_fallback": draw(st.booleans()),
    }


def outcome(engine: Engine, call: str, *arguments: Any, **options: Any) -> Any:
    try:
        return getattr(engine, call)(*arguments, **options)
    except LexmillError as error:
        return type(error), str(error)


@given(model=models_and_options(), word=WORDS)
def test_core_encodes_as_the_reference(model: tuple[Pieces, dict[str, Any]], word: str) -> None:
    pieces, options = model
    found = [outcome(engine, "encode_unigram", pieces, word, **options) for engine in (CORE, REFERENCE)]
    assert found[0] == found[1]


@given(model=models_and_options(), word=WORDS, n=st.integers(0, 12))
def test_core_finds_the_best_as_the_reference(model: tuple[Pieces, dict[str, Any]], word: str, n: int) -> None:
    pieces, options = model
    found = [outcome(engine, "encode_unigram_nbest", pieces, word, n, **options) for engine in (CORE, REFERENCE)]
    assert found[0] == found[1]


@given(model=models_and_options(), text=st.text("abé日x", max_size=60))
def test_ids_alone_are_those_of_the_encoding(model: tuple[Pieces, dict[str, Any]], text: str) -> None:
    pieces, options = model
    tokenizer = Tokenizer(models.Unigram(pieces, **options))
    try:
        encoding = tokenizer.encode(text)
    except LexmillError:
        return
    assert tokenizer.encode_batch_ids([text]) == [encoding.ids]
    assert [token.id for token in tokenizer.model.tokenize(text)] == encoding.ids
    assert [token.value for token in tokenizer.model.tokenize(text)] == encoding.tokens


@st.composite
def corpora(draw: st.DrawFn) -> Words:
    letters = draw(st.sampled_from(["ab", "abc", "abcde", "aé日\0"]))
    words = draw(st.lists(st.text(letters, min_size=1, max_size=12), max_size=10, unique=True))
    return [(word, draw(st.integers(1, 6))) for word in words]


INITIAL = st.lists(st.sampled_from(["ab", "aba", "bb", "é日", "a", "zz", "z", "", "bcab"]), max_size=3)
FORBID = st.lists(st.sampled_from(["aa", "^b", "c$", "[bc]{2}", "^..$", "日"]), max_size=2)
TRAINING = st.fixed_dictionaries(
    {},
    optional={
        "vocab_size": st.integers(0, 30),
        "special_tokens": st.lists(st.sampled_from(["<s>", "a", "ab", "ba"]), max_size=3, unique=True),
        "initial_alphabet": st.lists(st.sampled_from(["a", "zq", "", "é"]), max_size=3),
        "shrinking_factor": st.sampled_from([0.25, 0.75, 1 - 2**-53]),
        "max_piece_length": st.integers(1, 6),
        "n_sub_iterations": st.integers(0, 3),
        "seed_size": st.integers(0, 40),
        "character_coverage": st.sampled_from([0.0, 0.8, 0.95, 1.0]),
        "forbid": FORBID,
        "initial_tokens": INITIAL,
    },
)
EXACT = st.fixed_dictionaries(
    {"algorithm": st.just("exact-loss")},
    optional={
        "vocab_size": st.integers(0, 30),
        "seed_size": st.integers(0, 40),
        "max_piece_length": st.integers(1, 6),
        "forbid": FORBID,
        "initial_tokens": INITIAL,
    },
)


@given(words=corpora(), options=TRAINING | EXACT, threads=st.integers(1, 3))
def test_core_learns_as_the_reference_bit_by_bit(words: Words, options: dict[str, Any], threads: int) -> None:
    ours = outcome(CORE, "train_unigram", words, num_threads=threads, **options)
    assert ours == outcome(REFERENCE, "train_unigram", words, **options)


SYLLABLES = ["ab", "ra", "ca", "dab", "é", "日", "z", "qx", "a", "b"]


@st.composite
def skewed_corpora(draw: st.DrawFn) -> Words:
    """Words of few syllables with unequal counts, so that the penalty drops pieces and characters."""
    joined = st.lists(st.sampled_from(SYLLABLES), min_size=1, max_size=6).map("".join)
    words = draw(st.lists(joined, min_size=4, max_size=25, unique=True))
    return [(word, draw(st.sampled_from([1, 1, 2, 3, 40]))) for word in words]


SPARSE = st.fixed_dictionaries(
    {"use_sparse_pruning": st.just(True), "vocab_size": st.integers(10, 24)},
    optional={
        "special_tokens": st.lists(st.sampled_from(["<s>", "a", "ab", "ra"]), max_size=3, unique=True),
        "initial_alphabet": st.lists(st.sampled_from(["a", "y", "xq"]), max_size=3),
        "shrinking_factor": st.sampled_from([0.25, 0.75, 1 - 2**-53]),
        "max_piece_length": st.integers(1, 6),
        "seed_size": st.sampled_from([0, 20, 1000]),
        "character_coverage": st.sampled_from([0.0, 0.8, 1.0]),
    },
)
# Of the vocabulary, 256 byte pieces take their places first.
SHARED = st.fixed_dictionaries(
    {
        "use_sparse_pruning": st.just(True),
        "auto_character_coverage": st.just(True),
        # The seeds of such small corpora are more than 1.05 times the vocabulary only if there are no more places.
        "vocab_size": st.integers(255, 280),
    },
    optional={
        "special_tokens": st.lists(st.sampled_from(["<s>", "a", "ab", "<0x41>"]), max_size=3, unique=True),
        "shrinking_factor": st.sampled_from([0.25, 0.75]),
    },
)


@given(words=skewed_corpora(), options=SPARSE | SHARED, threads=st.integers(1, 3))
def test_core_prunes_sparsely_as_the_reference_bit_by_bit(words: Words, options: dict[str, Any], threads: int) -> None:
    ours = outcome(CORE, "train_unigram", words, num_threads=threads, **options)
    assert ours == outcome(REFERENCE, "train_unigram", words, **options)
