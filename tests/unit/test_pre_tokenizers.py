from __future__ import annotations

import json
from typing import Any

import pytest

from lexmill import AddedToken, Regex, Tokenizer, models, pre_tokenizers
from lexmill.errors import FormatError, LexmillError, OptionError, RegexError
from lexmill.pre_tokenizers import (
    ByteLevel,
    Digits,
    Metaspace,
    PreTokenizer,
    Punctuation,
    Sequence,
    Split,
    Whitespace,
    WhitespaceSplit,
)
from lexmill.reference.words import GPT2_PATTERN

SPLITS = {
    "removed": ["a", "b", "c"],
    "isolated": ["a", "-", "-", "b", "-", "c"],
    "merged_with_previous": ["a-", "-", "b-", "c"],
    "merged_with_next": ["a", "-", "-b", "-c"],
    "contiguous": ["a", "--", "b", "-", "c"],
}
INVERTED = {
    "removed": ["-", "-", "-"],
    "isolated": ["a", "-", "-", "b", "-", "c"],
    "merged_with_previous": ["a", "-", "-b", "-c"],
    "merged_with_next": ["a-", "-", "b-", "c"],
    "contiguous": ["a", "--", "b", "-", "c"],
}


def pieces(stage: PreTokenizer, text: str) -> list[str]:
    return [piece for piece, _ in stage.pre_tokenize_str(text)]


class TestSplit:
    @pytest.mark.parametrize("behavior", SPLITS)
    @pytest.mark.parametrize("pattern", ["-", Regex("-"), Regex("[-]")])
    def test_behaviors(self, pattern: Any, behavior: str) -> None:
        assert pieces(Split(pattern, behavior), "a--b-c") == SPLITS[behavior]
        assert pieces(Split(pattern, behavior, invert=True), "a--b-c") == INVERTED[behavior]

    @pytest.mark.parametrize(
        ("behavior", "expected"),
        [("removed", ["a", "b"]), ("merged_with_previous", ["--", "a--", "b"]), ("merged_with_next", ["--a", "--b"])],
    )
    def test_runs_that_match_as_one(self, behavior: str, expected: list[str]) -> None:
        assert pieces(Split(Regex("-+"), behavior), "--a--b") == expected

    def test_a_literal_is_no_regular_expression(self) -> None:
        assert pieces(Split(".", "isolated"), "a.b") == ["a", ".", "b"]
        assert pieces(Split(Regex("."), "isolated"), "a.b") == ["a", ".", "b"]
        assert pieces(Split(Regex("."), "removed"), "a.b") == []

    @pytest.mark.parametrize("pattern", ["", Regex(""), Regex("x*")])
    def test_an_empty_match_cuts_between_characters(self, pattern: Any) -> None:
        assert pieces(Split(pattern, "removed"), "aéb") == ["a", "é", "b"]

    def test_offsets_are_characters(self) -> None:
        assert Split("é", "isolated").pre_tokenize_str("日é") == [("日", (0, 1)), ("é", (1, 2))]

    def test_empty_text_has_no_pieces(self) -> None:
        assert pieces(Split("a", "isolated"), "") == []

    def test_options_read_back(self) -> None:
        split = Split(Regex("a"), "contiguous", invert=True)
        assert (split.behavior, split.invert) == ("contiguous", True)
        split.behavior = "removed"
        assert pieces(split, "aba") == ["a", "a"]

    def test_unknown_behavior_is_named(self) -> None:
        with pytest.raises(
            OptionError,
            match="behavior is Isolated: Wrong value for SplitDelimiterBehavior, expected",
        ):
            Split("a", "Isolated")

    def test_broken_pattern_is_named(self) -> None:
        with pytest.raises(RegexError, match=r"regex `\(`"):
            Split(Regex("("), "isolated")

    def test_pattern_must_be_str_or_regex(self) -> None:
        with pytest.raises(TypeError):
            Split(None, "isolated")


