"""Random whole tokenizers as the files that describe them, and random texts for them.

Characters are those on which Hugging Face's tables (Unicode 8 to 9), Rust's and Python's agree, so that the reference,
which uses Python's, is comparable: `tests/parity/test_stages.py` compares all code points between the core and Hugging
Face. Patterns are those that Oniguruma and the module `regex` read alike.
"""

from __future__ import annotations

import base64
import json
from functools import cache
from typing import Any

from hypothesis import strategies as st

from lexmill.reference import byte_level
from peers import charsmap

Json = dict[str, Any]

FRAGMENTS = [
    "a", "b", "c", "ab", "abc", "x", "A", "B", "Ab", "the", " ", "  ", "   ", " a", "a ", "\n", "\r\n", "\t",
    "\u00a0", "\u3000", "\u2028", "\u200b", "é", "É", "e\u0301", "\u0301", "a\u0323\u0302", "\u0344", "ﬁ", "①",
    "½", "ß", "İ", "Σ", "각", "\u1100\u1161\u11a8", "日", "日本", "清𣂏瀑", "ー", "カ", "👩\u200d👧", "🙂",
    "🏽", "שלום", "Жы", "0", "12", "2024", "'s", "don't", "!", "?!", ".", ",", "_", "-", "--", "##a", "▁", "▁▁",
    "▁a", "<s>", "</s>", "[X]", "[x]", "Ġ", "\0", "\ufffd", "\x1f", "a" * 20, "日" * 9, "ab" * 12, " " * 9,
]  # fmt: skip
TEXTS = st.one_of(
    st.lists(st.sampled_from(FRAGMENTS), max_size=10).map("".join),
    # A few fragments over and over make the long runs that a wide choice never makes.
    st.lists(st.sampled_from(FRAGMENTS), min_size=1, max_size=3).flatmap(
        lambda few: st.lists(st.sampled_from(few), max_size=16).map("".join)
    ),
)

# Texts whose front, middle or whole is a rule of `RULES`.
RULES = ["a", "ab", "é", "e\u0301", "e", "\u0301", "ﬁ", "\r", "\r\n", "\n", "\t", "\u00a0", "\u3000", "①", "日", "½"]
REPLACEMENTS = ["", " ", "▁", "a", "ab", "x", "e\u0301", "日本"]
SHORT = ["▁", " ", "a", "é", "ab", "▁▁", "e\u0301", "x y", "_", "."]
LITERALS = [" ", "  ", "a", "b", "ab", "é", "▁", "-", ".", "\n", "日", "e\u0301"]
REGEXES = [r" {2,}", r"\s+", r"\s", r"\p{L}+", r"[^a]", r"▁|_", r"(?<=a)b", r"[0-9]", r".", r"\n", r"(?<!\n)^"]
# These match nothing in places, so that text is put between characters.
NULLABLE = ["", r"a*", r" ?", r"\s*", r"^", r"$", r"(?=b)"]
BEHAVIORS = ["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"]
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]


@cache
def _blob(rules: str) -> str:
    return base64.b64encode(charsmap(json.loads(rules))).decode()


def precompiled(rules: dict[str, str]) -> Json:
    """A normalizer of these rules."""
    return {"type": "Precompiled", "precompiled_charsmap": _blob(json.dumps(rules))}


