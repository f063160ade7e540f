"""Whatever loads, saves, and loads again as the same tokenizer.

Also where tokens share an id, ids have no token, keys or merges come twice, and added tokens take one another's ids.
"""

from __future__ import annotations

import json
import pickle
from typing import Any

from hypothesis import assume, example, given
from hypothesis import strategies as st

from lexmill import Tokenizer
from lexmill.errors import LexmillError

Vocab = list[tuple[str, int]]

TOKENS = [
    "a", "b", "c", "ab", "bc", "abc", "aa", "ba", "##a", "##b", "##ab", "a</w>", "b</w>", "ab</w>", "[UNK]", "Ġ", "Ġa",
    "é", "Ã", "©", "Ã©", "▁", "▁a", "▁▁", "<0xC3>", "<0xA9>", "", " ", "x y", '"', "\\", "\u2028", "日",
]  # fmt: skip
TEXTS = [
    "", "a", "abc aab", "b ab abab", "é日 é", "a [UNK] x", "<s>a<S>q", "aA aB", "  a  ", "ab" * 40, "▁a▁▁b",
    'x y\u2028"\\', "##a", "Ã©",
]  # fmt: skip
# Dense, with holes, shared, and far apart.
IDS = st.one_of(st.integers(0, 6), st.integers(0, 40), st.sampled_from([70_000, 2_000_000, 2**31, 2**32 - 1]))
VOCABS = st.lists(st.tuples(st.sampled_from(TOKENS), IDS), max_size=14)
UNKNOWN = st.sampled_from([None, "[UNK]", "a"])


def vocab_json(vocab: Vocab) -> str:
    """An object with keys that may come twice."""
    return "{" + ", ".join(f"{json.dumps(token)}: {token_id}" for token, token_id in vocab) + "}"


def model_json(options: dict[str, Any], vocab: Vocab) -> str:
    return json.dumps(options)[:-1] + f', "vocab": {vocab_json(vocab)}}}'


@st.composite
def bpe(draw: st.DrawFn) -> str:
    vocab = draw(VOCABS)
    tokens = dict(vocab)
    prefix = draw(st.sampled_from([None, None, "", "##"]))
    cut = len(prefix or "")
    pairs = [
        (left, right)
        for left in tokens
        for right in tokens
        if right.startswith(prefix or "") and left + right[cut:] in tokens
    ]
    merges = draw(st.lists(st.sampled_from(pairs), max_size=6)) if pairs else []
    options = {
        "type": "BPE",
        "unk_token": draw(UNKNOWN),
        "continuing_subword_prefix": prefix,
        "end_of_word_suffix": draw(st.sampled_from([None, None, "</w>"])),
        "fuse_unk": draw(st.booleans()),
        "byte_fallback": draw(st.booleans()),
        "ignore_merges": draw(st.booleans()),
        "merges": merges,
    }
    return model_json(options, vocab)


@st.composite
def words(draw: st.DrawFn) -> str:
    """WordPiece or word level."""
    options: dict[str, Any] = {"type": "WordLevel", "unk_token": draw(st.sampled_from(["[UNK]", "a"]))}
    if draw(st.booleans()):
        prefix = draw(st.sampled_from(["##", "", "a"]))
        options |= {"type": "WordPiece", "continuing_subword_prefix": prefix, "max_input_chars_per_word": 60}
    return model_json(options, draw(VOCABS))


@st.composite
def unigram(draw: st.DrawFn) -> str:
    scores = st.one_of(
        st.sampled_from([-1.0, -2.5, 0.0]), st.floats(-20, 0), st.floats(-1e-6, 0), st.floats(-1e300, 1e300)
    )
    pieces = draw(st.lists(st.tuples(st.sampled_from(TOKENS), scores), min_size=1, max_size=14))
    return json.dumps(
        {
            "type": "Unigram",
            "unk_id": draw(st.sampled_from([None, 0])),
            "byte_fallback": draw(st.booleans()),
            "vocab": pieces,
        }
    )


