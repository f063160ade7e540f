"""A tokenizer with superwords must give the same ids in Hugging Face's library."""

from __future__ import annotations

from typing import Any

import pytest

import lexmill
from lexmill.trainers import BpeTrainer, SuperwordOptions
from peers import stdlib_sources

pytestmark = pytest.mark.external

hf = pytest.importorskip("tokenizers", reason="install the dependency group `peers`")

ODD = [
    "",
    " ",
    "of the of  the\n\nof\tthe",
    "don't'select \"'s",
    "日本 の 日本 の",
    "e\u0301 e\u0301 é é",
    "12 the 345the the",
]


@pytest.mark.parametrize(
    "options",
    [{}, {"algorithm": "superbpe"}, {"pattern": "[^\n]+|\n+"}, {"algorithm": "superbpe", "pattern": "[^\n]+|\n+"}],
    ids=str,
)
def test_ids_are_the_same(options: dict[str, Any]) -> None:
    texts = stdlib_sources()
    tokenizer = lexmill.Tokenizer(lexmill.models.BPE())
    tokenizer.pre_tokenizer = lexmill.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = lexmill.decoders.ByteLevel()
    alphabet = lexmill.pre_tokenizers.ByteLevel.alphabet()
    superwords = SuperwordOptions(700, **options)
    trainer = BpeTrainer(vocab_size=1200, superwords=superwords, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(texts[:40], trainer)
    peer = hf.Tokenizer.from_str(tokenizer.to_str())
    assert peer.get_vocab() == tokenizer.get_vocab()
    for text in [*texts[:60], *ODD]:
        assert tokenizer.encode(text).ids == peer.encode(text).ids
        assert tokenizer.decode(tokenizer.encode(text).ids) == text
