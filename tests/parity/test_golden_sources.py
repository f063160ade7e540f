from __future__ import annotations

import json
from typing import Any

import pytest

from cases import load_cases, pairs, tokens

pytestmark = pytest.mark.external


@pytest.mark.parametrize(
    "case", load_cases("bpe_ties.json", source="peer") + load_cases("bpe_options.json", source="peer")
)
def test_peer_trains_the_golden(case: dict[str, Any]) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    options = {name: value for name, value in case["options"].items() if name != "tie_break"}
    trainer = tokenizers.trainers.BpeTrainer(show_progress=False, **options)
    tokenizer.train_from_iterator((" ".join([word] * count) for word, count in case["words"]), trainer)
    model = json.loads(tokenizer.to_str())["model"]
    assert sorted(model["vocab"], key=model["vocab"].get) == case["vocab"]
    assert model["merges"] == case["merges"]


@pytest.mark.parametrize("case", load_cases("wordpiece_encode.json", source="peer"))
def test_peer_encodes_the_wordpiece_golden(case: dict[str, Any]) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    vocab = {token: token_id for token_id, token in enumerate(case["vocab"])}
    model = tokenizers.models.WordPiece(vocab=vocab, **case["options"])
    assert [(token.id, token.value, token.offsets) for token in model.tokenize(case["word"])] == tokens(case["tokens"])


@pytest.mark.parametrize("case", load_cases("bpe_encode.json", source="peer"))
def test_peer_encodes_the_golden(case: dict[str, Any]) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    vocab = {token: token_id for token_id, token in enumerate(case["vocab"])}
    model = tokenizers.models.BPE(vocab=vocab, merges=pairs(case["merges"]), **case["options"])
    assert [(token.id, token.value, token.offsets) for token in model.tokenize(case["word"])] == tokens(case["tokens"])
