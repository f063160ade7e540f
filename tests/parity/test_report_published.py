"""Reports on published tokenizers: curves are what fewer merges give, and tokens in use are reachable."""

from __future__ import annotations

import json

import numpy as np
import pytest

from lexmill import Tokenizer
from lexmill.reports.curve import curve_of
from lexmill.reports.vocabulary import reach_of, vocabulary_of
from peers import corpus_file, tokenizer_file

pytestmark = [pytest.mark.external, pytest.mark.slow]

# Characters that are taken of each corpus.
SIZE = 40_000
# Of each curve, this many points are compared.
POINTS = 6


@pytest.fixture(scope="module")
def texts() -> list[str]:
    found = []
    for name in ("english", "multilingual", "messy"):
        with corpus_file(name).open(encoding="utf-8", newline="") as file:
            found += file.read(SIZE).splitlines(keepends=True)
    return found


def plain(name: str) -> Tokenizer:
    tokenizer = Tokenizer.from_file(tokenizer_file(name))
    tokenizer.post_processor = None
    return tokenizer


def cut(tokenizer: Tokenizer, merges: int) -> Tokenizer:
    """The tokenizer with the merges of ranks below `merges`, and without the tokens that only the others make."""
    stages = json.loads(tokenizer.to_str())
    model = stages["model"]
    prefix = len(model["continuing_subword_prefix"] or "")
    spelled = [merge.split(" ") if isinstance(merge, str) else merge for merge in model["merges"]]
    made = [left + right[prefix:] for left, right in spelled]
    gone = set(made[merges:]) - set(made[:merges])
    # The others keep their ids, so a token that is gone becomes one that no text spells.
    model["vocab"] = {f"\0{token}" if token in gone else token: id_ for token, id_ in model["vocab"].items()}
    model["merges"] = [merge for merge in spelled[:merges] if gone.isdisjoint(merge)]
    return Tokenizer.from_str(json.dumps(stages))


@pytest.mark.parametrize(
    "name",
    ["gpt2", "cl100k_base", "o200k_base", "qwen2", "falcon", "clip-vit", "hf-wiki-bpe", "mistral-v1", "phi-3-mini"],
)
def test_curves_are_what_fewer_merges_give(name: str, texts: list[str]) -> None:
    tokenizer = plain(name)
    ids = tokenizer.encode_batch_arrays(texts).ids
    counts = np.bincount(ids, minlength=max(tokenizer.get_vocab().values()) + 1)
    curve = curve_of(tokenizer, vocabulary_of(tokenizer), counts)
    assert curve is not None
    assert curve.inexact == 0
    last = len(curve.tokens) - 1
    for point in sorted({last * step // (POINTS - 1) for step in range(POINTS)} | {1, last - 1}):
        fewer = cut(tokenizer, int(curve.merges[point]))
        assert curve.tokens[point] == len(fewer.encode_batch_arrays(texts).ids), point


@pytest.mark.parametrize(
    "name",
    [
        "gpt2",
        "cl100k_base",
        "clip-vit",
        "mistral-v1",
        "bert-base-uncased",
        "t5-small",
        "xlnet-base-cased",
        "llm-jp-v2.2",
    ],
)
def test_tokens_in_use_are_reachable(name: str, texts: list[str]) -> None:
    tokenizer = plain(name)
    vocabulary = vocabulary_of(tokenizer)
    # As if no token had been seen in use.
    unreachable = {token.id for token in reach_of(tokenizer, vocabulary).unreachable}
    assert unreachable.isdisjoint(np.unique(tokenizer.encode_batch_arrays(texts).ids).tolist())
