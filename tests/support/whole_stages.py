"""Random normalizers, pre-tokenizers, post-processors and decoders as files describe them.

Patterns are those that Oniguruma and the module `regex` read alike.
"""

from __future__ import annotations

import base64
import json
from functools import cache

from hypothesis import strategies as st

from peers import charsmap
from whole_engines import Json
from whole_models import choice

# Texts whose front, middle or whole is a rule of `RULES`.
RULES = ["a", "ab", "é", "e\u0301", "e", "\u0301", "ﬁ", "\r", "\r\n", "\n", "\t", "\u00a0", "\u3000", "①", "日", "½"]
REPLACEMENTS = ["", " ", "▁", "a", "ab", "x", "e\u0301", "日本"]
SHORT = ["▁", " ", "a", "é", "ab", "▁▁", "e\u0301", "x y", "_", "."]
LITERALS = [" ", "  ", "a", "b", "ab", "é", "▁", "-", ".", "\n", "日", "e\u0301"]
REGEXES = [r" {2,}", r"\s+", r"\s", r"\p{L}+", r"[^a]", r"▁|_", r"(?<=a)b", r"[0-9]", r".", r"\n"]
# These match nothing in places, so that text is put between characters.
NULLABLE = ["", r"a*", r" ?", r"\s*", r"^", r"(?<!\n)^", r"$", r"(?=b)"]
# The parts of published splitting patterns: words, numbers, symbols and white space, each in several spellings.
SETS = [
    r"\p{L}", r"\p{N}", r"[^\s\p{L}\p{N}]", r"\s", r"\S", r"[A-Za-z]", r"[\p{L}\p{M}]", r"[\r\n]", r"[0-9]",
    r"\p{Lu}", r"\p{Ll}", r"\p{P}", r"[日本]", r"[^\r\n\p{L}\p{N}]", r"[^(\s|.,!?)]", "'", " ", "a",
]  # fmt: skip
REPEATS = ["", "", "?", "+", "+", "*", "++", "{1,3}", "{2}", "+?"]
FRONTS = ["", "", " ?", r"\s?", r"[^\r\n\p{L}\p{N}]?", "'"]
ENDS = [
    "",
    "",
    "",
    r"(?!\S)",
    "$",
    r"[\r\n]*",
    r"(?=\s)",
    r"(?!\p{L})",
    r"(?=(?:[0-9]{3})*(?![0-9]))",
    r"(?<=a)",
    r"(?=ab)",
]
CONTRACTIONS = [r"(?i:'s|'t|'re|'ve|'m|'ll|'d)", r"'(?:[sdmt]|ll|ve|re)"]
BLANKS = [r"\s+(?!\S)", r"\s*[\r\n]+", r"\s+", r"\s"]
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
PLAIN = st.sampled_from(
    [{"type": name} for name in ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt", "ByteLevel")]
)
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


def in_sequence(stages: list[Json]) -> Json:
    return {"type": "Sequence", "normalizers": stages}


NORMALIZERS = choice(
    st.none(),
    STAGES,
    st.lists(choice(PUBLISHED, STRIPS, PRECOMPILED, REPLACES), min_size=2, max_size=6).map(in_sequence),
    st.lists(STAGES, max_size=4).map(in_sequence),
)

# Stages for which the core has a plan of chunks, so that its fast paths are met as often as its slow one.
PLANNED_BERTS = BERTS.map(lambda stage: {**stage, "clean_text": True, "handle_chinese_chars": True})
SHOWN_SPACES: Json = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
PLANNED_SPACES = st.sampled_from(
    [SHOWN_SPACES, in_sequence([SHOWN_SPACES]), in_sequence([{"type": "Prepend", "prepend": "▁"}, SHOWN_SPACES])]
)
JOINED_SPACES = st.sampled_from("▁ ").map(
    lambda content: {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": content}
)
PLANNED_RULES = choice(
    st.none(),
    PRECOMPILED,
    st.lists(choice(PUBLISHED, PRECOMPILED), min_size=1, max_size=3).map(in_sequence),
    st.tuples(choice(PRECOMPILED, PLAIN), JOINED_SPACES).map(list).map(in_sequence),
)

# Stages that only lexmill has: SentencePiece's own way with its rules and with spaces.
OWN_RULES = st.fixed_dictionaries(
    {
        "type": st.just("SentencePiece"),
        "precompiled_charsmap": choice(st.none(), PRECOMPILED.map(lambda stage: stage["precompiled_charsmap"])),
        "user_defined_symbols": st.lists(st.sampled_from(["a", "ab", " a", "  ", "日本", "▁", ""]), max_size=3),
        "add_dummy_prefix": st.booleans(),
        "remove_extra_whitespaces": st.booleans(),
        "escape_whitespaces": st.booleans(),
        "treat_whitespace_as_suffix": st.booleans(),
    }
)
METASPACE_NORMALIZERS = st.builds(
    lambda replacement, scheme, drop: {
        "type": "MetaspaceNormalizer",
        "replacement": replacement,
        "prepend": scheme,
        "drop_whitespace": drop,
    },
    st.sampled_from(["▁", "▁", "▁", "_", "a"]),
    st.sampled_from(["always", "first", "never"]),
    st.booleans(),
)
OWN = choice(PRECOMPILED.map(lambda stage: {**stage, "match": "longest"}), OWN_RULES, METASPACE_NORMALIZERS)

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
PLANNED_METASPACES = st.sampled_from(
    [
        {
            "type": "Sequence",
            "pretokenizers": [
                *before,
                {"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": True},
            ],
        }
        for before, scheme in (([], "always"), ([], "never"), ([{"type": "WhitespaceSplit"}], "always"))
    ]
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
PLANNED_BYTE_LEVELS = BYTE_LEVELS.map(lambda stage: {**stage, "add_prefix_space": False, "use_regex": True})
SPLITS = st.builds(
    lambda pattern, behavior, invert: {"type": "Split", "pattern": pattern, "behavior": behavior, "invert": invert},
    *(PATTERNS, st.sampled_from(BEHAVIORS), st.booleans()),
)
ALTERNATIVES = choice(
    st.builds("{}{}{}{}".format, *map(st.sampled_from, (FRONTS, SETS, REPEATS, ENDS))),
    st.sampled_from([*CONTRACTIONS, *BLANKS]),
)
# Splits by patterns from the grammar of published ones.
PATTERN_SPLITS = st.builds(
    lambda alternatives, behavior, invert: {
        "type": "Split",
        "pattern": {"Regex": "|".join(alternatives)},
        "behavior": behavior,
        "invert": invert,
    },
    st.lists(ALTERNATIVES, min_size=1, max_size=5),
    st.sampled_from(["Isolated", "Isolated", *BEHAVIORS]),
    st.sampled_from([False, False, True]),
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


def pre_tokenizers(*kinds: st.SearchStrategy[Json]) -> st.SearchStrategy[Json | None]:
    single = choice(*kinds)
    several = st.lists(single, max_size=3).map(lambda stages: {"type": "Sequence", "pretokenizers": stages})
    return choice(single, single, several)


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
# The decoder that only lexmill has.
OWN_DECODERS = st.fixed_dictionaries(
    {
        "type": st.just("SentencePiece"),
        "unk_token": st.sampled_from([None, "<unk>", "a"]),
        "unk_surface": st.sampled_from([" \u2047 ", "", "▁a"]),
        "byte_fallback": st.booleans(),
        "add_dummy_prefix": st.booleans(),
        "remove_extra_whitespaces": st.booleans(),
        "denormalizer": choice(st.none(), OWN_RULES),
    }
)
DECODERS = choice(
    st.none(), DECODER, st.lists(DECODER, max_size=4).map(lambda stages: {"type": "Sequence", "decoders": stages})
)
