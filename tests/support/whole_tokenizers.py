"""Random whole tokenizers as the files that describe them, and random texts for them.

Characters are those on which Hugging Face's tables (Unicode 8 to 9), Rust's and Python's agree, so that the reference,
which uses Python's, is comparable: `tests/parity/test_stages.py` compares all code points between the core and Hugging
Face.
"""

from __future__ import annotations

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

from lexmill.reference.byte_level import CHAR_TO_BYTE
from lexmill.reference.tokenizer import Tokenizer
from whole_engines import Input, Json
from whole_models import BYTE_BPES, CHAR_BPES, choice, dictionaries, unigrams
from whole_stages import (
    BERTS,
    BYTE_LEVELS,
    CUTS,
    DECODERS,
    METASPACES,
    NORMALIZERS,
    NULLABLE,
    OWN,
    OWN_DECODERS,
    PATTERN_SPLITS,
    PLANNED_BERTS,
    PLANNED_BYTE_LEVELS,
    PLANNED_METASPACES,
    PLANNED_RULES,
    PLANNED_SPACES,
    POST_PROCESSORS,
    SPLITS,
    STAGES,
    in_sequence,
    pre_tokenizers,
)

# The room is larger than that of other laws.
CASES = 20_000 if settings.get_current_profile_name() == "thorough" else settings.default.max_examples

FRAGMENTS = [
    "a", "b", "c", "ab", "abc", "x", "A", "B", "Ab", "the", " ", "  ", "   ", " a", "a ", "\n", "\r\n", "\t",
    "\u00a0", "\u3000", "\u2028", "\u200b", "é", "É", "e\u0301", "\u0301", "a\u0323\u0302", "\u0344", "ﬁ", "①",
    "½", "ß", "İ", "Σ", "각", "\u1100\u1161\u11a8", "日", "日本", "清𣂏瀑", "ー", "カ", "👩\u200d👧", "🙂",
    "🏽", "שלום", "Жы", "0", "12", "2024", "'s", "don't", "!", "?!", ".", ",", "_", "-", "--", "##a", "▁", "▁▁",
    "▁a", "<s>", "</s>", "[X]", "[x]", "Ġ", "\0", "\ufffd", "\x1f", "a" * 20, "日" * 9, "ab" * 12, " " * 9,
    "1234567",
]  # fmt: skip
BLANKS = [" ", " ", "  ", "   ", "\t", "\n", " \n"]
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


def _family(
    normalizer: st.SearchStrategy[Any], pre_tokenizer: st.SearchStrategy[Any], model: st.SearchStrategy[Json]
) -> st.SearchStrategy[tuple[Any, Any, Json]]:
    return st.tuples(normalizer, pre_tokenizer, model)


# Pre-tokenizers of random patterns, mostly before the mapping of bytes.
PATTERNED = st.builds(
    lambda stages, byte_level: {"type": "Sequence", "pretokenizers": [*stages, *byte_level]},
    st.lists(choice(PATTERN_SPLITS, PATTERN_SPLITS, CUTS), min_size=1, max_size=3),
    st.lists(PLANNED_BYTE_LEVELS.map(lambda stage: {**stage, "use_regex": False}), max_size=1),
)

# Combinations that published tokenizers are made of: first those for which the core has a plan of chunks, last any with
# any.
FAMILIES = choice(
    _family(PLANNED_RULES, PLANNED_METASPACES, unigrams()),
    _family(PLANNED_RULES, PLANNED_METASPACES, unigrams()),
    _family(PLANNED_BERTS, st.just({"type": "BertPreTokenizer"}), dictionaries()),
    _family(PLANNED_SPACES, st.none(), CHAR_BPES),
    _family(choice(st.none(), NORMALIZERS), PLANNED_BYTE_LEVELS, BYTE_BPES),
    _family(NORMALIZERS, pre_tokenizers(METASPACES), unigrams()),
    _family(NORMALIZERS, pre_tokenizers(METASPACES, CUTS), unigrams()),
    _family(NORMALIZERS, choice(st.none(), METASPACES), CHAR_BPES),
    _family(NORMALIZERS, pre_tokenizers(BYTE_LEVELS, SPLITS), BYTE_BPES),
    _family(choice(st.none(), NORMALIZERS), PATTERNED, BYTE_BPES),
    _family(choice(st.none(), NORMALIZERS), PATTERNED, choice(unigrams(), CHAR_BPES, BYTE_BPES, dictionaries())),
    _family(BERTS, st.just({"type": "BertPreTokenizer"}), dictionaries()),
    _family(
        NORMALIZERS,
        choice(st.none(), *[pre_tokenizers(METASPACES, BYTE_LEVELS, CUTS)] * 3),
        choice(unigrams(), CHAR_BPES, BYTE_BPES, dictionaries()),
    ),
)


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
        normalizer = draw(choice(OWN, st.lists(choice(OWN, STAGES), min_size=2, max_size=3).map(in_sequence)))
    is_limited = draw(st.integers(0, 3)) == 0
    return {
        "version": "1.0",
        "truncation": draw(choice(st.none(), TRUNCATIONS)) if is_limited else None,
        "padding": draw(choice(st.none(), PADDINGS)) if is_limited else None,
        "added_tokens": draw(choice(st.just([]), added_tokens())),
        "normalizer": normalizer,
        "pre_tokenizer": pre_tokenizer,
        "post_processor": draw(POST_PROCESSORS),
        "decoder": draw(choice(DECODERS, DECODERS, OWN_DECODERS) if own else DECODERS),
        "model": model,
        "encode_special_tokens": draw(st.sampled_from([False, False, False, True])),
    }


