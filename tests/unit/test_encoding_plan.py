"""How a tokenizer encodes, as it tells its user."""

from __future__ import annotations

from typing import Any

import pytest

from lexmill import Regex, Tokenizer, models, normalizers, pre_tokenizers


class Own:
    """A stage that leaves text alone."""

    def pre_tokenize(self, text: Any) -> None:
        """Cuts nothing."""


def tokenizer(pre_tokenizer: Any, model: Any = None) -> Tokenizer:
    made = Tokenizer(model or models.WordLevel({"a": 0, "?": 1}, "?"))
    made.pre_tokenizer = pre_tokenizer
    return made


SEAMS = "the seams of the pre-tokenizer"
ROWS = {
    "known": (pre_tokenizers.Whitespace(), "a scanner"),
    "pattern": (pre_tokenizers.Split(Regex(r"\s?\p{L}+"), "isolated"), SEAMS),
    "characters": (pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Digits()]), SEAMS),
    "scripts": (pre_tokenizers.UnicodeScripts(), "the pre-tokenizer"),
    "scripts after words": (
        pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.UnicodeScripts()]),
        SEAMS,
    ),
}


@pytest.mark.parametrize("name", ROWS)
def test_chunks_are_told(name: str) -> None:
    pre_tokenizer, chunks = ROWS[name]
    plan = tokenizer(pre_tokenizer).encoding_plan()
    assert (plan["chunked"], plan["chunks"], plan["offsets"]) == (True, chunks, None)
    assert (plan["because"] is None) == (chunks != "the pre-tokenizer")


def test_reasons_are_told() -> None:
    custom = tokenizer(pre_tokenizers.PreTokenizer.custom(Own())).encoding_plan()
    assert (custom["chunked"], custom["chunks"], custom["on_a_miss"]) == (False, None, "all stages")
    assert custom["because"] == "a stage is written in Python"
    assert "nothing cuts the text" in str(tokenizer(None).encoding_plan()["because"])


def test_reasons_of_chunked_plans_are_told() -> None:
    random = models.BPE({"a": 0, "b": 1, "ab": 2}, [("a", "b")], dropout=0.5)
    assert "chooses at random" in str(tokenizer(pre_tokenizers.Whitespace(), random).encoding_plan()["because"])
    made = tokenizer(pre_tokenizers.Whitespace())
    for pattern, reason in ((r"a+", None), (r"\s+", None), (r"a(?=b)", "the normalizer runs stage by stage")):
        made.normalizer = normalizers.Replace(Regex(pattern), " ")
        assert made.encoding_plan()["because"] == reason


@pytest.mark.parametrize(
    ("pattern", "chunks"),
    [
        (r"\d{1,3}(?=(?:\d{3})*\b)", SEAMS),
        (r"[^a]+?(?=::)", "the pre-tokenizer"),
        (r" ?[^(\s|[.,!?])]+", SEAMS),
    ],
)
def test_chunks_of_patterns_are_told(pattern: str, chunks: str) -> None:
    stages = [pre_tokenizers.Split(Regex(pattern), "isolated"), pre_tokenizers.WhitespaceSplit()]
    assert tokenizer(pre_tokenizers.Sequence(stages)).encoding_plan()["chunks"] == chunks


def test_a_plan_follows_changes() -> None:
    made = tokenizer(pre_tokenizers.Punctuation())
    assert made.encoding_plan()["chunks"] == SEAMS
    made.normalizer = normalizers.Lowercase()
    plan = made.encoding_plan()
    assert plan["chunks"] == "the seams of the normalizer and the pre-tokenizer"
    assert plan["offsets"] == "in chunks of normalized text"
    made.cache_limit = 0
    assert made.encoding_plan()["chunks"] == SEAMS
    made.cache_limit = 1 << 20
    made.pre_tokenizer = pre_tokenizers.FixedLength(3)
    assert made.encoding_plan()["chunks"] == "the pre-tokenizer"


def test_a_model_that_drops_text_has_no_word_ids_by_chunk() -> None:
    model = models.BPE({"a": 0, "b": 1, "ab": 2}, [("a", "b")])
    plan = tokenizer(pre_tokenizers.Punctuation(), model).encoding_plan()
    assert (plan["chunked"], plan["offsets"]) == (True, "stage by stage")