@pytest.mark.parametrize(
    ("stage", "text", "expected"),
    [
        (Whitespace(), "a_1 b\u0301!? \u3000é", ["a_1", "b\u0301", "!?", "é"]),
        (WhitespaceSplit(), " a!\u00a0b\x1cc\n", ["a!", "b\x1cc"]),
        (Digits(), "a12 3\u0661²½b", ["a", "12", " ", "3\u0661²½", "b"]),
        (Digits(individual_digits=True), "a12½", ["a", "1", "2", "½"]),
        (Digits(), "三", ["三"]),
        (Punctuation(), "a,,b!—¿", ["a", ",", ",", "b", "!", "—", "¿"]),
        (Punctuation("contiguous"), "a,,b!", ["a", ",,", "b", "!"]),
        (Punctuation("removed"), "a$b", ["a", "b"]),
        (ByteLevel(add_prefix_space=False), "it's I'LL  12", ["it", "'s", "ĠI", "'", "LL", "Ġ", "Ġ12"]),
        (ByteLevel(), "a é", ["Ġa", "ĠÃ©"]),
        (ByteLevel(use_regex=False), " a b", ["ĠaĠb"]),
        (Metaspace(), " a  b▁c", ["▁a", "▁", "▁b", "▁c"]),
        (Metaspace(), "a", ["▁a"]),
        (Metaspace(), "▁a", ["▁a"]),
        (Metaspace(), "", []),
        (Metaspace(split=False), "a b", ["▁a▁b"]),
        (Metaspace("_", "never"), "a b_c", ["a", "_b", "_c"]),
        (Metaspace(" "), "a b", [" a", " b"]),
        (
            Sequence([Metaspace(prepend_scheme="never", split=False), Punctuation(), Metaspace()]),
            "a.b",
            ["▁a", "▁.", "▁b"],
        ),
        (Sequence([Punctuation(), Metaspace(prepend_scheme="first")]), "a.b", ["▁a", ".", "b"]),
        (Sequence([]), "a b", ["a b"]),
        (Sequence([WhitespaceSplit(), Digits()]), "a1 2", ["a", "1", "2"]),
    ],
)
def test_pieces(stage: PreTokenizer, text: str, expected: list[str]) -> None:
    assert pieces(stage, text) == expected


class TestAfterByteLevel:
    def test_later_stages_see_the_byte_characters(self) -> None:
        stage = Sequence([ByteLevel(add_prefix_space=False), Split("Ġ", "isolated")])
        assert stage.pre_tokenize_str("ab 1") == [("ab", (0, 2)), ("Ġ", (2, 3)), ("1", (3, 4))]

    def test_a_byte_character_may_be_a_digit(self) -> None:
        stage = Sequence([ByteLevel(add_prefix_space=False), Digits()])
        # U+00B2 is C2 B2 in UTF-8, and the byte B2 is spelt by U+00B2 itself.
        assert stage.pre_tokenize_str("²") == [("Â", (0, 1)), ("²", (0, 1))]

    def test_each_piece_gets_its_own_prefix_space(self) -> None:
        stage = Sequence([Split(" ", "merged_with_next"), ByteLevel(use_regex=False)])
        assert pieces(stage, "ab cd") == ["Ġab", "Ġcd"]


def test_stages_of_a_sequence_can_be_looked_at_and_changed() -> None:
    sequence = Sequence([Digits(), WhitespaceSplit()])
    sequence[0].individual_digits = True
    assert pieces(sequence, "12 a") == ["1", "2", "a"]
    sequence[0] = WhitespaceSplit()
    assert pieces(sequence, "12 a") == ["12", "a"]
    with pytest.raises(IndexError):
        sequence[5]


def test_alphabet_has_a_character_for_each_byte() -> None:
    assert len(set(ByteLevel.alphabet())) == 256


def test_a_pattern_beyond_the_engine_is_refused_when_it_is_built() -> None:
    with pytest.raises(LexmillError):
        Split(Regex(r"(a)\1\K"), "isolated")


