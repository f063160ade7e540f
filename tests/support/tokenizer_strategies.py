"""Random small tokenizers as plain data, and how to build them with any library of Hugging Face's names."""

from __future__ import annotations

import unicodedata
from types import ModuleType
from typing import Any

from hypothesis import strategies as st

from lexmill.reference import byte_level

Spec = dict[str, Any]

FRAGMENTS = [
    "a", "b", "c", "ab", "abc", "bc", "ba", "x", " ", "  ", " a", "a ", "\n", "\r\n", "\t", "\u00a0", "\u3000",
    "\u2028",
    "é", "e\u0301", "e", "\u0301", "a\u0323\u0308", "\u0344", "o\u0327\u0301", "각", "\u1100\u1161\u11a8", "\u0958",
    "日", "日本", "👨\u200d👩\u200d👧", "🙂", "שלום", "مر", "0", "12", "2024", "١٢", "²", "½", "'s", "'LL",
    "don't", "!", "?!",
    "¿", "_", "$", "-", "--", "<s>", "</s>", "[X]", "N", "M", "Ġ", "Ċ", "\x00", "\ufffd", "ǆ", "a" * 30,
    "ab" * 20, " " * 9,
]  # fmt: skip

CONTENTS = [
    "<s>", "</s>", "[X]", "a", "b", "ab", "abc", "bc", "cde", "N", "M", " ", "  ", " a", "a b", "é", "e\u0301", "日",
    "Ġ",
    "Ġa", "<s", "s>", "", "12", "\n", "x\u0301", "--", "zz",
]  # fmt: skip

BYTE_SYMBOLS = [*"ab", "c", "Ġ", "Ċ", *byte_level.to_chars("é日 \u0301"), "1", "2", "'", "s", "<"]
TEXTS = st.lists(st.sampled_from(FRAGMENTS), max_size=8).map("".join) | st.text(max_size=6)
FLAGS = ["single_word", "lstrip", "rstrip", "normalized", "special"]
BEHAVIORS = ["removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"]
LITERALS = [" ", "a", "b", "ab", "é", "Ġ", "-", "", "."]
REGEXES = [
    r"\s+", r"\d", r"\d{1,3}", r"[0-9][0-9][0-9]", r"\p{L}+", r"[^\s]+", r"a|b", r"(?=b)", r"x*", r"\b", r"^", r"$",
    r"Ġ", r" ?\p{L}+|\s+(?!\S)|\s+", r"(?i:'s|'t|'ll)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}", r".", r"\w+|[^\w\s]+",
]  # fmt: skip


@st.composite
def models(draw: st.DrawFn) -> Spec:
    """A BPE model over bytes or over characters; its ids are dense or have holes."""
    options: Spec = {}
    if draw(st.booleans()):
        symbols = byte_level.alphabet()
        mergeable = list(BYTE_SYMBOLS)
    else:
        symbols, mergeable, options = draw(char_symbols())
    prefix = options.get("continuing_subword_prefix") or ""
    tokens, merges = list(symbols), []
    for _ in range(draw(st.integers(0, 12))):
        left, right = draw(st.sampled_from(mergeable)), draw(st.sampled_from(mergeable))
        merged = left + right.removeprefix(prefix)
        # The peer panics on a merge longer than every token, or on a right half without the prefix.
        if right.startswith(prefix):
            merges.append((left, right))
            mergeable.append(merged)
            tokens.append(merged)
    tokens = list(dict.fromkeys([*tokens, *draw(st.lists(st.sampled_from(CONTENTS[:-6]), max_size=3))]))
    start, hole = draw(st.sampled_from([(0, 0), (0, 0), (0, 0), (3, 0), (0, 5)]))
    # The byte alphabet goes without saying, so that a failing example can be read.
    more = tokens[len(symbols) :] if not options else tokens
    return {"bytes": not options, "tokens": more, "start": start, "hole": hole, "merges": merges, "options": options}


def model(library: ModuleType, spec: Spec) -> Any:
    """Builds the model of `library`."""
    tokens = byte_level.alphabet() + spec["tokens"] if spec["bytes"] else spec["tokens"]
    middle = len(tokens) // 2
    vocab = {token: spec["start"] + at + (spec["hole"] if at > middle else 0) for at, token in enumerate(tokens)}
    return library.models.BPE(vocab=vocab, merges=spec["merges"], **spec["options"])


