"""Shared by the tests of continued training: old and new texts, tokenizers of the old ones, and failures."""

from __future__ import annotations

from typing import Any

import pytest

from lexmill import Tokenizer, models, pre_tokenizers, processors, trainers
from lexmill.errors import LexmillError

OLD = ["the cat sat on the mat", "the cat ate"] * 9
NEW = ["der hund sass auf der matte", "der hund lief zum hundehaus"] * 9


def trained(kind: str) -> Tokenizer:
    """A tokenizer of one kind, with an added token after its vocabulary."""
    model: Any = {
        "BPE": models.BPE(unk_token="<unk>"),
        "WordPiece": models.WordPiece(unk_token="<unk>"),
        "Unigram": models.Unigram(),
        "WordLevel": models.WordLevel(unk_token="<unk>"),
    }[kind]
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    options: dict[str, Any] = {"special_tokens": ["<unk>"], "vocab_size": 30, "show_progress": False}
    if kind == "Unigram":
        options["unk_token"] = "<unk>"
    tokenizer.train_from_iterator(OLD, getattr(trainers, kind.replace("BPE", "Bpe") + "Trainer")(**options))
    tokenizer.add_special_tokens(["<s>", "</s>"])
    ids = [(token, tokenizer.token_to_id(token)) for token in ("<s>", "</s>")]
    tokenizer.post_processor = processors.TemplateProcessing("<s> $A </s>", None, ids)
    return tokenizer


KINDS = ["BPE", "WordPiece", "Unigram", "WordLevel"]


def failure(kind: str, trainer: Any = None, texts: list[str] = NEW, **options: Any) -> LexmillError:
    tokenizer = trained(kind)
    before = tokenizer.to_str()
    with pytest.raises(LexmillError) as caught:
        tokenizer.continue_training_from_iterator(texts, trainer, **options)
    assert tokenizer.to_str() == before
    return caught.value


def check_peer(tokenizer: Tokenizer) -> None:
    """Compares the vocabulary and the ids with the vocabulary and the ids of `tokenizers`."""
    from tokenizers import Tokenizer as Peer

    peer = Peer.from_str(tokenizer.to_str())
    assert peer.get_vocab() == tokenizer.get_vocab()
    for text in [*OLD[:2], *NEW[:2], "<s>the hundekatze</s> xyz"]:
        assert peer.encode(text).ids == tokenizer.encode(text).ids