class TestMetaspace:
    def test_a_prefix_stands_for_the_first_character(self) -> None:
        assert Metaspace().pre_tokenize_str("é b") == [("▁é", (0, 1)), ("▁b", (1, 3))]

    @pytest.mark.parametrize(
        ("scheme", "expected"),
        [
            ("always", ["▁a", "<s>", "▁a", "<s>", "▁"]),
            ("first", ["▁a", "<s>", "a", "<s>", "▁"]),
            ("never", ["a", "<s>", "a", "<s>", "▁"]),
        ],
    )
    def test_schemes_around_added_tokens(self, scheme: Any, expected: list[str]) -> None:
        tokenizer = Tokenizer(models.BPE(vocab={"a": 0, "▁": 1, "▁a": 2}, merges=[("▁", "a")]))
        tokenizer.add_special_tokens([AddedToken("<s>")])
        tokenizer.pre_tokenizer = Metaspace(prepend_scheme=scheme)
        encoding = tokenizer.encode("a<s>a<s> ")
        assert encoding.tokens == expected
        # Without offsets the place in the text must be known all the same.
        assert tokenizer.encode_batch_ids(["a<s>a<s> "]) == [encoding.ids]

    def test_options_read_back(self) -> None:
        stage = Metaspace()
        assert (stage.replacement, stage.prepend_scheme, stage.split) == ("▁", "always", True)
        stage.replacement, stage.prepend_scheme, stage.split = "_", "never", False
        assert (stage.replacement, stage.prepend_scheme, stage.split) == ("_", "never", False)
        assert pieces(stage, "a b") == ["a_b"]
        assert repr(stage) == 'Metaspace(replacement="_", prepend_scheme=never, split=False)'

    def test_bad_options_are_refused(self) -> None:
        with pytest.raises(OptionError, match='replacement is "__": expected a string of length 1'):
            Metaspace("__")
        with pytest.raises(
            OptionError,
            match=r"prepend_scheme: x is an unknown variant, should be one of \['first', 'never', 'always'\]",
        ):
            Metaspace().prepend_scheme = "x"

    def load(self, **members: Any) -> Any:
        definition = {"type": "Metaspace", "replacement": "_", **members}
        model = {"type": "BPE", "vocab": {}, "merges": []}
        tokenizer = Tokenizer.from_str(json.dumps({"pre_tokenizer": definition, "model": model}))
        return json.loads(tokenizer.to_str())["pre_tokenizer"]

    def test_older_files_are_read(self) -> None:
        expected = {"type": "Metaspace", "replacement": "_", "prepend_scheme": "always", "split": True}
        assert self.load() == self.load(add_prefix_space=True, str_rep="_") == expected
        assert self.load(add_prefix_space=True, prepend_scheme="first")["prepend_scheme"] == "first"
        assert self.load(add_prefix_space=False, prepend_scheme="never")["prepend_scheme"] == "never"

    @pytest.mark.parametrize("members", [{}, {"prepend_scheme": "first"}, {"prepend_scheme": "always"}])
    def test_contradictions_in_older_files_are_refused(self, members: Any) -> None:
        with pytest.raises(FormatError, match="pre_tokenizer: add_prefix_space is false but prepend_scheme is"):
            self.load(add_prefix_space=False, **members)

    def test_malformed_files_are_refused(self) -> None:
        with pytest.raises(FormatError, match=r"pre_tokenizer\.prepend_scheme: unknown prepend_scheme `x`"):
            self.load(prepend_scheme="x")
        with pytest.raises(FormatError, match=r'pre_tokenizer\.replacement: expected a single character, found "ab"'):
            self.load(replacement="ab")


def test_char_delimiter_is_dropped() -> None:
    splitter = pre_tokenizers.CharDelimiterSplit("é")
    assert splitter.pre_tokenize_str("éaééb") == [("a", (1, 2)), ("b", (4, 5))]
    splitter.delimiter = "a"
    assert repr(splitter) == 'CharDelimiterSplit(delimiter="a")'
    with pytest.raises(OptionError, match=r'^delimiter is "ab": expected a string of length 1$'):
        splitter.delimiter = "ab"


def test_fixed_length_counts_characters() -> None:
    splitter = pre_tokenizers.FixedLength(3)
    assert splitter.pre_tokenize_str("héllo日") == [("hél", (0, 3)), ("lo日", (3, 6))]
    assert splitter.pre_tokenize_str("") == []
    with pytest.raises(OptionError, match=r"^length is 0 but must be at least 1$"):
        splitter.length = 0
    assert splitter.length == 3


def test_unicode_scripts_keep_spaces_behind_their_word() -> None:
    found = pre_tokenizers.UnicodeScripts().pre_tokenize_str(" どこで生れ。Yes")
    assert found == [("どこで生れ", (1, 6)), ("。", (6, 7)), ("Yes", (7, 10))]


@pytest.mark.parametrize("before", [True, False])
def test_an_empty_sequence_within_a_sequence_changes_no_ids(before: bool) -> None:
    cut = {"type": "Split", "pattern": {"Regex": GPT2_PATTERN}, "behavior": "Isolated", "invert": False}
    empty = {"type": "Sequence", "pretokenizers": []}
    file = json.loads(Tokenizer(models.WordLevel({"?": 0, " a": 1, "Ġa": 2}, "?")).to_str())
    file["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [empty, cut] if before else [cut, empty]}
    tokenizer = Tokenizer.from_str(json.dumps(file))
    assert tokenizer.encode(" a a").ids == tokenizer._staged().encode(" a a").ids == [1, 1]
