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

from hypothesis import settings
from hypothesis import strategies as st

from lexmill.reference.normalizers.charsmap import Charsmap
from lexmill.reference.tokenizer import Tokenizer
from peers import charsmap
from whole_engines import Engine, Input, Json
from whole_models import BYTE_BPES, CHAR_BPES, choice, dictionaries, unigrams

# The room is larger than that of other laws.
CASES = 20_000 if settings.get_current_profile_name() == "thorough" else settings.default.max_examples

FRAGMENTS = [
    "a", "b", "c", "ab", "abc", "x", "A", "B", "Ab", "the", " ", "  ", "   ", " a", "a ", "\n", "\r\n", "\t",
    "\u00a0", "\u3000", "\u2028", "\u200b", "é", "É", "e\u0301", "\u0301", "a\u0323\u0302", "\u0344", "ﬁ", "①",
    "½", "ß", "İ", "Σ", "각", "\u1100\u1161\u11a8", "日", "日本", "清𣂏瀑", "ー", "カ", "👩\u200d👧", "🙂",
    "🏽", "שלום", "Жы", "0", "12", "2024", "'s", "don't", "!", "?!", ".", ",", "_", "-", "--", "##a", "▁", "▁▁",
    "▁a", "<s>", "</s>", "[X]", "[x]", "Ġ", "\0", "\ufffd", "\x1f", "a" * 20, "日" * 9, "ab" * 12, " " * 9,
]  # fmt: skip
TEXTS = choice(
    st.lists(st.sampled_from(FRAGMENTS), max_size=3).map("".join),
    st.lists(st.sampled_from(FRAGMENTS), min_size=3, max_size=24).map("".join),
    # A few fragments over and over make the long runs that a wide choice never makes.
    st.lists(st.sampled_from(FRAGMENTS), min_size=1, max_size=3).flatmap(
        lambda few: st.lists(st.sampled_from(few), min_size=2, max_size=24).map("".join)
    ),
)

