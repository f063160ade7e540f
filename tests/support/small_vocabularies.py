"""Shared by the tests of changed vocabularies: small tokenizers, and their tokens and merges."""

from __future__ import annotations

import json

from lexmill import Tokenizer, decoders, models, normalizers, pre_tokenizers


def tokens_of(tokenizer: Tokenizer) -> list[str]:
    return [tokenizer.id_to_token(id_) or "" for id_ in range(tokenizer.get_vocab_size())]


def merges_of(tokenizer: Tokenizer) -> list[list[str]]:
    merges: list[list[str]] = json.loads(tokenizer.to_str())["model"]["merges"]
    return merges


def wordpiece(*tokens: str) -> Tokenizer:
    tokenizer = Tokenizer(models.WordPiece({token: id_ for id_, token in enumerate(["[UNK]", *tokens])}))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer


def unigram(*pieces: tuple[str, float]) -> Tokenizer:
    tokenizer = Tokenizer(models.Unigram([("<unk>", 0.0), *pieces], 0))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    return tokenizer
