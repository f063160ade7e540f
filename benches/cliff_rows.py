"""The tokenizers that cliffs.py measures: published families, and changes of four well-known tokenizers."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1] / "tests" / "support"))

from families import FAMILIES, REFUSED, stages_of, with_stages
from families_of_pieces import QUOTES
from families_of_words import BERT_NORMALIZER, BERT_PRE_TOKENIZER
from family import (
    BYTE_LEVEL,
    CHARSMAP,
    DIGITS,
    LOWERCASE,
    NFC,
    NFKD,
    STRIP_ACCENTS,
    WHITESPACE_SPLIT,
    metaspace,
    normalizers,
    pre_tokenizers,
    replace_pattern,
)

# The plain stages of a vocabulary come from its file, from a family, or from GPT-2.
OWN_STAGES = {
    *("cl100k_base", "o200k_base", "qwen2", "gpt2"),
    *("bert-base-uncased", "bert-base-cased", "hf-wiki-bpe", "t5-small", "mistral-v1"),
}
LIKE = {"xlnet-base-cased": FAMILIES["t5"], "llm-jp-v2.2": FAMILIES["mistral"]}
NAMED = {"BERT": "bert-base-uncased", "T5": "t5-small", "Mistral": "mistral-v1", "GPT-2": "gpt2"}

NFD: dict[str, Any] = {"type": "NFD"}
FOLDED = (NFD, LOWERCASE, STRIP_ACCENTS)
COURSE_PRE_TOKENIZERS = {
    "BertPreTokenizer": BERT_PRE_TOKENIZER,
    "Whitespace": {"type": "Whitespace"},
    "WhitespaceSplit, Punctuation": pre_tokenizers(WHITESPACE_SPLIT, {"type": "Punctuation", "behavior": "Isolated"}),
}
GEMMA = FAMILIES["gemma"]


@dataclass(frozen=True)
class Row:
    """A tokenizer to measure.

    Attributes:
        name: unique among the rows.
        vocabulary: the tokenizer at hand that gives the model and its added tokens.
        stages: a normalizer and a pre-tokenizer; None keeps the plain tokenizer's.
        added: contents of normalized tokens that are added.
    """

    name: str
    vocabulary: str
    stages: tuple[Any, Any] | None = None
    added: tuple[str, ...] = ()

    def load(self, lexmill: Any, file: Path) -> Any:
        """The tokenizer, of a module that is imported late, since threads are limited before."""
        normalizer, pre_tokenizer = self.stages or plain_stages(self.vocabulary, file)
        tokenizer = lexmill.Tokenizer.from_str(with_stages(file, normalizer, pre_tokenizer))
        if self.added:
            tokenizer.add_tokens(list(self.added))
        return tokenizer


def plain(vocabulary: str) -> Row:
    """The tokenizer that the others with the vocabulary are compared with."""
    return Row(f"plain {vocabulary}", vocabulary)


def plain_stages(vocabulary: str, file: Path) -> tuple[Any, Any]:
    """The stages of the plain tokenizer with a vocabulary."""
    if vocabulary in OWN_STAGES:
        return stages_of(file)
    if vocabulary in LIKE:
        return LIKE[vocabulary].normalizer, LIKE[vocabulary].pre_tokenizer
    return None, BYTE_LEVEL


def families() -> Iterator[Row]:
    """A row a published family."""
    for family in FAMILIES.values():
        if family.name not in REFUSED:
            yield Row(family.name, family.vocabulary, (family.normalizer, family.pre_tokenizer))


def changes() -> Iterator[Row]:
    """Rows of changes that users make to a tokenizer."""
    for name, vocabulary in NAMED.items():
        yield Row(f"{name} with covid19 added", vocabulary, added=("covid19",))
        # A word that every other line holds, in lower case.
        yield Row(f"{name} with the added", vocabulary, added=("the",))
        for number in (100, 50_000):
            added = tuple(f"covid{place}" for place in range(number))
            yield Row(f"{name} with {number:,} tokens added", vocabulary, added=added)
    yield from _bert()
    yield from _t5_and_xlnet()
    yield from _mistral()
    yield from _gpt2()


def _bert() -> Iterator[Row]:
    for name, pre_tokenizer in COURSE_PRE_TOKENIZERS.items():
        yield Row(f"WordPiece of the course, {name}", "bert-base-uncased", (normalizers(*FOLDED), pre_tokenizer))
    for flag in ("clean_text", "handle_chinese_chars"):
        stages = ({**BERT_NORMALIZER, flag: False}, BERT_PRE_TOKENIZER)
        yield Row(f"BERT without {flag}", "bert-base-uncased", stages)
    yield Row("BERT after NFC", "bert-base-uncased", (normalizers(NFC, BERT_NORMALIZER), BERT_PRE_TOKENIZER))


def _t5_and_xlnet() -> Iterator[Row]:
    course = normalizers(*QUOTES, NFKD, STRIP_ACCENTS, replace_pattern(" {2,}", " "))
    yield Row("XLNet of the course", "xlnet-base-cased", (course, metaspace("always")))
    stages = (normalizers({"type": "NFKC"}, CHARSMAP), FAMILIES["t5"].pre_tokenizer)
    yield Row("T5 after NFKC", "t5-small", stages)


def _mistral() -> Iterator[Row]:
    yield Row("Mistral, Metaspace first, no split", "mistral-v1", (None, metaspace("first", is_split=False)))
    yield Row("Mistral, Metaspace always, split", "mistral-v1", (None, metaspace("always")))
    yield Row("Mistral with Gemma's stages", "mistral-v1", (GEMMA.normalizer, GEMMA.pre_tokenizer))


def _gpt2() -> Iterator[Row]:
    yield Row("GPT-2 with add_prefix_space", "gpt2", (None, {**BYTE_LEVEL, "add_prefix_space": True}))
    yield Row("GPT-2 after Lowercase", "gpt2", (LOWERCASE, BYTE_LEVEL))
    yield Row("GPT-2 after NFD, Lowercase, StripAccents", "gpt2", (normalizers(*FOLDED), BYTE_LEVEL))
    yield Row("GPT-2 after Digits", "gpt2", (None, pre_tokenizers(DIGITS, BYTE_LEVEL)))