ADDED = st.fixed_dictionaries(
    {
        "id": st.integers(0, 30),
        "content": st.sampled_from([*TOKENS, "<s>", "<S>", "q"]),
        **{name: st.booleans() for name in ("single_word", "lstrip", "rstrip", "normalized", "special")},
    }
)
METASPACE = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}


def file(model: str, added: list[Any], normalizer: Any = None, pre_tokenizer: Any = None) -> str:
    parts = {"version": "1.0", "added_tokens": added, "normalizer": normalizer, "pre_tokenizer": pre_tokenizer}
    return json.dumps(parts)[:-1] + f', "model": {model}}}'


def behaviour(tokenizer: Tokenizer) -> list[Any]:
    """What a tokenizer answers: encodings or errors, and tokens and ids both ways."""
    found: list[Any] = []
    for text in TEXTS:
        try:
            encoding = tokenizer.encode(text)
            found.append((encoding.ids, encoding.tokens, encoding.offsets, tokenizer.decode(encoding.ids, False)))
        except LexmillError as error:
            found.append(str(error))
    vocab = tokenizer.get_vocab()
    return [*found, vocab, tokenizer.get_vocab_size(), [tokenizer.id_to_token(token_id) for token_id in vocab.values()]]


def added_token(content: str, token_id: int) -> dict[str, Any]:
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized", "special"), False)
    return {"id": token_id, "content": content, **flags}


SHARED = model_json({"type": "BPE", "merges": [["a", "b"]]}, [("a", 0), ("ab", 1), ("b", 3), ("[UNK]", 3)])
MOVED = model_json({"type": "WordLevel", "unk_token": "[UNK]"}, [("c", 1), ("ab", 0), ("c", 0)])
LEFT = model_json({"type": "WordLevel", "unk_token": "[UNK]"}, [("a", 1), ("b", 1), ("b", 0)])
LAST = model_json({"type": "BPE", "merges": [["a", ""], ["", ""], ["a", ""]]}, [("a", 1), ("", 2**32 - 1)])
TINY = json.dumps({"type": "Unigram", "unk_id": 0, "vocab": [["a", -4.5198189935506844e-07]]})
HOLES = model_json({"type": "WordLevel", "unk_token": "a"}, [("a", 0), ("abc", 2)])
TAKEN = [added_token("q", 2), added_token("<s>", 3), added_token("abc", 2)]


@given(
    model=st.one_of(bpe(), words(), unigram()),
    added=st.lists(ADDED, max_size=4),
    normalizer=st.sampled_from([None, {"type": "Lowercase"}, {"type": "Prepend", "prepend": "▁"}]),
    pre_tokenizer=st.sampled_from([None, {"type": "WhitespaceSplit"}, METASPACE, BYTE_LEVEL]),
)
@example(model=SHARED, added=[], normalizer=None, pre_tokenizer=None)
@example(model=MOVED, added=[], normalizer=None, pre_tokenizer=None)
@example(model=LEFT, added=[], normalizer=None, pre_tokenizer=None)
@example(model=LAST, added=[], normalizer=None, pre_tokenizer=None)
@example(model=TINY, added=[], normalizer=None, pre_tokenizer=None)
@example(model=HOLES, added=TAKEN, normalizer=None, pre_tokenizer=None)
def test_whatever_loads_is_saved_and_loads_the_same(
    model: str, added: list[Any], normalizer: Any, pre_tokenizer: Any
) -> None:
    try:
        tokenizer = Tokenizer.from_str(file(model, added, normalizer, pre_tokenizer))
    except LexmillError:
        assume(False)
        raise
    saved = tokenizer.to_str()
    again = Tokenizer.from_str(saved)
    assert behaviour(again) == behaviour(tokenizer)
    assert again.to_str() == saved
    assert pickle.loads(pickle.dumps(tokenizer)).to_str() == saved
    # Every id that a token has means a token.
    assert all(tokenizer.id_to_token(token_id) is not None for token_id in tokenizer.get_vocab().values())