RULE_SETS = [
    {"\n": " ", "\t": " ", "\u3000": " ", "ﬁ": "fi", "①": "1"},
    {"e\u0301": "é", "\u00a0": " ", "½": "1/2", "日": "日本", "\r\n": ""},
    {"a": "", "\u0301": "", "é": "e"},
    {"a": "b", "ab": "x", "e": "ab", "\r": " "},
]  # fmt: skip
PATTERNS = st.sampled_from(
    [*({"String": text} for text in LITERALS), *({"Regex": regex} for regex in [*REGEXES, *NULLABLE])]
)
PLAIN = st.sampled_from([{"type": name} for name in ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt")])
STRIPS = st.builds(
    lambda left, right: {"type": "Strip", "strip_left": left, "strip_right": right}, st.booleans(), st.booleans()
)
PREPENDS = st.sampled_from([*SHORT, ""]).map(lambda text: {"type": "Prepend", "prepend": text})
REPLACES = st.builds(
    lambda pattern, content: {"type": "Replace", "pattern": pattern, "content": content},
    PATTERNS,
    st.sampled_from([*SHORT, ""]),
)
PRECOMPILED = st.sampled_from(RULE_SETS).map(precompiled) | st.dictionaries(
    st.sampled_from(RULES), st.sampled_from(REPLACEMENTS), min_size=1, max_size=4
).map(precompiled)
BERTS = st.builds(
    lambda clean, chinese, accents, lower: {
        "type": "BertNormalizer",
        "clean_text": clean,
        "handle_chinese_chars": chinese,
        "strip_accents": accents,
        "lowercase": lower,
    },
    *(st.booleans(), st.booleans(), st.sampled_from([None, True, False]), st.booleans()),
)
# What SentencePiece's models are converted to.
PUBLISHED = st.sampled_from(
    [
        {"type": "Strip", "strip_left": False, "strip_right": True},
        {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": "▁"},
        {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "},
        {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
        {"type": "Prepend", "prepend": "▁"},
        {"type": "NFKC"},
        {"type": "Lowercase"},
        *map(precompiled, RULE_SETS),
    ]
)
STAGES = st.one_of(PLAIN, STRIPS, PREPENDS, REPLACES, PRECOMPILED, BERTS)


def _sequence(stages: list[Json]) -> Json:
    return {"type": "Sequence", "normalizers": stages}


NORMALIZERS = st.one_of(
    st.none(),
    STAGES,
    st.lists(PUBLISHED | STRIPS | PRECOMPILED | REPLACES, min_size=1, max_size=5).map(_sequence),
    st.lists(STAGES, max_size=4).map(_sequence),
)

METASPACES = st.builds(
    lambda replacement, scheme, split: {
        "type": "Metaspace",
        "replacement": replacement,
        "prepend_scheme": scheme,
        "split": split,
    },
    st.sampled_from(["▁", "▁", "▁", "_", "a"]),
    st.sampled_from(["always", "first", "never"]),
    st.booleans(),
)
BYTE_LEVELS = st.builds(
    lambda prefix, trim, regex: {
        "type": "ByteLevel",
        "add_prefix_space": prefix,
        "trim_offsets": trim,
        "use_regex": regex,
    },
    *(st.booleans(), st.booleans(), st.booleans()),
)
SPLITS = st.builds(
    lambda pattern, behavior, invert: {"type": "Split", "pattern": pattern, "behavior": behavior, "invert": invert},
    *(PATTERNS, st.sampled_from(BEHAVIORS), st.booleans()),
)
CUTS = SPLITS | st.sampled_from(
    [
        *({"type": name} for name in ("Whitespace", "WhitespaceSplit", "BertPreTokenizer", "UnicodeScripts")),
        *({"type": "Digits", "individual_digits": flag} for flag in (True, False)),
        *({"type": "Punctuation", "behavior": behavior} for behavior in BEHAVIORS),
        *({"type": "CharDelimiterSplit", "delimiter": char} for char in " a日"),
        *({"type": "FixedLength", "length": length} for length in (1, 3)),
    ]
)


def _pre_tokenizers(*kinds: st.SearchStrategy[Json]) -> st.SearchStrategy[Json | None]:
    single = st.one_of(*kinds)
    several = st.lists(single, max_size=3).map(lambda stages: {"type": "Sequence", "pretokenizers": stages})
    return st.one_of(single, single, several)


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
    if draw(st.booleans()):
        pieces += BYTES
    if draw(st.integers(0, 9)) == 0:
        pieces += ["a", "▁a"]
    scores = draw(st.lists(st.sampled_from([-1.0, -2.0, -2.5, -4.0, 0.0]), min_size=4, max_size=8))
    vocab = [[piece, scores[place % len(scores)]] for place, piece in enumerate(pieces)]
    unk_id = draw(st.sampled_from([0, 0, 0, 0, 1 % len(vocab), None]))
    return {"type": "Unigram", "unk_id": unk_id, "vocab": vocab, "byte_fallback": draw(st.booleans())}


@st.composite
def bpes(draw: st.DrawFn, *, is_byte_level: bool) -> Json:
    """A BPE model over bytes, or over characters with an unknown token or without."""
    chars = draw(st.lists(st.sampled_from(ALPHABET), unique=True, max_size=16))
    symbols = byte_level.alphabet() if is_byte_level else ["<unk>", *chars]
    mergeable = [*"ab", "c", "Ġ", *byte_level.to_chars("é日 ")] if is_byte_level else symbols
    merges: list[list[str]] = []
    for _ in range(draw(st.integers(0, 10))):
        pair = [draw(st.sampled_from(mergeable)), draw(st.sampled_from(mergeable))]
        merges.append(pair)
        mergeable = [*mergeable, "".join(pair)]
    tokens = [*symbols, *map("".join, merges), *draw(words(["▁", "a", "b", "Ġ"]))]
    if draw(st.booleans()):
        tokens += BYTES
    return {
        "type": "BPE",
        "unk_token": draw(st.sampled_from([None, "<unk>", "<unk>"])) if not is_byte_level else None,
        "fuse_unk": draw(st.booleans()),
        "byte_fallback": draw(st.booleans()),
        "ignore_merges": draw(st.booleans()),
        "vocab": {token: place for place, token in enumerate(dict.fromkeys(tokens))},
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


CONTENTS = ["<s>", "</s>", "[X]", "a", "ab", "B", "É", "日", " ", "  ", "▁", "a b", "é", "12", "\n", "--", "Ġa", "<s"]


@st.composite
def added_tokens(draw: st.DrawFn) -> list[Json]:
    """Added tokens with any flags."""
    contents = draw(st.lists(st.sampled_from(CONTENTS), unique=True, max_size=4))
    flags = ["single_word", "lstrip", "rstrip", "normalized", "special"]
    return [
        {"id": place, "content": content, **{flag: draw(st.booleans()) for flag in flags}}
        for place, content in enumerate(contents)
    ]


CLS, SEP = ["[CLS]", 1], ["[SEP]", 2]
SPECIAL = {
    "[CLS]": {"id": "[CLS]", "ids": [1], "tokens": ["[CLS]"]},
    "[TWO]": {"id": "[TWO]", "ids": [2, 700], "tokens": ["t1", "t2"]},
}
TEMPLATES = [
    ("A0", "A0 B0"),
    ("[CLS]0 A0 [TWO]3", "[CLS]0 A0 [TWO]0 B1 [CLS]1"),
    ("A2 [TWO]1", "[TWO]0 B1 [CLS]0 A0"),
]  # fmt: skip


def template(single: str, pair: str) -> Json:
    """A template; each place is a name and one digit, the type."""

    def places(text: str) -> list[Json]:
        return [
            {"Sequence" if place[:-1] in ("A", "B") else "SpecialToken": {"id": place[:-1], "type_id": int(place[-1])}}
            for place in text.split()
        ]

    return {
        "type": "TemplateProcessing",
        "single": places(single),
        "pair": places(pair),
        "special_tokens": SPECIAL,
    }


ARRANGERS = st.one_of(
    st.sampled_from([template(*pair) for pair in TEMPLATES]),
    st.just({"type": "BertProcessing", "sep": SEP, "cls": CLS}),
    st.builds(
        lambda trim, prefix: {
            "type": "RobertaProcessing",
            "sep": SEP,
            "cls": CLS,
            "trim_offsets": trim,
            "add_prefix_space": prefix,
        },
        *(st.booleans(), st.booleans()),
    ),
)
POST_PROCESSORS = st.one_of(
    st.none(),
    BYTE_LEVELS,
    ARRANGERS,
    st.lists(BYTE_LEVELS | ARRANGERS, max_size=3).map(lambda stages: {"type": "Sequence", "processors": stages}),
)
DECODER = st.one_of(
    st.sampled_from([{"type": "ByteFallback"}, {"type": "Fuse"}, {"type": "BPEDecoder", "suffix": "</w>"}]),
    BYTE_LEVELS,
    METASPACES,
    st.builds(lambda cleanup: {"type": "WordPiece", "prefix": "##", "cleanup": cleanup}, st.booleans()),
    st.sampled_from(LITERALS).map(lambda text: {"type": "Replace", "pattern": {"String": text}, "content": " "}),
    # More than is there at both ends at once makes Hugging Face panic.
    st.builds(lambda char: {"type": "Strip", "content": char, "start": 1, "stop": 0}, st.sampled_from(" a▁")),
    st.just({"type": "CTC", "pad_token": "<pad>", "word_delimiter_token": "|", "cleanup": True}),
)
DECODERS = st.one_of(
    st.none(), DECODER, st.lists(DECODER, max_size=4).map(lambda stages: {"type": "Sequence", "decoders": stages})
)


def _family(
    normalizer: st.SearchStrategy[Any], pre_tokenizer: st.SearchStrategy[Any], model: st.SearchStrategy[Json]
) -> st.SearchStrategy[tuple[Any, Any, Json]]:
    return st.tuples(normalizer, pre_tokenizer, model)


CHAR_BPES, BYTE_BPES = bpes(is_byte_level=False), bpes(is_byte_level=True)
# Combinations that published tokenizers are made of, and last any with any.
FAMILIES = st.one_of(
    _family(NORMALIZERS, _pre_tokenizers(METASPACES), unigrams()),
    _family(NORMALIZERS, _pre_tokenizers(METASPACES, CUTS), unigrams()),
    _family(NORMALIZERS, st.none() | METASPACES, CHAR_BPES),
    _family(NORMALIZERS, _pre_tokenizers(BYTE_LEVELS, SPLITS), BYTE_BPES),
    _family(BERTS, st.just({"type": "BertPreTokenizer"}), dictionaries()),
    _family(
        NORMALIZERS,
        st.none() | _pre_tokenizers(METASPACES, BYTE_LEVELS, CUTS),
        unigrams() | CHAR_BPES | BYTE_BPES | dictionaries(),
    ),
)


@st.composite
def tokenizers(draw: st.DrawFn) -> Json:
    """The `tokenizer.json` of a random tokenizer, without truncation and padding."""
    normalizer, pre_tokenizer, model = draw(FAMILIES)
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": draw(st.just([]) | added_tokens()),
        "normalizer": normalizer,
        "pre_tokenizer": pre_tokenizer,
        "post_processor": draw(st.none() | POST_PROCESSORS),
        "decoder": draw(st.none() | DECODERS),
        "model": model,
    }
