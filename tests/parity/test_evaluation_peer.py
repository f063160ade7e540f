"""Entropies and efficiencies of tokenization-scorer, on real text."""

from __future__ import annotations

from pathlib import Path

import pytest

import lexmill
from report_cases import ALL, TEXTS, write_corpus

pytestmark = pytest.mark.external

scorer = pytest.importorskip("tokenization_scorer", reason="install the dependency group `peers`")


@pytest.mark.parametrize("make", ALL, ids=lambda make: make.__name__)
# With power=1 the scorer reads its text twice, and finds none the second time.
@pytest.mark.parametrize("alpha", [0.5, 2.5, 3.0])
def test_entropies_are_those_of_the_scorer(make: object, alpha: float, tmp_path: Path) -> None:
    assert callable(make)
    tokenizer = make()
    (found,) = lexmill.evaluate(tokenizer, write_corpus(tmp_path), alpha=alpha).corpora[0].tokenizers
    tokenizer.post_processor = None
    tokenizer.no_truncation()
    tokenizer.no_padding()
    ids = "\n".join(" ".join(map(str, tokenizer.encode(text).ids)) for text in TEXTS)
    size = tokenizer.get_vocab_size()
    for metric, options, own in (
        ("renyi_entropy", {"power": alpha}, found.renyi_entropy),
        ("renyi_efficiency", {"power": alpha}, found.renyi_efficiency_of_used),
        ("renyi_efficiency", {"power": alpha, "vocab": size}, found.renyi_efficiency),
        ("shannon_entropy", {}, found.shannon_entropy),
        ("shannon_efficiency", {"vocab": size}, found.shannon_efficiency),
    ):
        assert own == pytest.approx(scorer.score(ids, metric=metric, **options)), metric
    assert found.tokens == -scorer.metrics._seq_len([line.split() for line in ids.split("\n")])
