"""Objects of Hugging Face's handed to a tokenizer of lexmill's: an accelerated tokenizer of transformers gets them."""

from __future__ import annotations

from typing import Any

import pytest

import lexmill

pytestmark = pytest.mark.external
peer = pytest.importorskip("tokenizers")


def made(library: Any) -> Any:
    """A tokenizer of words."""
    return library.Tokenizer(library.models.WordLevel({"a": 0, "b": 1, "?": 2}, "?"))


@pytest.mark.parametrize("special", [True, False])
@pytest.mark.parametrize(
    "options", [{}, {"special": True}, {"lstrip": True, "normalized": False}, {"single_word": True}]
)
def test_added_tokens(special: bool, options: dict[str, bool]) -> None:
    token = peer.AddedToken("<x>", **options)
    ours, theirs = made(lexmill), made(peer)
    for tokenizer in (ours, theirs):
        add = tokenizer.add_special_tokens if special else tokenizer.add_tokens
        assert add([token, "<y>"]) == 2
    assert ours.to_str() == theirs.to_str()


STAGES = {
    "normalizer": lambda: peer.normalizers.Sequence([peer.normalizers.NFKC(), peer.normalizers.Replace("a", "b")]),
    "pre_tokenizer": lambda: peer.pre_tokenizers.Split(peer.Regex("b"), "isolated"),
    "post_processor": lambda: peer.processors.TemplateProcessing("[CLS] $A", special_tokens=[("[CLS]", 7)]),
    "decoder": lambda: peer.decoders.Strip("a", 1, 0),
    "model": lambda: peer.models.BPE({"a": 0, "b": 1, "ab": 2}, [("a", "b")]),
}


@pytest.mark.parametrize("name", STAGES)
def test_stages(name: str) -> None:
    ours, theirs = made(lexmill), made(peer)
    for tokenizer in (ours, theirs):
        setattr(tokenizer, name, STAGES[name]())
    assert ours.to_str() == theirs.to_str()
    with pytest.raises(TypeError):
        setattr(ours, name, 5)


def test_a_stage_in_python_is_refused() -> None:
    with pytest.raises(TypeError):
        made(lexmill).normalizer = peer.normalizers.Normalizer.custom(object())
