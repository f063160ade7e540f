from __future__ import annotations

import json
from typing import Any

import pytest

from lexmill import AddedToken, Regex, Tokenizer, models, normalizers
from lexmill.errors import FormatError, LexmillError, RegexError
from lexmill.normalizers import (
    NFC,
    NFD,
    NFKC,
    NFKD,
    Lowercase,
    Normalizer,
    Prepend,
    Replace,
    Sequence,
    Strip,
    StripAccents,
)


@pytest.mark.parametrize(
    ("normalizer", "text", "expected"),
    [
        (NFC(), "e\u0301 \ufb01", "\u00e9 \ufb01"),
        (NFD(), "\u00e9 \uac01", "e\u0301 \u1100\u1161\u11a8"),
        (NFD(), "\u00e9", "e\u0301"),
        (NFKD(), "\u00bd", "1\u20442"),
        (NFKC(), "\u00a0", " "),
        (NFKC(), "e\u0301 \ufb01 \u2460", "\u00e9 fi 1"),
        (NFKD(), "\u00e9 \ufb01", "e\u0301 fi"),
        # These came after Unicode 9, whose tables Hugging Face has.
        (NFKC(), "\u32ff \U0001fbf0", "\u32ff \U0001fbf0"),
        # No final sigma: each character is looked at alone.
        (Lowercase(), "ΟΔΟΣ İX", "οδοσ i\u0307x"),
        (Strip(), "\u3000\t a b \n", "a b"),
        (Strip(right=False), "  a  ", "a  "),
        (Strip(left=False), "  a  ", "  a"),
        (Strip(), " \n ", ""),
        (StripAccents(), "a\u0301\u0323\u20dd\u0903 \u00e9", "a \u00e9"),
        # A mark of Unicode 12, and a letter that was a mark in Unicode 9.
        (StripAccents(), "a\u1abf\u1cf2", "a\u1abf"),
        (Prepend(), "a", "▁a"),
        (Prepend("ab"), "", ""),
        (Prepend(""), "a", "a"),
        (Replace(" ", "▁"), "a  b", "a▁▁b"),
        (Replace("aa", "b"), "aaa", "ba"),
        (Replace(".", "!"), "a.b", "a!b"),
        (Replace("", "-"), "ab", "-a-b-"),
        (Replace("", "-"), "", ""),
        (Replace(Regex(r"\s+"), " "), "a \n\t b\u3000", "a b "),
        (Replace(Regex("x*"), "-"), "axb", "-a-b-"),
        (Replace("a", ""), "aba", "b"),
        (Sequence([]), "a", "a"),
        (Sequence([Prepend("A"), Lowercase()]), "B", "ab"),
        (Sequence([Strip(), Prepend("x")]), "  ", ""),
    ],
)
def test_text(normalizer: Normalizer, text: str, expected: str) -> None:
    assert normalizer.normalize_str(text) == expected


def tokens_of(normalizer: Normalizer, text: str, added: list[AddedToken] | None = None) -> list[tuple[str, Any]]:
    """Each character of the normalized text with its offsets."""
    alphabet = sorted({*normalizer.normalize_str(text), *normalizer.normalize_str("".join(sorted(text))), *text, *"▁x"})
    tokenizer = Tokenizer(models.BPE(vocab={c: at for at, c in enumerate(alphabet)}, merges=[]))
    tokenizer.normalizer = normalizer
    tokenizer.add_tokens(added or [])
    encoding = tokenizer.encode(text)
    assert tokenizer.encode_batch_ids([text]) == [encoding.ids]
    return list(zip(encoding.tokens, encoding.offsets, strict=True))


@pytest.mark.parametrize(
    ("normalizer", "text", "expected"),
    [
        # What is put before stands for the first character, whole as that is.
        (Prepend("▁x"), "éa", [("▁", (0, 1)), ("x", (0, 1)), ("é", (0, 1)), ("a", (1, 2))]),
        # With nothing to put before, the first character loses its place.
        (Prepend(""), "ab", [("a", (0, 0)), ("b", (1, 2))]),
        # A replacement stands for the last character of the match.
        (Replace(Regex(" +"), "▁"), "a  b", [("a", (0, 1)), ("▁", (2, 3)), ("b", (3, 4))]),
        (Replace("é", "xx"), "aéb", [("a", (0, 1)), ("x", (1, 2)), ("x", (1, 2)), ("b", (2, 3))]),
        (Replace("aé", ""), "aéb", [("b", (2, 3))]),
        # Even if it is what was there before.
        (Replace("ab", "ab"), "ab", [("a", (1, 2)), ("b", (1, 2))]),
        # In place of nothing it stands for the character before.
        (Replace("", "x"), "ab", [("x", (0, 0)), ("a", (0, 1)), ("x", (0, 1)), ("b", (1, 2)), ("x", (1, 2))]),
        (
            Sequence([Prepend("▁"), Replace(" ", "▁")]),
            " é",
            [("▁", (0, 1)), ("▁", (0, 1)), ("é", (1, 2))],
        ),
        (Sequence([Strip(), Prepend("x")]), " a ", [("x", (1, 2)), ("a", (1, 2))]),
        (Lowercase(), "aİ", [("a", (0, 1)), ("i", (1, 2)), ("\u0307", (1, 2))]),
        (StripAccents(), "e\u0301a", [("e", (0, 1)), ("a", (2, 3))]),
        (NFKD(), "ﬁé", [("f", (0, 1)), ("i", (0, 1)), ("e", (1, 2)), ("\u0301", (1, 2))]),
    ],
)
def test_offsets(normalizer: Normalizer, text: str, expected: list[Any]) -> None:
    assert tokens_of(normalizer, text) == expected