@st.composite
def char_symbols(draw: st.DrawFn) -> tuple[list[str], list[str], Spec]:
    options: Spec = {
        "unk_token": draw(st.sampled_from([None, "<unk>", "a"])),
        "fuse_unk": draw(st.booleans()),
        "byte_fallback": draw(st.booleans()),
        "ignore_merges": draw(st.booleans()),
        "continuing_subword_prefix": draw(st.sampled_from([None, None, "", "##"])),
        "end_of_word_suffix": draw(st.sampled_from([None, None, "", "</w>"])),
    }
    prefix = options["continuing_subword_prefix"] or ""
    suffix = options["end_of_word_suffix"] or ""
    options = {name: value for name, value in options.items() if value is not None}
    chars = [before + char + after for char in "abé1 " for before in {"", prefix} for after in {"", suffix}]
    chars = sorted(chars)
    bytes_ = [f"<0x{byte:02X}>" for byte in "é日\u0301 Ġ".encode()] if draw(st.booleans()) else []
    symbols = list(dict.fromkeys(["<unk>", *chars, *bytes_]))
    return symbols, ["<unk>", *chars], options


@st.composite
def byte_levels(draw: st.DrawFn) -> Spec:
    return {
        "type": "ByteLevel",
        "add_prefix_space": draw(st.booleans()),
        "trim_offsets": draw(st.booleans()),
        "use_regex": draw(st.booleans()),
    }


@st.composite
def splits(draw: st.DrawFn) -> Spec:
    pattern = draw(
        st.sampled_from([("str", literal) for literal in LITERALS] + [("Regex", regex) for regex in REGEXES])
    )
    return {
        "type": "Split",
        "pattern": pattern,
        "behavior": draw(st.sampled_from(BEHAVIORS)),
        "invert": draw(st.booleans()),
    }


SINGLE_PRE_TOKENIZERS = (
    byte_levels()
    | splits()
    | st.sampled_from([{"type": "Whitespace"}, {"type": "WhitespaceSplit"}])
    | st.builds(lambda flag: {"type": "Digits", "individual_digits": flag}, st.booleans())
    | st.builds(lambda name: {"type": "Punctuation", "behavior": name}, st.sampled_from(BEHAVIORS))
)
PRE_TOKENIZERS = SINGLE_PRE_TOKENIZERS | st.builds(
    lambda stages: {"type": "Sequence", "stages": stages}, st.lists(SINGLE_PRE_TOKENIZERS, max_size=3)
)
NORMALIZERS = st.sampled_from(
    [None, None, {"type": "NFC"}, {"type": "Sequence", "stages": [{"type": "NFC"}]}, {"type": "Sequence", "stages": []}]
)

SPECIAL = [("[CLS]", 1), ("[SEP]", 2), {"id": "[TWO]", "ids": [3, 700], "tokens": ["t1", "t2"]}]
SINGLE_TEMPLATES = ["$A", "[CLS] $A [SEP]", "[CLS] $A:3", "$0 [TWO] [SEP]:2", "[TWO]", "$A [SEP] $A"]
PAIR_TEMPLATES = [
    None, "$A $B", "[CLS] $A [SEP] $B:1 [SEP]:1", "$B:1 [SEP] $A", "[TWO] $A [TWO]:4 $B:7", "$A [SEP] $B $A",
    "$A $B:1 $B:2",
]  # fmt: skip


@st.composite
def templates(draw: st.DrawFn) -> Spec:
    return {
        "type": "TemplateProcessing",
        "single": draw(st.sampled_from(SINGLE_TEMPLATES)),
        "pair": draw(st.sampled_from(PAIR_TEMPLATES)),
        "special_tokens": SPECIAL,
    }


@st.composite
def robertas(draw: st.DrawFn) -> Spec:
    return {
        "type": "RobertaProcessing",
        "sep": ("</s>", 2),
        "cls": ("<s>", 1),
        "trim_offsets": draw(st.booleans()),
        "add_prefix_space": draw(st.booleans()),
    }


BERT = {"type": "BertProcessing", "sep": ("</s>", 2), "cls": ("<s>", 1)}


@st.composite
def processor_sequences(draw: st.DrawFn) -> Spec:
    """ByteLevel stages around at most one that adds tokens."""
    before = draw(st.lists(byte_levels(), max_size=2))
    middle = draw(st.lists(templates() | robertas() | st.just(BERT), max_size=1))
    after = draw(st.lists(byte_levels(), max_size=1))
    return {"type": "Sequence", "stages": [*before, *middle, *after]}


