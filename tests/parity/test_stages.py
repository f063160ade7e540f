"""Normalizers, Metaspace and decoders against Hugging Face `tokenizers`, on random options and random text."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import lexmill
from peers import assert_same_encoding, charsmap, tokenizer_file

pytestmark = pytest.mark.external

peer: Any = pytest.importorskip("tokenizers")

PIECES = [
    "a", "b", "ab", "A", "B", "Word", "é", "É", "ẞ", "ß", "İ", "\u017f", "Σ", "ς", "Ж", "ǅ", "K", "Å", "ﬁ", "㎏",
    "ﷺ", "①", " ", "  ", "   ", "\n", "\r\n", "\t", "\u00a0", "\u3000", "\u2028", "\u200b", "\x1f", "\x0b", "½", "ª",
    "▁", "▁▁", "_", "\0", "\ufffd", "\U0010ffff", "<s>", "</s>", "[X]", "[x]", "▁[X]", "e\u0301", "\u0301",
    "\u0323\u0307", "\u0344", "\u0f73", "\u0f71", "\u093c", "\u0958", "\u1abf", "\u05c9", "\u1cf2", "\u1100\u1161",
    "\uac00", "\u11a8", "中", "\uf900", "\U0002f800", "ｱ", "ﾞ", "\u3099", "\U0001e030", "👩\u200d👧", "🏽", "😀",
    "\ufe0f", "🇩🇪", "\u08d4", "\u0488", "\u2260", "\u1fef", "\u037e", "\u0903", "\u3400", "\U0002b820", "x.y",
]  # fmt: skip
SPACES = st.text(" \t\n\u00a0\u3000▁", max_size=4)
TEXTS = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=12).map("".join),
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=3).flatmap(
        lambda some: st.lists(st.sampled_from(some), max_size=40).map("".join)
    ),
    st.text(max_size=8),
    st.builds(lambda before, text, after: before + text + after, SPACES, st.sampled_from(["", "a", "é b"]), SPACES),
)
SHORT = st.sampled_from(["", "▁", " ", "a", "é", "ab", "▁▁", "e\u0301", "\0", "x y", "👩\u200d👧", "__", "."])
REGEXES = st.sampled_from(
    [
        r"\s+",
        r"\s",
        r"",
        r"a*",
        r" ?",
        r"\s*",
        r"^",
        r"$",
        r"\b",
        r"[^a]",
        r".",
        r"(?=a)",
        r"\p{L}+",
        r"▁|_",
        r"(?<=a)",
        r"\S+\z",
    ]
)
PATTERNS = st.one_of(SHORT.map(lambda text: {"String": text}), REGEXES.map(lambda regex: {"Regex": regex}))
REPLACES = st.builds(
    lambda pattern, content: {"type": "Replace", "pattern": pattern, "content": content}, PATTERNS, SHORT
)
STRIPS = st.builds(
    lambda left, right: {"type": "Strip", "strip_left": left, "strip_right": right}, st.booleans(), st.booleans()
)
PREPENDS = SHORT.map(lambda text: {"type": "Prepend", "prepend": text})
# Parts of clusters, so that rules match at their front, in their middle, or all of them.
RULES = st.sampled_from(
    ["a", "ab", "é", "e\u0301", "e", "\u0301", "ﬁ", "\r", "\r\n", "\u00a0", "ﷺ", "①", "中", "\u0323\u0307"]
)


def precompiled(rules: dict[str, str]) -> dict[str, str]:
    """A normalizer of the given rules."""
    return {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(charsmap(rules)).decode()}


KINDS: dict[str, st.SearchStrategy[Any]] = {
    **{name: st.just({"type": name}) for name in ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt")},
    "BertNormalizer": st.builds(
        lambda clean, chinese, accents, lower: {
            "type": "BertNormalizer",
            "clean_text": clean,
            "handle_chinese_chars": chinese,
            "strip_accents": accents,
            "lowercase": lower,
        },
        st.booleans(),
        st.booleans(),
        st.sampled_from([None, True, False]),
        st.booleans(),
    ),
    "Strip": STRIPS,
    "Prepend": PREPENDS,
    "Replace": REPLACES,
    "Precompiled": st.dictionaries(RULES, SHORT | st.text("xyz", max_size=3), min_size=1, max_size=8).map(precompiled),
}
NORMALIZERS = st.one_of(*KINDS.values())
NORMALIZER = st.one_of(
    st.none(),
    NORMALIZERS,
    st.lists(NORMALIZERS, max_size=4).map(lambda stages: {"type": "Sequence", "normalizers": stages}),
)
METASPACES = st.builds(
    lambda replacement, scheme, split: {
        "type": "Metaspace",
        "replacement": replacement,
        "prepend_scheme": scheme,
        "split": split,
    },
    st.sampled_from(["▁", "_", " ", "a", "👧"]),
    st.sampled_from(["always", "never", "first"]),
    st.booleans(),
)
BYTE_LEVEL = {"type": "ByteLevel", "trim_offsets": True}
OTHER_PRE_TOKENIZERS = st.sampled_from(
    [
        *(
            {**BYTE_LEVEL, "add_prefix_space": prefix, "use_regex": regex}
            for prefix in (True, False)
            for regex in (True, False)
        ),
        {"type": "BertPreTokenizer"},
        {"type": "WhitespaceSplit"},
        {"type": "Punctuation", "behavior": "Isolated"},
        {"type": "CharDelimiterSplit", "delimiter": "a"},
        {"type": "UnicodeScripts"},
        {"type": "FixedLength", "length": 3},
        {"type": "Split", "pattern": {"Regex": r"\s"}, "behavior": "MergedWithPrevious", "invert": False},
    ]
)
PRE_TOKENIZER = st.one_of(
    st.none(),
    METASPACES,
    st.lists(st.one_of(METASPACES, OTHER_PRE_TOKENIZERS), max_size=3).map(
        lambda stages: {"type": "Sequence", "pretokenizers": stages}
    ),
)
ADDED = [
    {"content": "<s>", "normalized": False, "special": True},
    {"content": "</s>", "normalized": False, "rstrip": True, "special": False},
    {"content": "[X]", "normalized": True, "lstrip": True, "special": False},
]
FLAGS = {"single_word": False, "lstrip": False, "rstrip": False}
CHARACTERS = sorted({"a", "b", "▁", "_", " ", "é", "e", "\u0301", "x", "f", "i", "Ġ", "Ã", "©", "ab"})
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]


NULLABLE = ["", r"a*", r" ?", r"\s*", r"^", r"$", r"\b", r"(?=a)"]


def flat(stage: Any) -> list[Any]:
    """The stages of a sequence, or a single one, or none."""
    inner = (stage or {}).get("normalizers", (stage or {}).get("pretokenizers"))
    return [leaf for each in inner for leaf in flat(each)] if inner is not None else [stage] if stage else []


def is_beyond_the_peer(normalizer: Any, pre_tokenizer: Any) -> bool:
    """Whether text may be put before the first character, and then be transformed.

    There the other library takes its own place for the characters' and panics, or repeats a character.
    """
    inserted = False
    for stage in [*flat(normalizer), *flat(pre_tokenizer)]:
        if stage["type"] == "Prepend":
            inserted |= stage["prepend"] == ""
        elif stage["type"] == "Replace":
            inserted |= next(iter(stage["pattern"].values())) in NULLABLE
        elif inserted and stage["type"] in (
            "NFC",
            "NFD",
            "NFKC",
            "NFKD",
            "BertNormalizer",
            "Lowercase",
            "Strip",
            "StripAccents",
            "ByteLevel",
            "Nmt",
            "Precompiled",
        ):
            return True
    return False


def definition(normalizer: Any, pre_tokenizer: Any, added: bool) -> str:
    """A file whose tokens are single characters, bytes, and two merges."""
    vocab = ["<unk>", *BYTES, *CHARACTERS, "▁a", "▁▁"]
    tokens = [{"id": len(vocab) + at, **FLAGS, **token} for at, token in enumerate(ADDED if added else [])]
    model = {
        "type": "BPE",
        "unk_token": "<unk>",
        "fuse_unk": True,
        "byte_fallback": True,
        "vocab": {token: at for at, token in enumerate(vocab)},
        "merges": [["a", "b"], ["▁", "a"], ["▁", "▁"]],
    }
    parts = {"version": "1.0", "added_tokens": tokens, "normalizer": normalizer, "pre_tokenizer": pre_tokenizer}
    return json.dumps({**parts, "post_processor": None, "decoder": None, "model": model})


@given(text=TEXTS, normalizer=NORMALIZER, pre_tokenizer=PRE_TOKENIZER, added=st.booleans())
def test_random_stages_encode_alike(text: str, normalizer: Any, pre_tokenizer: Any, added: bool) -> None:
    assume(not is_beyond_the_peer(normalizer, pre_tokenizer))
    file = definition(normalizer, pre_tokenizer, added)
    ours, theirs = lexmill.Tokenizer.from_str(file), peer.Tokenizer.from_str(file)
    assert json.loads(ours.to_str()) == json.loads(theirs.to_str())
    # An added token of which nothing is left is found everywhere there, even inside characters, and nowhere here.
    assume(not added or normalizer is None or theirs.normalizer.normalize_str("[X]"))
    own, other = ours.encode(text), theirs.encode(text)
    assert_same_encoding(own, other, text, ("tokens", "ids", "offsets", "word_ids"))
    # Without offsets another path is taken.
    assert ours.encode_batch_ids([text]) == [other.ids]
    words = text.split(" ")
    own, other = (tokenizer.encode(words, is_pretokenized=True) for tokenizer in (ours, theirs))
    assert_same_encoding(own, other, text, ("tokens", "ids", "offsets", "word_ids"))


UNIGRAM_PIECES = ["▁", "a", "b", "▁a", "é", "中", "_", "x", "ab", "e\u0301", "中é", "▁中", "f", "i"]


@given(
    text=TEXTS,
    normalizer=NORMALIZER,
    pre_tokenizer=METASPACES,
    own=st.booleans(),
    pieces=st.lists(st.sampled_from(UNIGRAM_PIECES), unique=True, max_size=8),
)
def test_bytes_of_unknown_text_have_the_same_offsets(
    text: str, normalizer: Any, pre_tokenizer: Any, own: bool, pieces: list[str]
) -> None:
    assume(not is_beyond_the_peer(normalizer, pre_tokenizer))
    # Half of the time a form that is cut into parts which the cache knows.
    pre_tokenizer = {**pre_tokenizer, **({"replacement": "▁", "split": True} if own else {})}
    file = json.loads(definition(normalizer, pre_tokenizer, added=False))
    vocab = [[piece, -float(at)] for at, piece in enumerate(["<unk>", *pieces, *BYTES])]
    file["model"] = {"type": "Unigram", "unk_id": 0, "vocab": vocab, "byte_fallback": True}
    ours, theirs = (library.Tokenizer.from_str(json.dumps(file)) for library in (lexmill, peer))
    other = theirs.encode(text)
    # What the cache answers, and several texts at once.
    for own_encoding in [ours.encode(text), ours.encode(text), *ours.encode_batch([text, text])]:
        assert_same_encoding(own_encoding, other, text, ("tokens", "ids", "offsets", "word_ids"))


@pytest.mark.parametrize("kind", KINDS)
@given(text=TEXTS, data=st.data())
def test_random_normalizers_make_the_same_text(kind: str, text: str, data: st.DataObject) -> None:
    state = json.dumps(data.draw(KINDS[kind])).encode()
    ours, theirs = lexmill.normalizers.NFC(), peer.normalizers.NFC()
    ours.__setstate__(state)
    theirs.__setstate__(state)
    assert ours.normalize_str(text) == theirs.normalize_str(text)


@given(text=TEXTS, pre_tokenizer=METASPACES)
def test_random_metaspaces_cut_alike(text: str, pre_tokenizer: Any) -> None:
    file = definition(None, pre_tokenizer, added=False)
    ours, theirs = lexmill.Tokenizer.from_str(file), peer.Tokenizer.from_str(file)
    assert ours.pre_tokenizer.pre_tokenize_str(text) == theirs.pre_tokenizer.pre_tokenize_str(text)
    assert repr(ours.pre_tokenizer) == repr(theirs.pre_tokenizer)


DECODERS = st.one_of(
    st.sampled_from(
        [{"type": "ByteFallback"}, {"type": "Fuse"}, {**BYTE_LEVEL, "add_prefix_space": True, "use_regex": True}]
    ),
    # More than one at both ends at once makes the other library panic on tokens that are used up.
    st.builds(
        lambda content, start: {"type": "Strip", "content": content, "start": start, "stop": 0},
        st.sampled_from(" a▁é"),
        st.integers(0, 3),
    ),
    METASPACES,
    SHORT.map(lambda suffix: {"type": "BPEDecoder", "suffix": suffix}),
    st.builds(
        lambda pad, word, cleanup: {
            "type": "CTC",
            "pad_token": pad,
            "word_delimiter_token": word,
            "cleanup": cleanup,
        },
        st.sampled_from(["", "a", "<pad>", "ab"]),
        st.sampled_from(["", "|", "a"]),
        st.booleans(),
    ),
    st.builds(
        lambda prefix, cleanup: {"type": "WordPiece", "prefix": prefix, "cleanup": cleanup},
        st.sampled_from(["##", "a", ""]),
        st.booleans(),
    ),
    REPLACES,
)
DECODER = st.one_of(
    DECODERS, st.lists(DECODERS, max_size=4).map(lambda stages: {"type": "Sequence", "decoders": stages})
)
WORDS = st.sampled_from(
    ["##a", "####", "##", "n't", " n't", "'s", " 's", ".", " .", "'", " ' ", "do not", " do not x", "?"]
)
BYTE_TOKENS = st.one_of(
    st.sampled_from(["<0xE2>", "<0x96>", "<0x81>", "<0xF0>", "<0x1>", "<0x+A>", "<0x>>", "<0xé>", "<0xg0>"]),
    st.sampled_from(BYTES),
)
TOKENS = st.lists(
    st.one_of(
        TEXTS,
        BYTE_TOKENS,
        BYTE_TOKENS,
        st.sampled_from(["a</w>", "Ġa", "Ã", "©", "<pad>", "|", " .", " n't", " do not", " ' s"]),
        WORDS,
    ),
    max_size=12,
)


@given(tokens=TOKENS, decoder=DECODER)
def test_random_decoders_decode_alike(tokens: list[str], decoder: Any) -> None:
    state = json.dumps(decoder).encode()
    ours, theirs = lexmill.decoders.Sequence([]), peer.decoders.Sequence([])
    ours.__setstate__(state)
    theirs.__setstate__(state)
    assert ours.decode(tokens) == theirs.decode(tokens)


SUFFIXES = st.builds(
    lambda start, stop: {"type": "Strip", "content": "x", "start": start, "stop": stop},
    st.integers(0, 2),
    st.integers(0, 2),
)


@given(tokens=st.lists(st.text("xy", min_size=1).map(lambda text: f"{text}yxxxx"), max_size=4), decoder=SUFFIXES)
def test_both_ends_are_stripped_alike(tokens: list[str], decoder: Any) -> None:
    state = json.dumps(decoder).encode()
    ours, theirs = lexmill.decoders.Strip(), peer.decoders.Strip()
    ours.__setstate__(state)
    theirs.__setstate__(state)
    assert ours.decode(tokens) == theirs.decode(tokens)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt", "BertNormalizer"])
def test_every_code_point_is_normalized_alike(name: str) -> None:
    ours, theirs = getattr(lexmill.normalizers, name)(), getattr(peer.normalizers, name)()
    codes = [code for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    for start in range(0, len(codes), 256):
        for context in ("?", "a?", "?\u0301", "a\u0323?\u0307", "\u1100?\u11a8"):
            text = "\n".join(context.replace("?", chr(code)) for code in codes[start : start + 256])
            assert ours.normalize_str(text) == theirs.normalize_str(text)


@pytest.mark.slow
def test_every_code_point_is_cut_by_script_alike() -> None:
    codes = [code for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    ours, theirs = lexmill.pre_tokenizers.UnicodeScripts(), peer.pre_tokenizers.UnicodeScripts()
    for start in range(0, len(codes), 4096):
        for context in ("?", "a?", "?я", "中?"):
            text = "".join(context.replace("?", chr(code)) for code in codes[start : start + 4096])
            assert ours.pre_tokenize_str(text) == theirs.pre_tokenize_str(text)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["t5-small", "c4-t5-default", "opus-mt-en-mg", "spm-test-en"])
def test_every_code_point_follows_published_rules_alike(name: str) -> None:
    """Alone and beside marks; what the rules make, and what it stands for."""
    file = json.loads(tokenizer_file(name).read_text(encoding="utf-8"))
    state = next(stage for stage in flat(file["normalizer"]) if stage["type"] == "Precompiled")
    definition_ = definition(state, None, added=False)
    ours, theirs = lexmill.Tokenizer.from_str(definition_), peer.Tokenizer.from_str(definition_)
    codes = [code for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    for start in range(0, len(codes), 1024):
        for context in ("?", "a?", "?\u0301b"):
            text = "x".join(context.replace("?", chr(code)) for code in codes[start : start + 1024])
            assert_same_encoding(ours.encode(text), theirs.encode(text), text, ("tokens", "ids", "offsets"))