def texts(fragment: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Short texts, and longer ones of many fragments or of a few over and over, which a wide choice never makes."""
    few = st.lists(fragment, min_size=1, max_size=3).flatmap(
        lambda few: st.lists(st.sampled_from(few), min_size=2, max_size=24)
    )
    some = choice(st.lists(fragment, max_size=3), st.lists(fragment, min_size=3, max_size=24), few)
    return some.map("".join)


def texts_of(spec: Json) -> st.SearchStrategy[str]:
    """Texts in which the tokens of a tokenizer are frequent."""
    vocab = spec["model"]["vocab"]
    tokens = list(vocab) if isinstance(vocab, dict) else [piece for piece, _ in vocab]
    spelled = [token.removeprefix("##").removesuffix("</w>").replace("▁", " ") for token in tokens[-30:]]
    contents = [token["content"] for token in spec["added_tokens"]]
    own_fragment = choice(*map(st.sampled_from, filter(None, [spelled, contents, contents])))
    mixed = texts(choice(st.sampled_from(FRAGMENTS), st.sampled_from(FRAGMENTS), own_fragment))
    # Hardly any mixed text is without unknown characters, and chunks with these are never encoded by themselves.
    known = texts(choice(st.sampled_from(spelled), st.sampled_from(BLANKS)))
    return choice(mixed, mixed, known)


@st.composite
def cases(draw: st.DrawFn, *, own: bool) -> tuple[Json, list[Input]]:
    """A tokenizer, and texts or pairs in which its tokens are frequent."""
    spec = draw(tokenizers(own=own))
    text = texts_of(spec)
    given = st.builds(Input, text, choice(*[st.none()] * 3, text), st.sampled_from([True, True, False]))
    return spec, draw(st.lists(given, min_size=1, max_size=4))


def stages(stage: Json | None, inner: str) -> list[Json]:
    """The stages of a sequence, or a single one, or none."""
    if stage is None:
        return []
    return [leaf for each in stage[inner] for leaf in stages(each, inner)] if inner in stage else [stage]


def not_compared(spec: Json) -> dict[str, str]:
    """What of a tokenizer is not compared, with the reason."""
    left_out: dict[str, str] = {}
    model = spec["model"]
    affixes = [model.get("continuing_subword_prefix"), model.get("end_of_word_suffix")]
    if model["type"] == "BPE" and model["byte_fallback"] and any(affixes):
        # Each byte of an affix moves offsets on by one, past the end of the pre-token. There Hugging Face answers with
        # places in the pre-token, or with places that the text does not have.
        left_out |= dict.fromkeys(("offsets", "overflowing", "overflowing_rows"), "affixes are spelled by bytes")
    return left_out


def not_compared_with_the_peer(spec: Json) -> dict[str, str]:
    """The fields of an encoding that are not compared with Hugging Face, each with the reason."""
    left_out = not_compared(spec)
    decoders = stages(spec["decoder"], "decoders")
    contents = [token["content"] for token in spec["added_tokens"]]
    spelled = [content for content in contents if not content.isascii() and CHAR_TO_BYTE.keys() >= set(content)]
    if spelled and any(decoder["type"] == "ByteLevel" for decoder in decoders):
        left_out |= dict.fromkeys(("kept", "text"), "an added token that it decodes to other bytes")
    return left_out


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
    reference = Tokenizer.from_dict(spec)
    if len(set(reference.added.ids.values())) < len(reference.added.ids):
        return "two added tokens of one id, which the vocabulary has too: it spells the id by either of them"
    new = sorted(reference.added.tokens.keys() - {token_id for _, token_id in reference.vocab})
    if new and new != list(range(len(reference.vocab), len(reference.vocab) + len(new))):
        return "an added token and one of a vocabulary with holes: it gives both one id"
    forms = [reference.normalize(token["content"]) for token in spec["added_tokens"] if token["normalized"]]
    if "" in forms:
        return "an added token of which the normalizer leaves nothing: it is found everywhere"
    if len(set(forms)) < len(forms):
        return "two added tokens that normalize to one text: either is found, from run to run"
    return None
