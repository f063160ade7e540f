"""`lexmill.tools`: the pages of both libraries, apart from the style sheet."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import lexmill
import lexmill.tools.visualizer as own_visualizer
from peers import HARD

peer = pytest.importorskip("tokenizers")
peer_visualizer = import_module("tokenizers.tools.visualizer")
pytestmark = pytest.mark.external

VISUALIZERS = [own_visualizer, peer_visualizer]
ANNOTATIONS: list[list[tuple[int, int, Any]]] = [
    [],
    [(0, 2, "X"), (3, 6, "Y & <"), (7, 8, "X")],
    [(0, 4, "X"), (2, 9, "Y")],
    [(0, 1, "X"), (1, 2, "X")],
    [(0, 1, None)],
    [(-2, 1, "X")],
    [(1, 1, "X"), (3, 1, "Y")],
    [(0, 1, str(label)) for label in range(20)],
]


def body(page: str) -> str:
    return re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL)


def toys(library: ModuleType) -> list[Any]:
    words = library.Tokenizer(library.models.WordLevel({"[UNK]": 0, "junk": 1, "oov": 2, "a": 3, "OOVs": 4}, "[UNK]"))
    words.pre_tokenizer = library.pre_tokenizers.WhitespaceSplit()
    wrapped = library.Tokenizer(words.model)
    wrapped.pre_tokenizer = words.pre_tokenizer
    added = {"oov": 2, "a": 3}
    wrapped.post_processor = library.processors.TemplateProcessing("oov $A a", special_tokens=[*added.items()])
    wrapped.enable_padding(length=12)
    vocab = {token: at for at, token in enumerate(["[UNK]", "[CLS]", "[SEP]", "a", "##a", "junk", "你", "x", "="])}
    in_bytes = library.ByteLevelBPETokenizer()
    in_bytes.train_from_iterator(["the cat sat on the mat", "don't"] * 3, vocab_size=280, show_progress=False)
    return [words, wrapped, library.BertWordPieceTokenizer(vocab), in_bytes]


TOYS = list(zip(toys(lexmill), toys(peer), strict=True))


@pytest.mark.parametrize("tokenizers", TOYS, ids=["words", "wrapped", "bert", "bytes"])
@pytest.mark.parametrize("annotations", ANNOTATIONS)
def test_pages_are_the_same(tokenizers: tuple[Any, Any], annotations: list[tuple[int, int, str]]) -> None:
    texts = ["junk a OOVs x <&>'\" $x ${y} %s {z} a", *(text[:200] for text in HARD if len(text) > 9)]
    for text in texts:
        pages = [
            module.EncodingVisualizer(tokenizer, default_to_notebook=False)(
                text, [module.Annotation(*annotation) for annotation in annotations]
            )
            for module, tokenizer in zip(VISUALIZERS, tokenizers, strict=True)
        ]
        assert body(pages[0]) == body(pages[1])


def test_converted_annotations_give_the_same_page() -> None:
    def page(module: Any, tokenizer: Any) -> str:
        visualizer = module.EncodingVisualizer(tokenizer, False, lambda pair: module.Annotation(*pair, "x"))
        return body(visualizer("a junk", annotations=[(0, 1), (2, 4)]))

    assert page(own_visualizer, TOYS[0][0]) == page(peer_visualizer, TOYS[0][1])


@pytest.mark.parametrize(
    "call",
    [
        lambda module, t: module.EncodingVisualizer(t, False)("a", [module.Annotation(0, 5, "x")]),
        lambda module, t: module.EncodingVisualizer(t, False)("a", [("x",)]),
        lambda module, t: module.EncodingVisualizer(t, False)("a", [module.Annotation(0, 1, x) for x in ("a", 1)]),
        lambda module, t: module.EncodingVisualizer(t, False)(None),
        lambda module, t: module.Annotation(),
    ],
)
def test_wrong_annotations_raise_the_same(call: Callable[[Any, Any], Any]) -> None:
    with pytest.raises(Exception) as info:  # noqa: PT011 - which one is the question
        call(peer_visualizer, TOYS[0][1])
    with pytest.raises(type(info.value)):
        call(own_visualizer, TOYS[0][0])


@pytest.mark.parametrize("number", [0, 1, 2, 5, 12, 13, 300])
def test_colors_are_the_same(number: int) -> None:
    own, other = (
        module.EncodingVisualizer.calculate_label_colors([module.Annotation(0, 1, str(at)) for at in range(number)])
        for module in VISUALIZERS
    )
    assert own == other


def test_states_and_pages_are_the_same() -> None:
    def parts(module: Any) -> Any:
        state, textless = module.CharState(3), module.CharState(None)
        before = state.token_ix, state.is_multitoken, tuple(state.partition_key())
        state.tokens = [4, 5]
        page = module.HTMLBody(["a", "b"], css_styles="p {}")
        return before, state.token_ix, state.is_multitoken, repr(state.partition_key()), vars(textless), page

    assert parts(own_visualizer) == parts(peer_visualizer)
    assert Path(own_visualizer.css_filename).name == Path(peer_visualizer.css_filename).name
