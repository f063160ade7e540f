"""A small tokenizer with special tokens, in the interfaces of 0.23 and 1.0."""

from __future__ import annotations

import lexmill
from lexmill import AddedToken, decoders, models, pre_tokenizers, processors, v1

WORDS = ["[CLS]", "[SEP]", "[PAD]", "?", *"abcdefghij"]


def plain() -> lexmill.Tokenizer:
    """Letters are tokens with ids from 4; of the added tokens `<n>` is not special."""
    made = lexmill.Tokenizer(models.WordLevel({word: number for number, word in enumerate(WORDS)}, "?"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.decoder = decoders.WordPiece()
    made.add_special_tokens(["[CLS]", "[SEP]", "[PAD]"])
    made.add_tokens([AddedToken("<n>", normalized=False)])
    made.post_processor = processors.TemplateProcessing(
        "[CLS] $A [SEP]", "[CLS] $A [SEP] $B:2 [SEP]:2", [("[CLS]", 0), ("[SEP]", 1)]
    )
    return made


def tokenizer() -> v1.Tokenizer:
    """The same in the interface of 1.0."""
    return v1.Tokenizer.from_str(plain().to_str())
