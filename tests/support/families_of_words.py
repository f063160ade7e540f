"""Families that cut as BERT does."""

from __future__ import annotations

from family import CONVERTER, HUB, Family

BERT_PRE_TOKENIZER = {"type": "BertPreTokenizer"}
BERT_NORMALIZER = {
    "type": "BertNormalizer",
    "clean_text": True,
    "handle_chinese_chars": True,
    "strip_accents": None,
    "lowercase": True,
}

FAMILIES_OF_WORDS = [
    Family(
        "bert",
        ("BERT uncased", "DistilBERT", "ELECTRA", "MPNet", "MiniLM", "BGE", "E5", "GTE", "Nomic Embed"),
        BERT_NORMALIZER,
        BERT_PRE_TOKENIZER,
        "bert-base-uncased",
        HUB + "google-bert/bert-base-uncased/blob/main/tokenizer.json",
    ),
    Family(
        "bert cased",
        ("BERT cased", "BERT multilingual", "BERT Chinese"),
        {**BERT_NORMALIZER, "lowercase": False},
        BERT_PRE_TOKENIZER,
        "bert-base-cased",
        HUB + "google-bert/bert-base-cased/blob/main/tokenizer.json",
    ),
    Family("openai gpt", ("OpenAI GPT",), BERT_NORMALIZER, BERT_PRE_TOKENIZER, "hf-wiki-bpe", CONVERTER),
]
