"""Texts take time in proportion to their length, whatever two stages come before the model.

Stages that move text make tokens whose places go back and forth. A character of several bytes makes places in bytes and
in characters differ, and where it is decides how much of the text before each token is plain.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from growth import assert_in_proportion
from lexmill import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

PRE_TOKENIZERS: dict[str, Callable[[], Any]] = {
    "BertPreTokenizer": pre_tokenizers.BertPreTokenizer,
    "ByteLevel": lambda: pre_tokenizers.ByteLevel(add_prefix_space=True),
    "ByteLevel, no pattern": lambda: pre_tokenizers.ByteLevel(add_prefix_space=True, use_regex=False),
    "CharDelimiterSplit": lambda: pre_tokenizers.CharDelimiterSplit(" "),
    "Digits": pre_tokenizers.Digits,
    "FixedLength": lambda: pre_tokenizers.FixedLength(3),
    "Metaspace": pre_tokenizers.Metaspace,
    "Metaspace, first": lambda: pre_tokenizers.Metaspace(prepend_scheme="first"),
    "Metaspace, whole": lambda: pre_tokenizers.Metaspace(split=False),
    "Punctuation": lambda: pre_tokenizers.Punctuation("removed"),
    "Split, contiguous": lambda: pre_tokenizers.Split(Regex(r"\p{L}"), "contiguous"),
    "Split, inverted": lambda: pre_tokenizers.Split(Regex(r"\p{L}+"), "merged_with_previous", invert=True),
    "Split, isolated": lambda: pre_tokenizers.Split(Regex("[aeiou]"), "isolated"),
    "Split, next": lambda: pre_tokenizers.Split(Regex(r"\s"), "merged_with_next"),
    "Split, removed": lambda: pre_tokenizers.Split(" ", "removed"),
    "UnicodeScripts": pre_tokenizers.UnicodeScripts,
    "Whitespace": pre_tokenizers.Whitespace,
    "WhitespaceSplit": pre_tokenizers.WhitespaceSplit,
}
NORMALIZERS: dict[str, Callable[[], Any]] = {
    "BertNormalizer": normalizers.BertNormalizer,
    "ByteLevel": normalizers.ByteLevel,
    "Lowercase": normalizers.Lowercase,
    "NFC": normalizers.NFC,
    "NFD": normalizers.NFD,
    "NFKC": normalizers.NFKC,
    "NFKD": normalizers.NFKD,
    "Nmt": normalizers.Nmt,
    "Prepend": lambda: normalizers.Prepend("▁"),
    "Replace": lambda: normalizers.Replace(" ", "▁"),
    "Replace, longer": lambda: normalizers.Replace(Regex(r"\s+"), "__"),
    "Replace, nothing": lambda: normalizers.Replace(Regex("x*"), "-"),
    "Strip": normalizers.Strip,
    "StripAccents": normalizers.StripAccents,
}
# Pieces that leave a space put before a word a token of its own, and text that is unknown.
MODEL = models.Unigram([("<unk>", 0.0), *[(piece, -1.0) for piece in ("the", "quick", "fox", "▁", "Ġ", "é", ".")]], 0)
SENTENCE = "the quick brown fox. "
PLACES: dict[str, Callable[[int], str]] = {
    "end": lambda number: SENTENCE * number + "é",
    "start": lambda number: "é" + SENTENCE * number,
    "middle": lambda number: SENTENCE * (number // 2) + "é" + SENTENCE * (number // 2),
}


def assert_linear(stages: list[Any], rules: list[Any] = (), *, number: int = 500) -> None:
    """Encodes texts of `number` sentences, and of eight times as many, with offsets trimmed."""
    for place, text in PLACES.items():

        def run(number: int, text: Callable[[int], str] = text) -> None:
            # A tokenizer of its own, as caches make the second time short.
            tokenizer = Tokenizer(MODEL)
            tokenizer.normalizer = normalizers.Sequence(list(rules)) if rules else None
            tokenizer.pre_tokenizer = pre_tokenizers.Sequence(stages)
            tokenizer.post_processor = processors.ByteLevel(trim_offsets=True)
            assert tokenizer.encode(text(number)).ids

        try:
            assert_in_proportion(run, number, times=8)
        except AssertionError as error:
            error.add_note(f"the character of several bytes is at the {place}")
            raise


@pytest.mark.parametrize("second", PRE_TOKENIZERS)
@pytest.mark.parametrize("first", PRE_TOKENIZERS)
def test_two_pre_tokenizers(first: str, second: str) -> None:
    assert_linear([PRE_TOKENIZERS[first](), PRE_TOKENIZERS[second]()])


@pytest.mark.parametrize("stage", PRE_TOKENIZERS)
@pytest.mark.parametrize("rule", NORMALIZERS)
def test_a_pre_tokenizer_after_a_normalizer(rule: str, stage: str) -> None:
    assert_linear([PRE_TOKENIZERS[stage]()], [NORMALIZERS[rule]()])


@pytest.mark.parametrize("second", NORMALIZERS)
@pytest.mark.parametrize("first", NORMALIZERS)
def test_two_normalizers(first: str, second: str) -> None:
    for stage in ("Metaspace", "ByteLevel", "WhitespaceSplit"):
        assert_linear([PRE_TOKENIZERS[stage]()], [NORMALIZERS[first](), NORMALIZERS[second]()])


def test_the_stages_of_t5_on_a_long_text() -> None:
    assert_linear([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()], number=8000)


@pytest.mark.parametrize("unit", ["`", " ", "\u0301", "e\u0301`", "\u0600", "a  \u0301", "中`\u0301", "🇦", "A``b"])
def test_text_that_no_place_divides(unit: str) -> None:
    """Only ids: the stages are compiled to one pass, which goes back to the last place that no stage sees across."""
    rules = [
        normalizers.Replace("``", '"'),
        normalizers.NFKD(),
        normalizers.Lowercase(),
        normalizers.Replace(Regex(" {2,}"), " "),
        normalizers.Strip(),
    ]

    tokenizer = Tokenizer(models.WordLevel({"<unk>": 0}, "<unk>"))
    tokenizer.normalizer = normalizers.Sequence(rules)
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    # Otherwise a longer text would wait for tables that a shorter one does without.
    tokenizer = tokenizer._with_all_tables()

    def run(number: int) -> None:
        tokenizer.clear_cache()
        tokenizer.encode_batch_ids([f"a{unit * number}b"])

    assert_in_proportion(run, 100_000, times=4)


@pytest.mark.parametrize("family", ["BERT", "Mistral", "T5"])
def test_a_text_with_many_added_tokens(family: str) -> None:
    """Where offsets are wanted, each chunk with a token takes the stages; the text after it is not scanned again."""
    visible = normalizers.Replace(" ", "▁")
    tokenizer = {
        "BERT": lambda: Tokenizer(models.WordPiece({"[UNK]": 0, "the": 1}, unk_token="[UNK]")),
        "Mistral": lambda: Tokenizer(models.BPE({"▁": 0, "t": 1, "<unk>": 2}, [], unk_token="<unk>")),
        "T5": lambda: Tokenizer(models.Unigram([("<unk>", 0.0), ("▁the", -1.0)], unk_id=0)),
    }[family]()
    if family == "BERT":
        tokenizer.normalizer, tokenizer.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
    elif family == "Mistral":
        tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), visible])
    else:
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.add_tokens(["covid"])
    covid = tokenizer.token_to_id("covid")

    def run(number: int) -> None:
        assert tokenizer.encode("the covid " * number).ids.count(covid) == number

    assert_in_proportion(run, 4_000, times=4)
