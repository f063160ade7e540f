"""Families that SentencePiece trained: Unigram, and BPE of characters."""

from __future__ import annotations

from typing import Any

from family import (
    CHARSMAP,
    CONVERTER,
    HUB,
    LOWERCASE,
    NFC,
    NFKD,
    STRIP_ACCENTS,
    TRANSFORMERS,
    WHITESPACE_SPLIT,
    Family,
    metaspace,
    normalizers,
    pre_tokenizers,
    replace,
    replace_pattern,
    split_string,
    strip,
)

# U+2581 stands for a space.
META = "\u2581"
SPACES_AS_META = replace(" ", META)
QUOTES: tuple[dict[str, Any], ...] = (replace("``", '"'), replace("''", '"'))
WORDS = pre_tokenizers(WHITESPACE_SPLIT, metaspace("always"))

FAMILIES_OF_PIECES = [
    Family(
        "llama 2",
        ("Llama 1, 2", "Code Llama", "TinyLlama", "Vicuna"),
        None,
        metaspace("first", is_split=False),
        "mistral-v1",
        TRANSFORMERS + "models/llama/tokenization_llama.py",
    ),
    Family(
        "mistral",
        ("Mistral 1 to 3", "Mixtral", "Phi 3", "Zephyr", "Llama 2 as first published"),
        normalizers({"type": "Prepend", "prepend": META}, SPACES_AS_META),
        None,
        "mistral-v1",
        HUB + "mistralai/Mistral-7B-v0.1/blob/main/tokenizer.json",
    ),
    Family(
        "internlm 2",
        ("InternLM 2", "Llama's converter without a prefix"),
        normalizers(SPACES_AS_META),
        None,
        "mistral-v1",
        HUB + "internlm/internlm2-7b/blob/main/tokenization_internlm2_fast.py",
    ),
    Family(
        "gemma",
        ("Gemma 1 to 3",),
        SPACES_AS_META,
        split_string(" ", "MergedWithPrevious"),
        "mistral-v1",
        TRANSFORMERS + "models/gemma/tokenization_gemma.py",
    ),
    Family(
        "moshi", ("Moshi",), normalizers(SPACES_AS_META), metaspace("first", is_split=False), "mistral-v1", CONVERTER
    ),
    Family(
        "helium",
        ("Helium",),
        normalizers({"type": "Prepend", "prepend": " "}, SPACES_AS_META),
        pre_tokenizers(split_string("\n", "Contiguous")),
        "llm-jp-v2.2",
        CONVERTER,
    ),
    Family(
        "llm-jp",
        ("LLM-jp 2",),
        normalizers(replace_pattern(r"(?<!\n)^", META), replace_pattern(" ", META)),
        None,
        "llm-jp-v2.2",
        HUB + "llm-jp/llm-jp-13b-v2.0/blob/main/tokenizer.json",
    ),
    Family(
        "t5",
        ("T5", "mT5", "UMT5", "XLM-RoBERTa", "BGE M3", "multilingual E5", "multilingual GTE"),
        CHARSMAP,
        WORDS,
        "t5-small",
        TRANSFORMERS + "models/t5/tokenization_t5.py",
    ),
    Family(
        "xlm-roberta as converted",
        ("XLM-RoBERTa", "T5", "mT5", "mBART", "mBART 50", "BigBird", "Marian"),
        normalizers(CHARSMAP, strip(left=False, right=True), replace_pattern(" {2,}", META)),
        metaspace("always"),
        "t5-small",
        CONVERTER,
    ),
    Family("mbart", ("mBART",), None, WORDS, "t5-small", TRANSFORMERS + "models/mbart/tokenization_mbart.py"),
    Family(
        "nllb",
        ("NLLB",),
        normalizers(CHARSMAP, replace_pattern(" {2,}", " ")),
        metaspace("always"),
        "t5-small",
        TRANSFORMERS + "models/nllb/tokenization_nllb.py",
    ),
    Family(
        "pegasus",
        ("Pegasus",),
        normalizers(CHARSMAP, strip(left=False, right=True), replace_pattern(" {2,}", META)),
        WORDS,
        "t5-small",
        CONVERTER,
    ),
    Family(
        "albert",
        ("ALBERT", "FNet"),
        normalizers(*QUOTES, NFKD, STRIP_ACCENTS, LOWERCASE, CHARSMAP),
        WORDS,
        "xlnet-base-cased",
        TRANSFORMERS + "models/albert/tokenization_albert.py",
    ),
    Family(
        "albert as converted",
        ("ALBERT", "FNet"),
        normalizers(*QUOTES, NFKD, STRIP_ACCENTS, LOWERCASE, CHARSMAP, replace_pattern(" {2,}", " ")),
        metaspace("always"),
        "xlnet-base-cased",
        CONVERTER,
    ),
    Family(
        "xlnet",
        ("XLNet",),
        normalizers(*QUOTES, NFKD, STRIP_ACCENTS, CHARSMAP),
        WORDS,
        "xlnet-base-cased",
        TRANSFORMERS + "models/xlnet/tokenization_xlnet.py",
    ),
    Family(
        "xlnet as converted",
        ("XLNet",),
        normalizers(*QUOTES, NFKD, STRIP_ACCENTS, CHARSMAP, replace_pattern(" {2,}", " ")),
        metaspace("always"),
        "xlnet-base-cased",
        CONVERTER,
    ),
    Family(
        "rembert",
        ("RemBERT",),
        normalizers(*QUOTES, replace_pattern(" {2,}", " "), CHARSMAP),
        metaspace("always"),
        "xlnet-base-cased",
        CONVERTER,
    ),
    Family(
        "deberta 3",
        ("DeBERTa 2, 3",),
        normalizers(replace_pattern(r"\s{2,}|[\n\r\t]", " "), NFC, strip(left=False, right=True)),
        pre_tokenizers(metaspace("always")),
        "t5-small",
        TRANSFORMERS + "models/deberta_v2/tokenization_deberta_v2.py",
    ),
    Family(
        "deberta 3 as converted",
        ("DeBERTa 2, 3",),
        normalizers(strip(left=True, right=True), CHARSMAP, replace_pattern(" {2,}", " ")),
        pre_tokenizers(metaspace("always")),
        "t5-small",
        CONVERTER,
    ),
    Family(
        "deberta 2 split by punctuation",
        ("DeBERTa 2 with split_by_punct",),
        normalizers(strip(left=True, right=True), CHARSMAP, replace_pattern(" {2,}", " ")),
        pre_tokenizers({"type": "Punctuation", "behavior": "Isolated"}, metaspace("always")),
        "t5-small",
        CONVERTER,
    ),
]
