"""Random small models as files describe them."""

from __future__ import annotations

from typing import TypeVar

from hypothesis import strategies as st

from lexmill.reference import byte_level
from whole_engines import Json

T = TypeVar("T")


def choice(*strategies: st.SearchStrategy[T]) -> st.SearchStrategy[T]:
    """One of the strategies, each as often; `one_of` weighs a strategy by the number of its own alternatives."""
    return st.integers(0, len(strategies) - 1).flatmap(strategies.__getitem__)


# Bytes of some characters: others, though bytes are tokens, have no spelling by them.
BYTES = [f"<0x{byte:02X}>" for byte in sorted(set("é日𣂏🙂\u0301\u3000 \n12ax#</w>▁!".encode()))]
ALPHABET = [
    "a",
    "b",
    "c",
    "x",
    "t",
    "h",
    "e",
    "é",
    "\u0301",
    "日",
    "本",
    "▁",
    "_",
    " ",
    "1",
    "2",
    ".",
    "-",
    "'",
    "Ж",
    "🙂",
]


@st.composite
def words(draw: st.DrawFn, symbols: list[str]) -> list[str]:
    """Words of a few symbols each."""
    some = draw(st.lists(st.lists(st.sampled_from(symbols), min_size=2, max_size=4), max_size=8))
    return list(dict.fromkeys("".join(word) for word in some))


@st.composite
def unigrams(draw: st.DrawFn) -> Json:
    """Pieces with few distinct scores, so that sums are often equal."""
    chars = draw(st.lists(st.sampled_from(ALPHABET), unique=True, max_size=16))
    pieces = ["<unk>", *chars, *draw(words(["▁", "a", "b", "日", " ", "é", "th", "e"]))]
    has_bytes = draw(st.booleans())
    if has_bytes:
        pieces += BYTES
    if draw(st.integers(0, 9)) == 0:
        pieces += ["a", "▁a"]
    scores = draw(st.lists(st.sampled_from([-1.0, -2.0, -2.5, -4.0, 0.0]), min_size=4, max_size=8))
    vocab = [[piece, scores[place % len(scores)]] for place, piece in enumerate(pieces)]
    unk_id = draw(st.sampled_from([0, 0, 0, 0, 1 % len(vocab), None]))
    return {
        "type": "Unigram",
        "unk_id": unk_id,
        "vocab": vocab,
        "byte_fallback": draw(st.sampled_from([has_bytes, has_bytes, not has_bytes])),
    }


SWITCHES = st.fixed_dictionaries({name: st.booleans() for name in ("fuse_unk", "byte_fallback", "ignore_merges")})


@st.composite
def _merges(draw: st.DrawFn, mergeable: list[str], prefix: str) -> list[list[str]]:
    """Merges of the symbols and of what earlier merges made."""
    mergeable, merges = list(mergeable), []
    for _ in range(draw(st.integers(0, 10))):
        left, right = draw(st.sampled_from(mergeable)), draw(st.sampled_from(mergeable))
        # Hugging Face panics on a right half without the prefix.
        if right.startswith(prefix):
            merges.append([left, right])
            mergeable.append(left + right.removeprefix(prefix))
    return merges


@st.composite
def _numbered(draw: st.DrawFn, tokens: list[str]) -> dict[str, int]:
    """A vocabulary of the tokens; its ids are dense or begin later."""
    first = draw(st.sampled_from([0, 0, 0, 3]))
    return {token: first + place for place, token in enumerate(dict.fromkeys(tokens))}


@st.composite
def byte_bpes(draw: st.DrawFn) -> Json:
    """A BPE model over all bytes."""
    merges = draw(_merges([*"abc", "Ġ", *byte_level.to_chars("é日 ")], ""))
    tokens = [*byte_level.alphabet(), *map("".join, merges), *draw(words(["a", "b", "Ġ"]))]
    return {"type": "BPE", **draw(SWITCHES), "unk_token": None, "vocab": draw(_numbered(tokens)), "merges": merges}


@st.composite
def char_bpes(draw: st.DrawFn) -> Json:
    """A BPE model over characters, with an unknown token or without, marks inside words and at their ends."""
    chars = draw(st.lists(st.sampled_from(ALPHABET), unique=True, max_size=16))
    prefix, suffix = draw(st.sampled_from(["", "", "##"])), draw(st.sampled_from(["", "", "</w>"]))
    chars = [before + char + after for char in chars for before in {"", prefix} for after in {"", suffix}]
    symbols = ["<unk>", *sorted(chars)]
    merges = draw(_merges(symbols, prefix))
    merged = [left + right.removeprefix(prefix) for left, right in merges]
    tokens = [*symbols, *merged, *draw(words(["▁", "a", "b"])), *(BYTES if draw(st.booleans()) else [])]
    return {
        "type": "BPE",
        **draw(SWITCHES),
        "unk_token": draw(st.sampled_from([None, "<unk>", "<unk>"])),
        "continuing_subword_prefix": prefix or None,
        "end_of_word_suffix": suffix or None,
        "vocab": draw(_numbered(tokens)),
        "merges": merges,
    }


@st.composite
def dictionaries(draw: st.DrawFn) -> Json:
    """A WordPiece or a word-level model."""
    chars = draw(st.lists(st.sampled_from(ALPHABET), unique=True, max_size=16))
    tokens = ["[UNK]", *chars, *draw(words(["a", "b", "日", "▁", "é", "1"]))]
    prefix = draw(st.sampled_from(["##", "##", ""]))
    continued = [prefix + token for token in tokens[1:]]
    vocab = {token: place for place, token in enumerate(dict.fromkeys([*tokens, *continued]))}
    if draw(st.booleans()):
        return {"type": "WordLevel", "vocab": vocab, "unk_token": "[UNK]"}
    return {
        "type": "WordPiece",
        "vocab": vocab,
        "unk_token": "[UNK]",
        "continuing_subword_prefix": prefix,
        "max_input_chars_per_word": draw(st.sampled_from([100, 100, 5])),
    }


CHAR_BPES, BYTE_BPES = char_bpes(), byte_bpes()
