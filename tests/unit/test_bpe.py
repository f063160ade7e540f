from __future__ import annotations

import json
from typing import Any

import pytest

from cases import load, load_cases, pairs, tokens
from engines import Engine
from lexmill import Tokenizer
from lexmill.errors import VocabError
from lexmill.reference.words import byte_level, whitespace_split


@pytest.mark.parametrize("case", load_cases("bpe_encode.json"))
def test_golden(engine: Engine, case: dict[str, Any]) -> None:
    arguments = (case["vocab"], pairs(case["merges"]), case["word"])
    if "error" in case:
        with pytest.raises(VocabError) as raised:
            engine.encode_word(*arguments, **case["options"])
        assert str(raised.value) == case["error"]
    else:
        assert engine.encode_word(*arguments, **case["options"]) == tokens(case["tokens"])


def test_textbook_encoding(engine: Engine) -> None:
    golden = load("textbook.json")["bpe"]
    for text, expected in golden["encode"].items():
        found = [
            token
            for word in byte_level(text, add_prefix_space=False)
            for _, token, _ in engine.encode_word(golden["vocab"], pairs(golden["merges"]), word)
        ]
        assert found == expected


def test_library_encoding(engine: Engine) -> None:
    golden = load("textbook.json")["library_bpe"]
    corpus = golden["corpus"].split()
    vocab, merges = engine.train_bpe(
        [(word, corpus.count(word)) for word in dict.fromkeys(corpus)],
        special_tokens=["[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"],
    )
    for text, expected in golden["encode"].items():
        found = [token for word in whitespace_split(text) for _, token, _ in engine.encode_word(vocab, merges, word)]
        assert found == expected


def test_long_run_takes_the_largest_tokens_from_the_left(engine: Engine) -> None:
    vocab = ["a" * 2**power for power in range(4)]
    merges = [(token, token) for token in vocab[:-1]]
    found = engine.encode_word(vocab, merges, "a" * 1003)
    assert found == [
        *((3, "a" * 8, (start, start + 8)) for start in range(0, 1000, 8)),
        (1, "aa", (1000, 1002)),
        (0, "a", (1002, 1003)),
    ]


def test_a_space_is_merged_as_itself_where_another_token_has_its_id() -> None:
    """Text is not cut before spaces, though the name of the merge's right half is `b`."""
    vocab = {"u": 0, "x": 1, "▁": 5, "b": 5, "x▁": 3, "y": 4}
    model = {"type": "BPE", "unk_token": "u", "vocab": vocab, "merges": [["x", "▁"]]}
    space = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
    normalizer = {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "▁"}, space]}
    tokenizer = Tokenizer.from_str(json.dumps({"normalizer": normalizer, "model": model}))
    assert tokenizer.encode("x y x b").ids == [5, 3, 4, 5, 3, 5]
    assert tokenizer.encode_batch_ids(["x y"]) == [[5, 3, 4]]


def test_a_long_word_is_not_cut_where_tokens_that_share_an_id_merge() -> None:
    """The merge of the empty token with `a` joins `_`, which has its id, to `a`, though no token is spelled `_a`."""
    model = {"type": "BPE", "unk_token": "u", "vocab": {"u": 0, "a": 1, "_": 3, "": 3}, "merges": [["", "a"]]}
    tokenizer = Tokenizer.from_str(json.dumps({"model": model}))
    assert tokenizer.encode("_a").ids == [1]
    assert tokenizer.encode("_a" * 40).ids == [1] * 40
