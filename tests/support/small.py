"""Tokenizers small enough to work out by hand."""

from __future__ import annotations

from typing import Any

import lexmill
from lexmill import decoders, models, pre_tokenizers
from lexmill.reference.byte_level import alphabet


def byte_level(*merges: tuple[str, str], **options: Any) -> lexmill.Tokenizer:
    """Bytes have ids 0 to 255 in the alphabet's order, the merges those from 256; options are those of ByteLevel."""
    tokens = [*alphabet(), *(left + right for left, right in merges)]
    vocab = {token: token_id for token_id, token in enumerate(tokens)}
    tokenizer = lexmill.Tokenizer(models.BPE(vocab=vocab, merges=list(merges)))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(**{"add_prefix_space": False, **options})
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def letters(tokens: str = "abcdefghij", *merges: tuple[str, str], **options: Any) -> lexmill.Tokenizer:
    """One token a character, numbered from 0, then the merges; words end at white space; options are those of BPE."""
    names = [*tokens, *(left + right for left, right in merges)]
    vocab = {token: token_id for token_id, token in enumerate(names)}
    tokenizer = lexmill.Tokenizer(models.BPE(vocab=vocab, merges=list(merges), **options))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return tokenizer
