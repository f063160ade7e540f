"""The splitters and the pattern language against Hugging Face `tokenizers`, on every code point and on random text."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lexmill
from lexmill import Regex, pre_tokenizers
from published_patterns import CL100K, GPT2, O200K, PATTERNS, QWEN2

pytestmark = pytest.mark.external

peer: Any = pytest.importorskip("tokenizers")

# Patterns that no published tokenizer has.
OTHERS = [
    r"\w+|[^\w\s]+",
    r"[\w]+|\W",
    r"\p{N}{1,3}+|(?i:first|'ss)|\s++$",
    r"(?<!\n)^|[\p{Han}]+|\b",
    r"(?<=^|\s)[[:punct:]]+|[[:^alnum:]&&\S]",
    r"<\|startoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+",
]
BEHAVIORS = ["removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"]


def splitters(library: Any) -> dict[str, Any]:
    """The same pre-tokenizers, by name, of one library or the other."""
    module, regex = library.pre_tokenizers, library.Regex
    made = {
        "byte_level": module.ByteLevel(add_prefix_space=False),
        "byte_level_prefix": module.ByteLevel(add_prefix_space=True),
        "whitespace": module.Whitespace(),
        "bert": module.BertPreTokenizer(),
        "whitespace_split": module.WhitespaceSplit(),
        "digits": module.Digits(individual_digits=False),
        "digits_individual": module.Digits(individual_digits=True),
    }
    for name, pattern in {"gpt2": GPT2, "cl100k": CL100K, "qwen2": QWEN2, "o200k": O200K}.items():
        made[name] = module.Split(regex(pattern), behavior="isolated")
    for models, pattern in PATTERNS.items():
        made[models] = module.Split(regex(pattern), behavior="isolated")
    for index, pattern in enumerate(OTHERS):
        made[f"other_{index}"] = module.Split(regex(pattern), behavior="isolated")
    for behavior in BEHAVIORS:
        made[f"punctuation_{behavior}"] = module.Punctuation(behavior)
        for invert in (False, True):
            made[f"split_{behavior}_{invert}"] = module.Split(regex(r"\s+|\p{N}"), behavior, invert)
    return made


OURS, THEIRS = splitters(lexmill), splitters(peer)

PIECES = [
    *("'", "'s", "'S", "'\u017f", "'t", "'re", "'RE", "'Ve", "'m", "'lL", "'d", "'l", "'r", "\u017f", "ß", "ﬁrst"),
    *("a", "'ll", "word", "A", "B", "WORD", "Word", "sixteenletterwords", "é", "É", "ж", "Ж", "first", "ss"),
    *(" ", "  ", "\n", "\r\n", "\r", "\t", "\u00a0", "\u0085", "\u3000", "\u2028", "\u000b", "\u200b"),
    *("0", "1", "12", "1234", "٣", "²", "½", "Ⅷ", "\U0001d7d8"),
    *("中", "文", "か", "한", "ก", "ǅ", "ᾈ", "ʰ", "\u02c8", "ª", "\U00010400", "\U00010428"),
    *("\u0301", "\u093f", "\u200d", "\ufe0f", "👩\u200d👧", "🏽", "😀", "\U000e0100"),
    *("!", "?", ".", ",", "-", "_", "/", "//", "(", '"', "$", "\0", "\U0010ffff", "\u0378"),
]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=200).map("".join)
# A few pieces over and over make the long runs that a wide choice never makes.
MONOTONE_TEXTS = st.lists(st.sampled_from(PIECES), min_size=1, max_size=4).flatmap(
    lambda some: st.lists(st.sampled_from(some), max_size=100).map("".join)
)
CONTEXTS = ["a?b", " ?", "??", "'?", "'r?", "'?l", "1?2", "?\n", " ? ", "!?", "A?B", "\n?a", "中?A", "\u0301?'s"]


@pytest.mark.parametrize("name", OURS)
@given(text=st.one_of(TEXTS, MONOTONE_TEXTS))
def test_random_text_is_split_alike(name: str, text: str) -> None:
    assert OURS[name].pre_tokenize_str(text) == THEIRS[name].pre_tokenize_str(text)


@pytest.mark.slow
@pytest.mark.parametrize("name", OURS)
def test_every_code_point_is_split_alike(name: str) -> None:
    codes = [code for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    for start in range(0, len(codes), 512):
        for context in CONTEXTS:
            text = "\n\n;".join(context.replace("?", chr(code)) for code in codes[start : start + 512])
            assert OURS[name].pre_tokenize_str(text) == THEIRS[name].pre_tokenize_str(text)


@pytest.mark.slow
@pytest.mark.parametrize("corpus", ["english", "german", "multilingual", "messy"])
@pytest.mark.parametrize("name", [*PATTERNS, "whitespace", "whitespace_split", "bert"])
def test_corpora_are_split_alike(name: str, corpus: str) -> None:
    folder = os.environ.get("LEXMILL_DATA") or Path(__file__).parents[2] / "../shared/data"
    path = Path(folder) / "corpora" / f"{corpus}.txt"
    if not path.exists():
        pytest.skip(f"{path} is absent; LEXMILL_DATA names another folder")
    text = path.read_bytes()[: 4 << 20].decode(errors="ignore")
    for start in range(0, len(text), 100_000):
        part = text[start : start + 100_000]
        assert OURS[name].pre_tokenize_str(part) == THEIRS[name].pre_tokenize_str(part)


@pytest.mark.parametrize(
    "pattern", ["(", "[", "+", "a|*", "(?s)a", "(?P<n>a)", r"\p{sc=Greek}", r"[a-\d]", "[[:foo:]]", "^*", "a{100001}"]
)
def test_both_refuse_a_malformed_pattern(pattern: str) -> None:
    with pytest.raises(Exception, match="Oniguruma"):
        peer.Regex(pattern)
    with pytest.raises(lexmill.LexmillError):
        pre_tokenizers.Split(Regex(pattern), "isolated")
