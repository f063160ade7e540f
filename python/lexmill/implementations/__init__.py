"""Whole tokenizers of well-known kinds: a model with the stages around it, and a method to train both at once.

For anything beyond these kinds, build a `lexmill.Tokenizer` from stages.
"""

from __future__ import annotations

from lexmill.implementations.base_tokenizer import BaseTokenizer
from lexmill.implementations.bert_wordpiece import BertWordPieceTokenizer
from lexmill.implementations.byte_level_bpe import ByteLevelBPETokenizer
from lexmill.implementations.char_level_bpe import CharBPETokenizer
from lexmill.implementations.sentencepiece_bpe import SentencePieceBPETokenizer
from lexmill.implementations.sentencepiece_unigram import SentencePieceUnigramTokenizer

__all__ = [
    "BaseTokenizer",
    "BertWordPieceTokenizer",
    "ByteLevelBPETokenizer",
    "CharBPETokenizer",
    "SentencePieceBPETokenizer",
    "SentencePieceUnigramTokenizer",
]
