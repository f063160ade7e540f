"""Small cases of the whole pipeline, derived by hand; the reference and the core must both have them."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

import lexmill
from lexmill.errors import FormatError, LexmillError, OptionError, VocabError
from lexmill.reference.formats.decoders import decoder
from lexmill.reference.formats.normalizers import normalizer
from lexmill.reference.formats.pre_tokenizers import pre_tokenizer
from lexmill.reference.normalized import Edit, Normalized
from lexmill.reference.tokenizer import Tokenizer
from peers import charsmap
from whole_engines import ENGINES, REFERENCE, Input, Json

Span = tuple[int, int]
WORDS = {"type": "WordLevel", "vocab": {"[UNK]": 0, "a": 1, "b": 2, "ab": 3, "▁a": 4}, "unk_token": "[UNK]"}
WHOLE = [REFERENCE, ENGINES[0]]


def spec(**parts: Any) -> Json:
    """A file with these parts; without a model it has one of a few words."""
    return {"version": "1.0", "added_tokens": [], "model": WORDS, **parts}


def stage(kind: str, **options: Any) -> Json:
    return {"type": kind, **options}


def sequence(*normalizers: Json) -> Json:
    return stage("Sequence", normalizers=list(normalizers))


def precompiled(rules: dict[str, str], **options: str) -> Json:
    return stage("Precompiled", precompiled_charsmap=base64.b64encode(charsmap(rules)).decode(), **options)


def replace(pattern: Json, content: str) -> Json:
    return stage("Replace", pattern=pattern, content=content)


def bert(**options: Any) -> Json:
    steps = {"clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True}
    return stage("BertNormalizer", **{**steps, **options})


STRIP = stage("Strip", strip_left=True, strip_right=True)
SENTENCEPIECE = stage(
    "SentencePiece",
    precompiled_charsmap=None,
    user_defined_symbols=["  b"],
    add_dummy_prefix=True,
    remove_extra_whitespaces=True,
    escape_whitespaces=True,
    treat_whitespace_as_suffix=False,
)


@pytest.mark.parametrize(
    ("given", "text", "expected", "sources"),
    [
        # A composed character stands for its starter, the parts of a decomposed one for all of it.
        (stage("NFC"), "xe\u0301y", "xéy", [(0, 1), (1, 2), (3, 4)]),
        (stage("NFKD"), "éﬁ", "e\u0301fi", [(0, 1), (0, 1), (1, 2), (1, 2)]),
        # The dot below goes first, and the places stay where they were.
        (stage("NFD"), "a\u0302\u0323b", "a\u0323\u0302b", [(0, 1), (1, 2), (2, 3), (3, 4)]),
        (stage("NFC"), "a\u0302\u0323b", "ậb", [(0, 1), (3, 4)]),
        # The second circumflex is blocked by the first, which is kept.
        (stage("NFC"), "b\u0302\u0302", "b\u0302\u0302", [(0, 1), (1, 2), (2, 3)]),
        (stage("NFC"), "\u1100\u1161\u11a8", "각", [(0, 1)]),
        (stage("Lowercase"), "ΣİA", "\u03c3i\u0307a", [(0, 1), (1, 2), (1, 2), (2, 3)]),
        (STRIP, " \u3000a b\n", "a b", [(2, 3), (3, 4), (4, 5)]),
        # U+001F is no white space.
        (STRIP, "\x1fa\x1f", "\x1fa\x1f", [(0, 1), (1, 2), (2, 3)]),
        (stage("StripAccents"), "e\u0301\u20ddx", "ex", [(0, 1), (3, 4)]),
        (stage("Prepend", prepend="▁▁"), "ab", "▁▁ab", [(0, 1), (0, 1), (0, 1), (1, 2)]),
        (stage("Prepend", prepend=""), "ab", "ab", [(0, 0), (1, 2)]),
        (stage("Prepend", prepend="▁"), "", "", []),
        # The content stands for the last character of the match.
        (replace({"String": "ab"}, "xyz"), "cab", "cxyz", [(0, 1), (2, 3), (2, 3), (2, 3)]),
        (replace({"Regex": " {2,}"}, "▁"), "a   b", "a▁b", [(0, 1), (3, 4), (4, 5)]),
        # For the character before an empty match; not directly after another match.
        (replace({"Regex": "x*"}, "-"), "axb", "-a-b-", [(0, 0), (0, 1), (1, 2), (2, 3), (2, 3)]),
        # At the beginnings of lines, but not after the last line feed.
        (replace({"Regex": "^"}, ">"), "a\nb\n", ">a\n>b\n", [(0, 0), (0, 1), (1, 2), (1, 2), (2, 3), (3, 4)]),
        (stage("Nmt"), "a\x01\u200b\ufeffb\0", "a  b\0", [(0, 1), (2, 3), (3, 4), (4, 5), (5, 6)]),
        (bert(), "A\0中É", "a 中 e", [(0, 1), (2, 3), (2, 3), (2, 3), (3, 4)]),
        (bert(strip_accents=False), "É", "é", [(0, 1)]),
        (bert(lowercase=False), "É", "É", [(0, 1)]),
        # The shortest rule takes the whole cluster, mark and all.
        (precompiled({"e": "x", "e\u0301": "y"}), "ae\u0301b", "axb", [(0, 1), (1, 2), (3, 4)]),
        (
            precompiled({"e": "x", "é": "yz"}, match="longest"),
            "ée\u0301",
            "yzx\u0301",
            [(0, 1), (0, 1), (1, 2), (2, 3)],
        ),
        # What goes at the beginning is forgotten, so what follows stands further left.
        (precompiled({"a": ""}), "abc", "bc", [(0, 1), (1, 2)]),
        (precompiled({"b": ""}), "abc", "ac", [(0, 1), (2, 3)]),
        (SENTENCEPIECE, " a   b ", "▁a▁b", [(1, 2), (1, 2), (2, 3), (3, 6)]),
        (sequence(STRIP, stage("Prepend", prepend="▁"), stage("Lowercase")), " A", "▁a", [(1, 2), (1, 2)]),
        (sequence(), "A", "A", [(0, 1)]),
    ],
)
def test_a_normalizer_makes_text_and_keeps_its_places(
    given: Json, text: str, expected: str, sources: list[Span]
) -> None:
    made = normalizer(given).normalize(Normalized.whole(text))
    assert (made.text, list(made.sources)) == (expected, sources)
    core = lexmill.Tokenizer.from_str(json.dumps(spec(normalizer=given, pre_tokenizer=stage("FixedLength", length=1))))
    assert core.normalizer is not None
    assert core.normalizer.normalize_str(text) == expected
    assert core.encode(text).offsets == sources


METASPACE = stage("Metaspace", replacement="▁", prepend_scheme="always", split=True)
SPLIT_FIRST = stage("Sequence", pretokenizers=[stage("WhitespaceSplit"), METASPACE])
BYTE_LEVEL = stage("ByteLevel", add_prefix_space=True, trim_offsets=True, use_regex=True)


def split(behavior: str, *, invert: bool = False) -> Json:
    return stage("Split", pattern={"String": "-"}, behavior=behavior, invert=invert)


@pytest.mark.parametrize(
    ("given", "text", "expected"),
    [
        (split("Removed"), "a--b-c", [("a", (0, 1)), ("b", (3, 4)), ("c", (5, 6))]),
        (split("Removed", invert=True), "a--b", [("-", (1, 2)), ("-", (2, 3))]),
        (split("Isolated"), "a--b", [("a", (0, 1)), ("-", (1, 2)), ("-", (2, 3)), ("b", (3, 4))]),
        (split("MergedWithPrevious"), "a--b", [("a-", (0, 2)), ("-", (2, 3)), ("b", (3, 4))]),
        (split("MergedWithNext"), "a--b", [("a", (0, 1)), ("-", (1, 2)), ("-b", (2, 4))]),
        (split("Contiguous"), "a--b", [("a", (0, 1)), ("--", (1, 3)), ("b", (3, 4))]),
        (stage("Whitespace"), "a_1 !?b", [("a_1", (0, 3)), ("!?", (4, 6)), ("b", (6, 7))]),
        (stage("WhitespaceSplit"), " a\u3000b!", [("a", (1, 2)), ("b!", (3, 5))]),
        (stage("BertPreTokenizer"), "a, b", [("a", (0, 1)), (",", (1, 2)), ("b", (3, 4))]),
        (stage("Punctuation", behavior="Contiguous"), "a?!$", [("a", (0, 1)), ("?!$", (1, 4))]),
        (stage("Digits", individual_digits=False), "a12½", [("a", (0, 1)), ("12½", (1, 4))]),
        (stage("Digits", individual_digits=True), "12", [("1", (0, 1)), ("2", (1, 2))]),
        (stage("CharDelimiterSplit", delimiter="x"), "axxb", [("a", (0, 1)), ("b", (3, 4))]),
        (stage("FixedLength", length=2), "abc", [("ab", (0, 2)), ("c", (2, 3))]),
        (stage("UnicodeScripts"), " hi カ日ー1", [("hi ", (1, 4)), ("カ日ー", (4, 7)), ("1", (7, 8))]),
        (METASPACE, "a  b", [("▁a", (0, 1)), ("▁", (1, 2)), ("▁b", (2, 4))]),
        (METASPACE, "▁a", [("▁a", (0, 2))]),
        ({**METASPACE, "prepend_scheme": "never"}, "a b", [("a", (0, 1)), ("▁b", (1, 3))]),
        ({**METASPACE, "split": False}, "a b", [("▁a▁b", (0, 3))]),
        (BYTE_LEVEL, "é b", [("ĠÃ©", (0, 1)), ("Ġb", (1, 3))]),
        ({**BYTE_LEVEL, "use_regex": False, "add_prefix_space": False}, "a b", [("aĠb", (0, 3))]),
        (SPLIT_FIRST, "a b", [("▁a", (0, 1)), ("▁b", (2, 3))]),
        (stage("Sequence", pretokenizers=[]), "a b", [("a b", (0, 3))]),
    ],
)  # fmt: skip
def test_a_pre_tokenizer_cuts_text(given: Json, text: str, expected: list[tuple[str, Span]]) -> None:
    pieces = pre_tokenizer(given).pre_tokenize(Normalized.whole(text))
    assert [(piece.text, piece.source(0, len(piece.text))) for piece in pieces] == expected
    core = lexmill.Tokenizer.from_str(json.dumps(spec(pre_tokenizer=given)))
    assert core.pre_tokenizer is not None
    assert core.pre_tokenizer.pre_tokenize_str(text) == expected


FALLBACK, FUSE = stage("ByteFallback"), stage("Fuse")
WORD_PIECE = stage("WordPiece", prefix="##", cleanup=False)


@pytest.mark.parametrize(
    ("given", "tokens", "expected"),
    [
        (stage("ByteLevel"), ["Ġa", "Ã", "©", "日"], " aé日"),
        (FALLBACK, ["a", "<0xC3>", "<0xA9>", "<0xFF>", "b", "<0x1>"], "a\ufffd\ufffd\ufffdb<0x1>"),
        (FALLBACK, ["<0xE6>", "<0x97>", "<0xA5>", "<0x+1>"], "日\x01"),
        (stage("Metaspace", replacement="▁", prepend_scheme="always"), ["▁a▁", "▁b"], "a b"),
        (stage("Metaspace", replacement="▁", prepend_scheme="never"), ["▁a", "▁b"], " a b"),
        (stage("BPEDecoder", suffix="</w>"), ["a", "b</w>", "c</w>"], "ab c"),
        (stage("WordPiece", prefix="##", cleanup=True), ["##a", "##b", "c", "n't", "."], "##ab cn't."),
        (WORD_PIECE, ["a", "."], "a ."),
        (stage("Sequence", decoders=[FALLBACK, WORD_PIECE]), ["<0x80>", "<0x80>", "a"], "\ufffd \ufffd a"),
        (stage("CTC", pad_token="_", word_delimiter_token="|", cleanup=True), [*"aa_a|_b"], "aa b"),
        (stage("Strip", content="x", start=1, stop=2), ["xxaxxx", "x"], "xax"),
        (stage("Sequence", decoders=[FUSE, replace({"String": "ab"}, "-")]), ["a", "b", "ab"], "--"),
        (replace({"String": "ab"}, "-"), ["a", "b", "ab"], "ab-"),
    ],
)  # fmt: skip
def test_a_decoder_makes_text_of_tokens(given: Json, tokens: list[str], expected: str) -> None:
    assert "".join(decoder(given).decode(tokens)) == expected
    core = lexmill.Tokenizer.from_str(json.dumps(spec(decoder=given)))
    assert core.decoder is not None
    assert core.decoder.decode(tokens) == expected


CLS, SEP = ["[CLS]", 8], ["[SEP]", 9]
TEMPLATE = stage(
    "TemplateProcessing",
    single=[{"SpecialToken": {"id": "C", "type_id": 1}}, {"Sequence": {"id": "A", "type_id": 2}}],
    pair=[{"Sequence": {"id": "B", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 1}}],
    special_tokens={"C": {"id": "C", "ids": [8, 9], "tokens": ["x", "y"]}},
)


@pytest.mark.parametrize(
    ("given", "pair", "ids", "types", "mask"),
    [
        (None, None, [1], [0], [0]),
        (None, "b", [1, 2], [0, 1], [0, 0]),
        (stage("BertProcessing", sep=SEP, cls=CLS), None, [8, 1, 9], [0, 0, 0], [1, 0, 1]),
        (stage("BertProcessing", sep=SEP, cls=CLS), "b", [8, 1, 9, 2, 9], [0, 0, 0, 1, 1], [1, 0, 1, 0, 1]),
        (stage("RobertaProcessing", sep=SEP, cls=CLS), "b", [8, 1, 9, 9, 2, 9], [0] * 6, [1, 0, 1, 1, 0, 1]),
        (TEMPLATE, None, [8, 9, 1], [1, 1, 2], [1, 1, 0]),
        (TEMPLATE, "b", [2, 1], [0, 1], [0, 0]),
        (stage("Sequence", processors=[BYTE_LEVEL, TEMPLATE]), None, [8, 9, 1], [1, 1, 2], [1, 1, 0]),
    ],
)
@pytest.mark.parametrize("engine", WHOLE, ids=lambda engine: engine.name)
def test_a_post_processor_arranges_tokens(
    engine: Any, given: Json | None, pair: str | None, ids: list[int], types: list[int], mask: list[int]
) -> None:
    seen = engine.encoder(spec(post_processor=given))(Input("a", pair))
    assert (seen["ids"], seen["type_ids"], seen["special_tokens_mask"]) == (ids, types, mask)


def added(content: str, **flags: bool) -> Json:
    names = ("single_word", "lstrip", "rstrip", "normalized", "special")
    return {"id": 0, "content": content, **dict.fromkeys(names, False), **flags}


@pytest.mark.parametrize(
    ("tokens", "text", "expected"),
    [
        # The leftmost first, then the longest; a rejected one is not tried again with a shorter one.
        ([added("<a>"), added("<a><b>")], "a<a><b>b", [("a", (0, 1)), ("<a><b>", (1, 7)), ("b", (7, 8))]),
        ([added("b"), added("bc", single_word=True)], "bcd", [("[UNK]", (0, 3))]),
        # White space goes to the token before.
        (
            [added("<m>", lstrip=True, rstrip=True)],
            "a <m>  <m>",
            [("a", (0, 1)), (" <m>  ", (1, 7)), ("<m>", (7, 10))],
        ),
        # In normalized text its content is normalized too; elsewhere it is found as it is.
        ([added("B", normalized=True)], "ab", [("a", (0, 1)), ("b", (1, 2))]),
        ([added("B")], "abB", [("ab", (0, 2)), ("B", (2, 3))]),
    ],
)
@pytest.mark.parametrize("engine", WHOLE, ids=lambda engine: engine.name)
def test_added_tokens_are_cut_out(engine: Any, tokens: list[Json], text: str, expected: list[tuple[str, Span]]) -> None:
    seen = engine.encoder(spec(added_tokens=tokens, normalizer=stage("Lowercase")))(Input(text))
    assert list(zip(seen["tokens"], seen["offsets"], strict=True)) == expected


@pytest.mark.parametrize("engine", WHOLE, ids=lambda engine: engine.name)
def test_added_tokens_take_the_models_id_or_the_next_one(engine: Any) -> None:
    tokens = [added("<x>", special=True), added("ab"), added("<y>")]
    encode = engine.encoder(spec(added_tokens=tokens))
    assert encode(Input("<x>ab<y>"))["ids"] == [5, 3, 6]
    assert (encode(Input("<x>ab<y>"))["kept"], encode(Input("<x>ab<y>"))["text"]) == ("<x> ab <y>", "ab <y>")
    # A piece listed twice has its later id, and both ids count.
    pieces = {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0.0], ["a", -1.0], ["a", -2.0]]}
    assert engine.encoder(spec(model=pieces, added_tokens=[added("<x>")]))(Input("a<x>"))["ids"] == [2, 3]


@pytest.mark.parametrize("engine", WHOLE, ids=lambda engine: engine.name)
@pytest.mark.parametrize("scheme", ["always", "first", "never"])
def test_a_visible_space_is_put_at_the_beginning(engine: Any, scheme: str) -> None:
    stages = {"pre_tokenizer": {**METASPACE, "prepend_scheme": scheme}, "added_tokens": [added("<s>")]}
    expected = {"always": ["▁a", "<s>", "▁a"], "first": ["▁a", "<s>", "a"], "never": ["a", "<s>", "a"]}
    assert engine.encoder(spec(**stages))(Input("a<s>a"))["tokens"] == expected[scheme]


BYTES = [[f"<0x{byte:02X}>", -9.0] for byte in "𣂏日".encode()]


@pytest.mark.parametrize(
    "stages",
    [
        {},
        {"pre_tokenizer": METASPACE},
        {
            "pre_tokenizer": METASPACE,
            "normalizer": sequence(
                precompiled({"①": "1"}),
                stage("Strip", strip_left=False, strip_right=True),
                replace({"Regex": " {2,}"}, "▁"),
            ),
        },
    ],
)
def test_all_bytes_of_unknown_text_have_its_offsets(stages: Json) -> None:
    pieces = [["<unk>", -1.0], ["▁", -1.0], ["清", -2.0], *BYTES]
    model = {"type": "Unigram", "unk_id": 0, "vocab": pieces, "byte_fallback": True}
    encoding = Tokenizer.from_dict(spec(model=model, **stages)).encode("清𣂏日清")
    expected = [(0, 1), *[(1, 3)] * 7, (3, 4)]
    assert encoding.offsets == ([(0, 1), *expected] if stages else expected)


@pytest.mark.parametrize("engine", WHOLE, ids=lambda engine: engine.name)
def test_long_encodings_are_cut_and_short_ones_filled_up(engine: Any) -> None:
    limits = {
        "truncation": {"max_length": 3, "stride": 1, "strategy": "LongestFirst", "direction": "Right"},
        "padding": {
            "strategy": {"Fixed": 4},
            "direction": "Right",
            "pad_to_multiple_of": None,
            "pad_id": 7,
            "pad_type_id": 1,
            "pad_token": "[PAD]",
        },
    }
    encode = engine.encoder(spec(pre_tokenizer=stage("FixedLength", length=1), **limits))
    seen = encode(Input("abba"))
    assert (seen["ids"], seen["attention_mask"], seen["type_ids"]) == ([1, 2, 2, 7], [1, 1, 1, 0], [0, 0, 0, 1])
    assert [part["ids"] for part in seen["overflowing"]] == [[2, 1, 7, 7]]
    # Of a pair the longer one is cut first.
    assert encode(Input("abba", "a"))["offsets"] == [(0, 1), (1, 2), (0, 1), (0, 0)]


def test_separators_after_a_template_are_of_type_1() -> None:
    bert = stage("BertProcessing", sep=SEP, cls=CLS)
    given = spec(post_processor=stage("Sequence", processors=[TEMPLATE, bert]))
    assert Tokenizer.from_dict(given).encode("a").type_ids == [0, 1, 1, 0, 2, 1]


def test_edits_walk_through_the_text() -> None:
    text = Normalized.whole("abcd")
    made = text.edit([Edit("x", 1), Edit("y", 0), Edit("z", 1), Edit("w", -1), Edit("d", 0)])
    assert (made.text, made.sources) == ("xyzwd", ((0, 0), (0, 1), (0, 1), (1, 2), (3, 4)))
    assert made.slice(3, 5) == Normalized("wd", ((1, 2), (3, 4)), 1)
    assert made.source(1, 5) == (0, 4)


def test_bytes_of_a_cut_character_count_whole() -> None:
    text = Normalized.whole("aé日")
    assert [text.source_of_bytes(*span) for span in [(0, 1), (1, 2), (2, 4), (4, 9), (6, 8), (2, 2)]] == [
        (0, 1), (1, 2), (1, 3), (2, 3), (3, 3), (1, 1),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("parts", "error"),
    [
        ({"normalizer": stage("Nonsense")}, FormatError),
        ({"pre_tokenizer": stage("Nonsense")}, FormatError),
        ({"decoder": stage("Nonsense")}, FormatError),
        ({"post_processor": stage("Nonsense")}, FormatError),
        ({"model": {"type": "Nonsense"}}, FormatError),
        ({"normalizer": replace({"Regex": "("}, "")}, LexmillError),
        ({"normalizer": stage("Precompiled", precompiled_charsmap="AAA=")}, FormatError),
        ({"normalizer": stage("Precompiled", precompiled_charsmap="BAAAAA==")}, FormatError),
        ({"pre_tokenizer": stage("FixedLength", length=0)}, LexmillError),
        ({"post_processor": {**TEMPLATE, "special_tokens": {}}}, LexmillError),
        ({"post_processor": {**TEMPLATE, "pair": TEMPLATE["single"]}}, LexmillError),
    ],
)
def test_a_malformed_file_is_refused(parts: Json, error: type[Exception]) -> None:
    with pytest.raises(error):
        Tokenizer.from_dict(spec(**parts))
    with pytest.raises(error):
        lexmill.Tokenizer.from_str(json.dumps(spec(**parts)))


@pytest.mark.parametrize("engine", WHOLE, ids=lambda engine: engine.name)
def test_what_cannot_be_encoded_is_an_error(engine: Any) -> None:
    assert engine.encoder(spec(model={**WORDS, "unk_token": "?"}))(Input("x")) is VocabError
    with_b = {**TEMPLATE, "single": [{"Sequence": {"id": "B", "type_id": 0}}]}
    assert engine.encoder(spec(post_processor=with_b))(Input("a")) is OptionError
    cut = {"max_length": 1, "stride": 1, "strategy": "LongestFirst", "direction": "Right"}
    cut_up = spec(pre_tokenizer=stage("FixedLength", length=1), truncation=cut)
    assert engine.encoder(cut_up)(Input("ab")) is OptionError


def test_what_is_random_or_lexmills_own_is_refused_by_the_reference() -> None:
    bpe = {"type": "BPE", "vocab": {"a": 0}, "merges": []}
    with pytest.raises(OptionError, match="dropout"):
        Tokenizer.from_dict(spec(model={**bpe, "dropout": 0.1}))
    with pytest.raises(FormatError, match="sentencepiece_kinds"):
        Tokenizer.from_dict(spec(model={**bpe, "sentencepiece_kinds": "1"}))
