"""Conversations of one shape to ids and masks, with the recording of the template and without."""

from __future__ import annotations

import random
from typing import Any

import pytest

pytest.importorskip("jinja2")

from lexmill import Tokenizer, models, pre_tokenizers
from lexmill.messages import tokenize_messages
from lexmill.messages._recordings import Recordings

pytestmark = pytest.mark.bench

CONVERSATIONS = 500


def conversations() -> list[list[dict[str, str]]]:
    chosen = random.Random(1)
    text = "".join(chosen.choice("etaoin shrdlu") for _ in range(20_000))
    return [
        [
            {"role": role, "content": text[at : at + chosen.randrange(100, 800)]}
            for role in ("system", "user", "assistant", "user", "assistant")
            for at in [chosen.randrange(19_000)]
        ]
        for _ in range(CONVERSATIONS)
    ]


@pytest.mark.benchmark(group="conversations to ids and masks")
@pytest.mark.parametrize("is_recorded", [True, False])
def test_conversations(benchmark: Any, monkeypatch: pytest.MonkeyPatch, is_recorded: bool) -> None:
    vocab = {char: at for at, char in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    tokenizer = Tokenizer(models.BPE(vocab, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    batch = conversations()
    recorded = tokenize_messages(tokenizer, batch, template="chatml", num_threads=1)
    if not is_recorded:
        monkeypatch.setattr(Recordings, "wants", lambda *_: False)
    found = benchmark(tokenize_messages, tokenizer, batch, template="chatml", num_threads=1)
    assert (found.ids == recorded.ids).all()
    assert (found.loss_mask == recorded.loss_mask).all()