# Texts whose front, middle or whole is a rule of `RULES`.
RULES = ["a", "ab", "é", "e\u0301", "e", "\u0301", "ﬁ", "\r", "\r\n", "\n", "\t", "\u00a0", "\u3000", "①", "日", "½"]
REPLACEMENTS = ["", " ", "▁", "a", "ab", "x", "e\u0301", "日本"]
SHORT = ["▁", " ", "a", "é", "ab", "▁▁", "e\u0301", "x y", "_", "."]
LITERALS = [" ", "  ", "a", "b", "ab", "é", "▁", "-", ".", "\n", "日", "e\u0301"]
REGEXES = [r" {2,}", r"\s+", r"\s", r"\p{L}+", r"[^a]", r"▁|_", r"(?<=a)b", r"[0-9]", r".", r"\n"]
# These match nothing in places, so that text is put between characters.
NULLABLE = ["", r"a*", r" ?", r"\s*", r"^", r"(?<!\n)^", r"$", r"(?=b)"]
BEHAVIORS = ["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"]


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
PRECOMPILED = choice(
    st.sampled_from(RULE_SETS),
    st.dictionaries(st.sampled_from(RULES), st.sampled_from(REPLACEMENTS), min_size=1, max_size=4),
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
STAGES = choice(PLAIN, STRIPS, PREPENDS, REPLACES, PRECOMPILED, BERTS)


def _sequence(stages: list[Json]) -> Json:
    return {"type": "Sequence", "normalizers": stages}


NORMALIZERS = choice(
    st.none(),
    STAGES,
    st.lists(choice(PUBLISHED, STRIPS, PRECOMPILED, REPLACES), min_size=2, max_size=6).map(_sequence),
    st.lists(STAGES, max_size=4).map(_sequence),
)

# Stages that only lexmill has: SentencePiece's own way with its rules and with spaces.
OWN = choice(
    PRECOMPILED.map(lambda stage: {**stage, "match": "longest"}),
    st.fixed_dictionaries(
        {
            "type": st.just("SentencePiece"),
            "precompiled_charsmap": choice(st.none(), PRECOMPILED.map(lambda stage: stage["precompiled_charsmap"])),
            "user_defined_symbols": st.lists(st.sampled_from(["a", "ab", " a", "  ", "日本", "▁", ""]), max_size=3),
            "add_dummy_prefix": st.booleans(),
            "remove_extra_whitespaces": st.booleans(),
            "escape_whitespaces": st.booleans(),
            "treat_whitespace_as_suffix": st.booleans(),
        }
    ),
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
SINGLE_CUTS = st.sampled_from(
    [
        *({"type": name} for name in ("Whitespace", "WhitespaceSplit", "BertPreTokenizer", "UnicodeScripts")),
        *({"type": "Digits", "individual_digits": flag} for flag in (True, False)),
        *({"type": "Punctuation", "behavior": behavior} for behavior in BEHAVIORS),
        *({"type": "CharDelimiterSplit", "delimiter": char} for char in " a日"),
        *({"type": "FixedLength", "length": length} for length in (1, 3)),
    ]
)
CUTS = choice(SPLITS, SINGLE_CUTS, SINGLE_CUTS)


def _pre_tokenizers(*kinds: st.SearchStrategy[Json]) -> st.SearchStrategy[Json | None]:
    single = choice(*kinds)
    several = st.lists(single, max_size=3).map(lambda stages: {"type": "Sequence", "pretokenizers": stages})
    return choice(single, single, several)


CONTENTS = ["<s>", "</s>", "[X]", "a", "ab", "B", "É", "日", " ", "  ", "▁", "a b", "é", "12", "\n", "--", "Ġa", "<s"]


@st.composite
def added_tokens(draw: st.DrawFn) -> list[Json]:
    """Added tokens with any flags."""
    contents = draw(st.lists(st.sampled_from(CONTENTS), unique=True, min_size=1, max_size=4))
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


ARRANGERS = choice(
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
POST_PROCESSORS = choice(
    st.none(),
    BYTE_LEVELS,
    ARRANGERS,
    st.lists(choice(BYTE_LEVELS, BYTE_LEVELS, ARRANGERS), max_size=3).map(
        lambda stages: {"type": "Sequence", "processors": stages}
    ),
)
DECODER = choice(
    st.sampled_from([{"type": "ByteFallback"}, {"type": "Fuse"}, {"type": "BPEDecoder", "suffix": "</w>"}]),
    BYTE_LEVELS,
    METASPACES,
    st.builds(lambda cleanup: {"type": "WordPiece", "prefix": "##", "cleanup": cleanup}, st.booleans()),
    st.sampled_from(LITERALS).map(lambda text: {"type": "Replace", "pattern": {"String": text}, "content": " "}),
    # More than is there at both ends at once makes Hugging Face panic.
    st.builds(lambda char: {"type": "Strip", "content": char, "start": 1, "stop": 0}, st.sampled_from(" a▁")),
    st.just({"type": "CTC", "pad_token": "<pad>", "word_delimiter_token": "|", "cleanup": True}),
)
DECODERS = choice(
    st.none(), DECODER, st.lists(DECODER, max_size=4).map(lambda stages: {"type": "Sequence", "decoders": stages})
)


def _family(
    normalizer: st.SearchStrategy[Any], pre_tokenizer: st.SearchStrategy[Any], model: st.SearchStrategy[Json]
) -> st.SearchStrategy[tuple[Any, Any, Json]]:
    return st.tuples(normalizer, pre_tokenizer, model)


# Combinations that published tokenizers are made of, and last any with any.
FAMILIES = choice(
    _family(NORMALIZERS, _pre_tokenizers(METASPACES), unigrams()),
    _family(NORMALIZERS, _pre_tokenizers(METASPACES, CUTS), unigrams()),
    _family(NORMALIZERS, choice(st.none(), METASPACES), CHAR_BPES),
    _family(NORMALIZERS, _pre_tokenizers(BYTE_LEVELS, SPLITS), BYTE_BPES),
    _family(BERTS, st.just({"type": "BertPreTokenizer"}), dictionaries()),
    _family(
        NORMALIZERS,
        choice(st.none(), *[_pre_tokenizers(METASPACES, BYTE_LEVELS, CUTS)] * 3),
        choice(unigrams(), CHAR_BPES, BYTE_BPES, dictionaries()),
    ),
)


INPUTS = st.builds(Input, TEXTS, choice(*[st.none()] * 3, TEXTS), st.sampled_from([True, True, False]))

TRUNCATIONS = st.fixed_dictionaries(
    {
        "max_length": st.integers(0, 12),
        "stride": st.integers(0, 3),
        "strategy": st.sampled_from(["LongestFirst", "OnlyFirst", "OnlySecond"]),
        "direction": st.sampled_from(["Left", "Right"]),
    }
)
PADDINGS = st.fixed_dictionaries(
    {
        "strategy": st.sampled_from(["BatchLongest", {"Fixed": 9}]),
        "direction": st.sampled_from(["Left", "Right"]),
        "pad_to_multiple_of": st.sampled_from([None, 0, 4]),
        "pad_id": st.just(3),
        "pad_type_id": st.sampled_from([0, 2]),
        "pad_token": st.just("[PAD]"),
    }
)


@st.composite
def tokenizers(draw: st.DrawFn, *, own: bool) -> Json:
    """The `tokenizer.json` of a random tokenizer, and `encode_special_tokens`, which files do not have.

    `own` says whether stages may be in it that only lexmill has.
    """
    normalizer, pre_tokenizer, model = draw(FAMILIES)
    if own and draw(st.integers(0, 7)) == 0:
        normalizer = draw(choice(OWN, st.lists(choice(OWN, STAGES), min_size=2, max_size=3).map(_sequence)))
    is_limited = draw(st.integers(0, 3)) == 0
    return {
        "version": "1.0",
        "truncation": draw(choice(st.none(), TRUNCATIONS)) if is_limited else None,
        "padding": draw(choice(st.none(), PADDINGS)) if is_limited else None,
        "added_tokens": draw(choice(st.just([]), added_tokens())),
        "normalizer": normalizer,
        "pre_tokenizer": pre_tokenizer,
        "post_processor": draw(POST_PROCESSORS),
        "decoder": draw(DECODERS),
        "model": model,
        "encode_special_tokens": draw(st.sampled_from([False, False, False, True])),
    }


def stages(stage: Json | None, inner: str) -> list[Json]:
    """The stages of a sequence, or a single one, or none."""
    if stage is None:
        return []
    return [leaf for each in stage[inner] for leaf in stages(each, inner)] if inner in stage else [stage]


ARRANGING = ("TemplateProcessing", "BertProcessing", "RobertaProcessing")


def arrangers(spec: Json) -> list[Json]:
    """The post-processors that add special tokens."""
    return [stage for stage in stages(spec["post_processor"], "processors") if stage["type"] in ARRANGING]


def not_compared(spec: Json, engine: Engine) -> dict[str, str]:
    """What of a tokenizer an engine is not compared in, with the reason."""
    model = spec["model"]
    affixes = [model.get("continuing_subword_prefix"), model.get("end_of_word_suffix")]
    if model["type"] == "BPE" and model["byte_fallback"] and any(affixes):
        # Each byte of an affix moves offsets on by one, past the end of the pre-token. There Hugging Face answers with
        # places in the pre-token, or with places that the text does not have.
        return dict.fromkeys(("offsets", "overflowing"), "affixes are spelled by bytes")
    if len(arrangers(spec)) > 1 and not engine.takes_pairs:
        # A known defect: calls for ids alone forget special tokens that a later rule counts as text.
        return dict.fromkeys(("ids", "count"), "special tokens around special tokens")
    return {}


def known_defect(spec: Json) -> str | None:
    """Why a tokenizer is not compared at all, if it is not: what the core does wrong and is not mended yet."""
    for stage in stages(spec["normalizer"], "normalizers"):
        if stage["type"] == "Precompiled" and "match" in stage:
            rules = Charsmap(base64.b64decode(stage["precompiled_charsmap"]))
            if any(length == len("ab") for length, _ in rules.matches("ab")):
                return "rules of several ASCII characters are passed over where the longest goes first"
    return None


FORMS = ("NFC", "NFD", "NFKC", "NFKD")
TRANSFORMERS = (*FORMS, "BertNormalizer", "Lowercase", "Strip", "StripAccents", "ByteLevel", "Nmt", "Precompiled")


def beyond_the_peer(spec: Json) -> str | None:
    """Why a tokenizer is not compared with Hugging Face, if it is not."""
    is_inserted = False
    for stage in [*stages(spec["normalizer"], "normalizers"), *stages(spec["pre_tokenizer"], "pretokenizers")]:
        if stage["type"] == "Prepend":
            is_inserted |= stage["prepend"] == ""
        elif stage["type"] == "Replace":
            is_inserted |= next(iter(stage["pattern"].values())) in NULLABLE
        elif is_inserted and stage["type"] in TRANSFORMERS:
            return "text before the first character, then transformed: it panics, or repeats a character"
    if len(arrangers(spec)) > 1:
        return "special tokens around special tokens: it panics, or mixes types"
    reference = Tokenizer.from_dict(spec)
    forms = [reference.normalize(token["content"]) for token in spec["added_tokens"] if token["normalized"]]
    if "" in forms:
        return "an added token of which the normalizer leaves nothing: it is found everywhere"
    if len(set(forms)) < len(forms):
        return "two added tokens that normalize to one text: either is found, from run to run"
    return None
