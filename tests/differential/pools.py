"""Values for parameters: those that make sense, by the parameter's name, and those that never do."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from random import Random
from typing import Any

from differential.values import FOLDER, Call, Name, Script, make, method
from implementation_calls import LETTERS, MERGES, PIECES, WORDPIECES
from tokenizer_strategies import BEHAVIORS, CONTENTS, FRAGMENTS, LITERALS, REGEXES

Draw = Callable[[Random], Any]

# Sizes stay small: what is asked for in tokens or entries, the peer takes in memory at once.
HOSTILE: list[Any] = [
    None, -1, 0, 1, 2**64, -(2**63), 1.5, True, "", "a", "\0", "zzz", b"a", [], [None], ["a"], [1], [[]], (), ("a",),
    ("a", 1), (1, "a"), {}, {"a": 1}, {1: "a"}, {"a": None}, [("a", "b")], *map(Script, [
        "Odd", "Text", "Number", "Indexed", "raising", "none", "range", "set", "int", "bytearray", "surrogate", "nan",
        "inf", "generator", "array of texts", "array of ids",
    ]), Name("models.BPE"), make("AddedToken", "a"), make("Regex", "a"), make("normalizers.NFC"), make("models.BPE"),
    make("pre_tokenizers.Whitespace"), make("decoders.Fuse"), make("Token", 1, "a", (0, 1)),
]  # fmt: skip


def of(*values: Any) -> Draw:
    """One of the values; a function draws for itself."""

    def draw(rng: Random) -> Any:
        value = rng.choice(values)
        return value(rng) if callable(value) else value

    return draw


def lists(item: Draw, most: int = 4) -> Draw:
    return lambda rng: [item(rng) for _ in range(rng.randint(0, most))]


def made(path: str, *arguments: Draw, **keywords: Draw) -> Draw:
    """A call with drawn arguments; each keyword is left out as often as not."""
    return lambda rng: Call(
        Name(path),
        tuple(draw(rng) for draw in arguments),
        {name: draw(rng) for name, draw in keywords.items() if rng.random() < 0.5},
    )


def text(rng: Random) -> str:
    return "".join(rng.choices(FRAGMENTS, k=rng.randint(0, 7)))


FLAG = of(True, False)
SMALL = of(0, 1, 2, 3, 5, 12)
POSITION = of(0, 1, 2, 3, 4, 7, 40)
TOKEN = of(*CONTENTS)
WORD = of("a", "b", "ab", "abc", "", " ", "é", "日", "Ġa", "##b", "a</w>", "▁a", "a b", "zz", "[UNK]", "<unk>")
DIRECTION = of("left", "right")
IDS = lists(of(0, 1, 2, 3, 4, 5, 9, 300), 6)
REGEX = made("Regex", of(*REGEXES, "a", " "))
PATTERN = of(of(*LITERALS), of(*LITERALS), REGEX)
BEHAVIOR = of(*BEHAVIORS)
FLAGS = ["single_word", "lstrip", "rstrip", "normalized", "special"]
# Of two added tokens that a normalizer makes one text of, the peer finds either.
UNLIKE = list({unicodedata.normalize("NFKC", content).casefold().strip(): content for content in CONTENTS}.values())
NEW = of(*UNLIKE)
ADDED = made("AddedToken", NEW, **dict.fromkeys(FLAGS, FLAG))
ADDEDS = lists(of(NEW, NEW, ADDED))
VOCABS = of(LETTERS, LETTERS, WORDPIECES, {"a": 0}, {}, {"a": 5, "b": 9}, f"{FOLDER}/vocab.json", f"{FOLDER}/vocab.txt")
UNK = of("<unk>", "[UNK]", "a", "zz", "")
BYTES = {f"<0x{byte:02X}>": 20 + place for place, byte in enumerate("é日 a".encode())}

BPE = of(
    of(
        Call(Name("models.BPE"), (LETTERS, MERGES)),
        Call(Name("models.BPE"), (LETTERS, MERGES), {"unk_token": "<unk>"}),
        Call(Name("models.BPE"), (LETTERS, MERGES), {"unk_token": "<unk>", "fuse_unk": True}),
        Call(Name("models.BPE"), (LETTERS, MERGES), {"end_of_word_suffix": "</w>", "unk_token": "<unk>"}),
        Call(Name("models.BPE"), ({**LETTERS, **BYTES}, MERGES), {"byte_fallback": True}),
        Call(Name("models.BPE"), (LETTERS, []), {"ignore_merges": True}),
        Call(Name("models.BPE"), (LETTERS, MERGES), {"dropout": 1.0}),
        make("models.BPE"),
    )
)
WORDPIECE = of(
    make("models.WordPiece", WORDPIECES),
    make("models.WordPiece", WORDPIECES, unk_token="[UNK]", max_input_chars_per_word=2),
    make("models.WordPiece", LETTERS, unk_token="<unk>", continuing_subword_prefix=""),
)
WORDLEVEL = of(make("models.WordLevel", LETTERS, "<unk>"), make("models.WordLevel", LETTERS, unk_token="<unk>"))
UNIGRAM = of(
    make("models.Unigram", PIECES, 0),
    make("models.Unigram", [*PIECES, ("ab", -1.5)], unk_id=0, byte_fallback=False),
    make("models.Unigram", [*PIECES, *((token, -9.0) for token in BYTES)], 0, True),
)
MODEL = of(BPE, BPE, WORDPIECE, WORDLEVEL, UNIGRAM)

SIMPLE_NORMALIZER = of(
    *map(make, ["normalizers.NFC", "normalizers.NFD", "normalizers.NFKC", "normalizers.Lowercase", "normalizers.Nmt"]),
    *map(
        make, ["normalizers.StripAccents", "normalizers.Strip", "normalizers.ByteLevel", "normalizers.BertNormalizer"]
    ),
    made("normalizers.Prepend", of("▁", "x", "é")),
    made("normalizers.Replace", of("a", " ", "ab", make("Regex", r"\s+")), of("", "x", "▁")),
)
NORMALIZER = of(
    SIMPLE_NORMALIZER, SIMPLE_NORMALIZER, lambda rng: make("normalizers.Sequence", lists(SIMPLE_NORMALIZER, 3)(rng))
)
SIMPLE_PRE_TOKENIZER = of(
    *(
        make(f"pre_tokenizers.{name}")
        for name in [
            "BertPreTokenizer", "Whitespace", "WhitespaceSplit", "ByteLevel", "Digits", "Punctuation", "UnicodeScripts",
            "Metaspace", "FixedLength",
        ]
    ),
    made("pre_tokenizers.ByteLevel", FLAG, use_regex=FLAG),
    made("pre_tokenizers.Split", PATTERN, BEHAVIOR, invert=FLAG),
    made("pre_tokenizers.CharDelimiterSplit", of("a", " ", "é")),
    made("pre_tokenizers.Digits", FLAG),
    made("pre_tokenizers.Metaspace", of("▁", "_"), of("always", "never", "first"), FLAG),
)  # fmt: skip
PRE_TOKENIZER = of(
    SIMPLE_PRE_TOKENIZER,
    SIMPLE_PRE_TOKENIZER,
    lambda rng: make("pre_tokenizers.Sequence", lists(SIMPLE_PRE_TOKENIZER, 3)(rng)),
)
SPECIALS = [("[CLS]", 1), ("[SEP]", 2), {"id": "[TWO]", "ids": [3, 700], "tokens": ["t1", "t2"]}]
PROCESSOR_TOKEN = of(("[SEP]", 2), ("[CLS]", 1), ("", 0), ("é", 700))
SIMPLE_PROCESSOR = of(
    made("processors.ByteLevel", trim_offsets=FLAG, add_prefix_space=FLAG),
    made("processors.BertProcessing", PROCESSOR_TOKEN, PROCESSOR_TOKEN),
    made("processors.RobertaProcessing", PROCESSOR_TOKEN, PROCESSOR_TOKEN, trim_offsets=FLAG),
    make("processors.TemplateProcessing", "[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", SPECIALS),
    make("processors.TemplateProcessing", single=["$A", "[TWO]"], special_tokens=SPECIALS),
)
PROCESSOR = of(
    SIMPLE_PROCESSOR,
    SIMPLE_PROCESSOR,
    lambda rng: make("processors.Sequence", [make("processors.ByteLevel"), SIMPLE_PROCESSOR(rng)]),
    # A stage after one that adds tokens numbers these as sequences in the peer.
    lambda rng: make("processors.Sequence", [make("processors.Sequence", [SIMPLE_PROCESSOR(rng)])]),
)
SIMPLE_DECODER = of(
    *(
        make(f"decoders.{name}")
        for name in ["ByteLevel", "WordPiece", "ByteFallback", "Fuse", "Metaspace", "BPEDecoder"]
    ),
    make("decoders.CTC"),
    made("decoders.Replace", of("▁", "a", make("Regex", r"\s")), of(" ", "", "x")),
    made("decoders.Strip", of(" ", "a"), of(0, 1), of(0, 1)),
    made("decoders.WordPiece", of("##", ""), FLAG),
)
DECODER = of(SIMPLE_DECODER, SIMPLE_DECODER, lambda rng: make("decoders.Sequence", lists(SIMPLE_DECODER, 3)(rng)))
QUIET = {"show_progress": FLAG}
TRAINER = of(
    made("trainers.BpeTrainer", vocab_size=of(30, 60, 300), special_tokens=ADDEDS, **QUIET),
    made("trainers.WordLevelTrainer", vocab_size=of(5, 30), special_tokens=ADDEDS, **QUIET),
)
TOKENIZER_OF = {
    "normalizer": NORMALIZER, "pre_tokenizer": PRE_TOKENIZER, "post_processor": PROCESSOR, "decoder": DECODER,
}  # fmt: skip


def tokenizer(rng: Random) -> Any:
    """A tokenizer of any model, with any stages, options and tokens."""
    stages = {name: draw(rng) for name, draw in TOKENIZER_OF.items() if rng.random() < 0.4}
    options = {
        name: {key: value(rng) for key, value in chosen.items() if rng.random() < 0.6}
        for name, chosen in {"padding": PADDING, "truncation": TRUNCATION}.items()
        if rng.random() < 0.15
    }
    if "truncation" in options:
        options["truncation"].setdefault("max_length", 5)
    added = [(rng.choice(["add_tokens", "add_special_tokens"]), ADDEDS(rng))] if rng.random() < 0.3 else []
    return Call(Script("assembled"), (MODEL(rng), stages, options, added))


PADDING = {
    "direction": DIRECTION, "pad_id": SMALL, "pad_type_id": SMALL, "pad_token": TOKEN, "length": of(None, 0, 3, 9),
    "pad_to_multiple_of": of(None, 0, 4),
}  # fmt: skip
TRUNCATION = {
    "max_length": of(0, 1, 2, 3, 5, 9), "stride": of(0, 0, 1, 2),
    "strategy": of("longest_first", "only_first", "only_second"), "direction": DIRECTION,
}  # fmt: skip
ENCODING = of(lambda rng: method(tokenizer(rng), "encode", text(rng), of(None, text)(rng)))
SEQUENCE = of(text, text, text, lists(text), lambda rng: Call(Script("tuple"), (lists(text)(rng),)))
INPUT = of(text, lambda rng: (text(rng), text(rng)), lambda rng: [text(rng), text(rng)], lists(text, 3))
CORPUS = ["ab ab abc b", "the cat sat", "the mat", "a b c", "abc the"]