PROCESSORS = st.none() | byte_levels() | templates() | robertas() | processor_sequences()
TRUNCATIONS = st.fixed_dictionaries(
    {"max_length": st.integers(0, 12)},
    optional={
        "stride": st.integers(0, 4),
        "strategy": st.sampled_from(["longest_first", "only_first", "only_second"]),
        "direction": st.sampled_from(["left", "right"]),
    },
)
PADDINGS = st.fixed_dictionaries(
    {},
    optional={
        "direction": st.sampled_from(["left", "right"]),
        "pad_id": st.integers(0, 300),
        "pad_type_id": st.integers(0, 5),
        "pad_token": st.sampled_from(["[PAD]", "é", ""]),
        "length": st.none() | st.integers(0, 20),
        "pad_to_multiple_of": st.none() | st.integers(0, 8),
    },
)


@st.composite
def added_tokens(draw: st.DrawFn) -> list[tuple[str, list[Any]]]:
    """Calls of `add_tokens` and `add_special_tokens`, each with strings and tokens with flags."""
    token = st.sampled_from(CONTENTS) | st.tuples(
        st.sampled_from(CONTENTS), st.fixed_dictionaries({}, optional={flag: st.booleans() for flag in FLAGS})
    )
    call = st.tuples(st.sampled_from(["add_tokens", "add_special_tokens"]), st.lists(token, max_size=4))
    calls = draw(st.lists(call, max_size=3))
    # Of two spellings of one normalized text the peer finds either, and a spelling added again keeps its old flags.
    spellings: dict[str, str] = {}
    for _, tokens in calls:
        kept = []
        for token in tokens:
            content = token if isinstance(token, str) else token[0]
            form = unicodedata.normalize("NFC", content)
            is_new = form not in spellings
            if spellings.setdefault(form, content) == content and (is_new or content == form):
                kept.append(token)
        tokens[:] = kept
    return calls


@st.composite
def tokenizers(draw: st.DrawFn) -> Spec:
    return {
        "model": draw(models()),
        "normalizer": draw(NORMALIZERS),
        "pre_tokenizer": draw(st.none() | PRE_TOKENIZERS),
        "post_processor": draw(PROCESSORS),
        "decoder": draw(st.none() | byte_levels()),
        "added": draw(added_tokens()),
        "truncation": draw(st.none() | TRUNCATIONS),
        "padding": draw(st.none() | PADDINGS),
        "encode_special_tokens": draw(st.sampled_from([False, False, False, True])),
    }


def component(library: ModuleType, kind: str, spec: Spec | None) -> Any:
    """Builds one stage of `library`; `kind` is the name of the library's module."""
    if spec is None:
        return None
    options = {name: value for name, value in spec.items() if name not in ("type", "stages", "pattern")}
    module = getattr(library, kind)
    if spec["type"] == "Sequence":
        return module.Sequence([component(library, kind, stage) for stage in spec["stages"]])
    if spec["type"] == "Split":
        form, pattern = spec["pattern"]
        return module.Split(pattern if form == "str" else library.Regex(pattern), **options)
    if spec["type"] in ("RobertaProcessing", "BertProcessing"):
        return getattr(module, spec["type"])(options.pop("sep"), options.pop("cls"), **options)
    if (kind, spec["type"]) == ("decoders", "ByteLevel"):
        return module.ByteLevel()
    return getattr(module, spec["type"])(**options)


def build(library: ModuleType, spec: Spec) -> tuple[Any, list[int]]:
    """Returns the tokenizer and what each call that added tokens counted."""
    tokenizer = library.Tokenizer(model(library, spec["model"]))
    tokenizer.normalizer = component(library, "normalizers", spec["normalizer"])
    tokenizer.pre_tokenizer = component(library, "pre_tokenizers", spec["pre_tokenizer"])
    tokenizer.post_processor = component(library, "processors", spec["post_processor"])
    tokenizer.decoder = component(library, "decoders", spec["decoder"])
    tokenizer.encode_special_tokens = spec["encode_special_tokens"]
    if spec["truncation"] is not None:
        tokenizer.enable_truncation(**spec["truncation"])
    if spec["padding"] is not None:
        tokenizer.enable_padding(**spec["padding"])
    counts = []
    for call, tokens in spec["added"]:
        made = [token if isinstance(token, str) else library.AddedToken(token[0], **token[1]) for token in tokens]
        counts.append(getattr(tokenizer, call)(made))
    return tokenizer, counts
