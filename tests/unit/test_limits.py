"""Inputs that would take all time or all memory end with an error that names the limit."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from lexmill import Regex, Tokenizer, decoders, normalizers, pre_tokenizers, processors, trainers
from lexmill.errors import OptionError, RegexError, TextTooLongError
from small import letters

# It cannot be compiled, and it has 2^n ways to match n characters.
ENDLESS = "(?:a(?!xx)|a(?!yy))+b(?=c)"
TEXT = "a" * 5000 + "bd"


def split() -> Tokenizer:
    tokenizer = letters("abd")
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(ENDLESS), "isolated")
    return tokenizer


def replace() -> Tokenizer:
    tokenizer = letters("abd")
    tokenizer.normalizer = normalizers.Replace(Regex(ENDLESS), "b")
    return tokenizer


def train(tokenizer: Tokenizer) -> None:
    tokenizer.train_from_iterator([TEXT], trainers.BpeTrainer(vocab_size=300, show_progress=False))


class TestRegularExpressions:
    @pytest.mark.parametrize("make", [split, replace])
    @pytest.mark.parametrize(
        "call",
        [
            lambda tokenizer: tokenizer.encode(TEXT),
            lambda tokenizer: tokenizer.encode_batch(["ab", TEXT]),
            lambda tokenizer: tokenizer.encode_batch_arrays(["ab", TEXT]),
            train,
        ],
        ids=["encode", "encode_batch", "encode_batch_arrays", "train"],
    )
    def test_a_search_without_end_names_pattern_and_limit(
        self, make: Callable[[], Tokenizer], call: Callable[[Tokenizer], Any]
    ) -> None:
        message = f"regex `{ENDLESS}`: a search in 5002 bytes backtracks more often than 16777216 times"
        with pytest.raises(RegexError, match=f"^{re.escape(message)}$"):
            call(make())

    def test_the_same_holds_for_decoders_and_for_a_stage_alone(self) -> None:
        stage = decoders.Replace(Regex(ENDLESS), "b")
        with pytest.raises(RegexError, match="16777216"):
            stage.decode([TEXT])
        with pytest.raises(RegexError, match="16777216"):
            normalizers.Replace(Regex(ENDLESS), "b").normalize_str(TEXT)
        with pytest.raises(RegexError, match="16777216"):
            pre_tokenizers.Split(Regex(ENDLESS), "isolated").pre_tokenize_str(TEXT)

    def test_a_model_that_was_trained_stays(self) -> None:
        tokenizer = split()
        before = tokenizer.to_str()
        with pytest.raises(RegexError):
            train(tokenizer)
        assert tokenizer.to_str() == before

    def test_too_many_choices_are_named(self) -> None:
        message = "a search in 1100000 bytes has more than 1000000 choices to come back to"
        with pytest.raises(RegexError, match=message):
            pre_tokenizers.Split(Regex("(?:a(?!xx))*(?=cc)"), "isolated").pre_tokenize_str("a" * 1_100_000)


class TestGrowth:
    MESSAGE = "the stages make more than 16777216 bytes of a text of 1 bytes"

    def test_normalizers_that_double_a_text(self) -> None:
        stage = normalizers.Sequence([normalizers.Replace("a", "aa")] * 40)
        with pytest.raises(TextTooLongError, match=self.MESSAGE):
            stage.normalize_str("a")
        tokenizer = letters("a")
        tokenizer.normalizer = stage
        with pytest.raises(TextTooLongError, match=self.MESSAGE):
            tokenizer.encode("a")

    def test_a_normalizer_that_puts_in_much_at_once(self) -> None:
        stages = [normalizers.Replace("a", "a" * 4000), normalizers.Replace("a", "a" * 5000)]
        with pytest.raises(TextTooLongError, match=self.MESSAGE):
            normalizers.Sequence(stages).normalize_str("a")

    def test_pre_tokenizers_that_double_a_text(self) -> None:
        byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
        stage = pre_tokenizers.Sequence([byte_level] * 40)
        with pytest.raises(TextTooLongError, match="the stages make more than 16777216 bytes of a text of 2 bytes"):
            stage.pre_tokenize_str("é")

    def test_decoders_that_double_a_text(self) -> None:
        stage = decoders.Sequence([decoders.Replace("a", "aa")] * 40)
        with pytest.raises(TextTooLongError, match=self.MESSAGE):
            stage.decode(["a"])

    def test_a_long_text_may_become_64_times_as_long(self) -> None:
        text = "a" * 300_000
        assert len(normalizers.Replace("a", "b" * 64).normalize_str(text)) == 64 * len(text)
        with pytest.raises(TextTooLongError, match="more than 19200000 bytes of a text of 300000 bytes"):
            normalizers.Replace("a", "b" * 65).normalize_str(text)


def test_pairs_of_overflowing_encodings_are_limited() -> None:
    tokenizer = letters("a")
    tokenizer.post_processor = processors.TemplateProcessing(single="$A $A $A", pair="$A $B", special_tokens=[])
    tokenizer.enable_truncation(2)
    assert len(tokenizer.encode("a" * 20).overflowing) > 20
    with pytest.raises(OptionError, match=r"number of overflowing encodings is \d+ but must be at most 65536"):
        tokenizer.encode("a" * 300)
    with pytest.raises(OptionError, match="number of overflowing encodings is 90000 but must be at most 65536"):
        tokenizer.encode("a" * 300, "a" * 300)


def test_sizes_in_a_file_that_nothing_can_have() -> None:
    parts = json.loads(letters("a").to_str())
    parts["model"]["vocab"] = {"a": 2**32 - 1, "b": 2**31}
    parts["truncation"] = {
        "direction": "Right",
        "max_length": 2**64 - 1,
        "strategy": "LongestFirst",
        "stride": 2**64 - 1,
    }
    tokenizer = Tokenizer.from_str(json.dumps(parts))
    assert tokenizer.encode("ab").ids == [2**32 - 1, 2**31]


@pytest.mark.parametrize(
    "options", [{}, {"return_offsets": True, "return_attention_mask": True}], ids=["ids", "columns"]
)
@pytest.mark.parametrize("template", [False, True])
def test_arrays_of_padding_that_no_memory_holds_are_refused(template: bool, options: dict[str, bool]) -> None:
    tokenizer = letters("a")
    if template:
        # Rows of this template are made by way of encodings.
        tokenizer.post_processor = processors.TemplateProcessing(single="$A $A", pair="$A $B", special_tokens=[])
    tokenizer.enable_padding(length=1 << 28)
    # 256 TiB of ids.
    texts = ["a"] * (1 << 19)
    message = "length to pad to is 268435456 tokens, 140737488355328 in 524288 texts but must be such that memory holds"
    with pytest.raises(OptionError, match=message):
        tokenizer.encode_batch_arrays(texts, **options)