def test_each_piece_between_added_tokens_is_normalized_on_its_own() -> None:
    added = [AddedToken("<s>", normalized=False)]
    expected = [("▁", (0, 1)), ("a", (0, 1)), ("<s>", (1, 4)), ("▁", (4, 5)), ("a", (4, 5)), ("<s>", (5, 8))]
    assert tokens_of(Prepend(), "a<s>a<s>", added) == expected


def test_options_read_back() -> None:
    prepend, replace, strip = Prepend("a"), Replace("a", "b"), Strip(right=False)
    prepend.prepend, replace.content, strip.left, strip.right = "x", "y", False, True
    assert (prepend.normalize_str("q"), replace.normalize_str("ab"), strip.normalize_str(" a ")) == ("xq", "yb", " a")
    assert (prepend.prepend, replace.content, strip.left, strip.right) == ("x", "y", False, True)


def test_a_pattern_cannot_be_read_or_changed() -> None:
    replace = Replace("a", "b")
    with pytest.raises(LexmillError, match="Cannot get pattern"):
        _ = replace.pattern
    with pytest.raises(LexmillError, match="Cannot set pattern"):
        replace.pattern = "c"


@pytest.mark.parametrize(
    ("normalizer", "expected"),
    [
        (Prepend(), 'Prepend(prepend="▁")'),
        (Replace("a", "b"), 'Replace(pattern=String("a"), content="b")'),
        (Replace(Regex("a+"), ""), 'Replace(pattern=Regex("a+"), content="")'),
        (Strip(), "Strip(strip_left=True, strip_right=True)"),
        (Sequence([NFKC(), StripAccents()]), "Sequence(normalizers=[NFKC(), StripAccents()])"),
    ],
)
def test_repr(normalizer: Normalizer, expected: str) -> None:
    assert repr(normalizer) == str(normalizer) == expected


def test_stages_of_a_sequence_act_on_the_tokenizer() -> None:
    tokenizer = Tokenizer(models.BPE(vocab={"x": 0, "y": 1, "a": 2}, merges=[]))
    tokenizer.normalizer = Sequence([Prepend("x")])
    assert tokenizer.encode("a").tokens == ["x", "a"]
    tokenizer.normalizer[0].prepend = "y"
    assert tokenizer.encode("a").tokens == ["y", "a"]


@pytest.mark.parametrize(
    ("definition", "message"),
    [
        ({"type": "Prepend"}, "normalizer: `prepend` is missing"),
        ({"type": "Prepend", "prepend": 1}, "normalizer.prepend: expected a string, found 1"),
        ({"type": "Strip", "strip_left": True}, "normalizer: `strip_right` is missing"),
        ({"type": "Replace", "pattern": {"String": "a"}}, "normalizer: `content` is missing"),
        ({"type": "Replace", "pattern": {}, "content": ""}, "normalizer.pattern: expected one of"),
        (
            {"type": "Sequence", "normalizers": [{"type": "Replace", "pattern": {"Regex": "("}, "content": ""}]},
            r"normalizer.normalizers\[0\]: regex `\(`",
        ),
        (
            {"type": "Bert2"},
            "normalizer: unknown normalizer `Bert2`, this version knows NFC, NFD, NFKC, NFKD, Lowercase",
        ),
    ],
)
def test_a_malformed_definition_is_refused_with_its_place(definition: Any, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        Tokenizer.from_str(json.dumps({"normalizer": definition, "model": {"type": "BPE", "vocab": {}, "merges": []}}))


def test_a_broken_pattern_is_refused() -> None:
    with pytest.raises(RegexError):
        Replace(Regex("("), "a")
    with pytest.raises(TypeError):
        Replace(None, "a")


def test_nmt_takes_control_characters_out_and_makes_spaces_plain() -> None:
    assert normalizers.Nmt().normalize_str("a\x01b\tc\u200bd\x8fe\u2581f\0") == "ab c de f\0"


def test_precompiled_reads_a_table_or_says_why_not() -> None:
    assert normalizers.Precompiled(b"\0\0\0\0").normalize_str("abc") == "abc"
    with pytest.raises(FormatError, match=r"^precompiled_charsmap: the trie has 4 bytes, but only 3 are there$"):
        normalizers.Precompiled(b"\x04\0\0\0abc")
    with pytest.raises(FormatError, match=r"unpickle Normalizer: normalizer\.precompiled_charsmap: not base64$"):
        normalizers.NFC().__setstate__(b'{"type": "Precompiled", "precompiled_charsmap": "AAAAA"}')
