"""The pages of `lexmill.tools`: spans, labels and colours, derived by hand."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from lexmill import ByteLevelBPETokenizer, Tokenizer, models, pre_tokenizers, processors
from lexmill.tools import Annotation, EncodingVisualizer
from lexmill.tools.visualizer import CharState, CharStateKey, HTMLBody, css, css_filename

WORDS = {"[UNK]": 0, "a": 1, "bc": 2, "junk": 3, '"unk': 4}


def visualizer(**options: Any) -> EncodingVisualizer:
    tokenizer = Tokenizer(models.WordLevel(WORDS, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return EncodingVisualizer(tokenizer, default_to_notebook=False, **options)


def spans(page: str | None) -> str:
    found = re.fullmatch(r".*<div class=\"tokenized-text\" dir=auto>\n {12}(.*)\n {12}</div>.*", page or "", re.DOTALL)
    assert found
    return found[1]


def token(parity: str, text: str) -> str:
    return f'<span class="token {parity}-token"  >{text}</span>'


def unknown(parity: str, name: str, text: str) -> str:
    return f'<span class="token {parity}-token special-token"  data-stok="{name}" >{text}</span>'


def label(hue: int, name: str, inner: str) -> str:
    return f'<span class="annotation" style="color:hsl({hue},32%,64%)" data-label="{name}">{inner}</span>'


BLANK = '<span class="non-token"  > </span>'


def test_tokens_alternate_and_blanks_stand_between() -> None:
    expected = token("even", "a") + BLANK + token("odd", "bc") + BLANK + token("even", "a")
    assert spans(visualizer()("a bc a")) == expected


def test_unknown_tokens_are_named() -> None:
    assert spans(visualizer()("x")) == unknown("even", "[UNK]", "x")
    assert spans(visualizer()("<&")) == unknown("even", "[UNK]", "&lt;&amp;")


def test_every_token_with_unk_in_it_counts_as_unknown() -> None:
    assert spans(visualizer()("junk")) == unknown("even", "junk", "junk")


def test_quotation_marks_do_not_end_attributes() -> None:
    assert spans(visualizer()('"unk')) == unknown("even", "&quot;unk", "&quot;unk")
    assert spans(visualizer()("a", [Annotation(0, 1, 'b"c')])) == label(10, "b&quot;c", token("even", "a"))


def test_characters_of_several_tokens_are_marked() -> None:
    tokenizer = ByteLevelBPETokenizer({character: at for at, character in enumerate("aÃ©")}, [])
    page = EncodingVisualizer(tokenizer, default_to_notebook=False)("aéa")
    shared = '<span class="token multi-token odd-token"  >é</span>'
    assert spans(page) == token("even", "a") + shared + token("odd", "a")


def test_tokens_without_text_are_not_shown() -> None:
    tokenizer = Tokenizer(models.WordLevel(WORDS, unk_token="[UNK]"))
    tokenizer.post_processor = processors.TemplateProcessing(single="bc $A bc", special_tokens=[("bc", 2)])
    assert spans(EncodingVisualizer(tokenizer, default_to_notebook=False)("a")) == token("odd", "a")


def test_annotations_stand_around_tokens_and_cut_them() -> None:
    page = visualizer()("a bc", [Annotation(0, 3, "y"), Annotation(3, 4, "x")])
    assert spans(page) == label(137, "y", token("even", "a") + BLANK + token("odd", "b")) + label(
        10, "x", token("odd", "c")
    )


def test_of_annotations_that_overlap_the_later_wins() -> None:
    page = visualizer()("bc", [Annotation(0, 2, "x"), Annotation(1, 2, "x")])
    assert spans(page) == label(10, "x", token("even", "b")) + label(10, "x", token("even", "c"))


def test_annotations_after_the_text_are_errors() -> None:
    with pytest.raises(IndexError):
        visualizer()("a", [Annotation(0, 2, "x")])


def test_annotations_of_another_kind_are_converted() -> None:
    made = visualizer(annotation_converter=lambda pair: Annotation(*pair, "x"))
    assert made.annotation_converter is not None
    assert spans(made("a", annotations=iter([(0, 1)]))) == label(10, "x", token("even", "a"))


def test_an_empty_text_makes_an_empty_page() -> None:
    assert spans(visualizer()("")) == ""


@pytest.mark.parametrize(
    ("labels", "hues"),
    [([], []), (["a"], [10]), (["b", "a", "b"], [10, 137]), (list("abcdefghijklm"), range(10, 251, 20))],
)
def test_hues_are_spread_by_the_order_of_labels(labels: list[str], hues: list[int]) -> None:
    colors = EncodingVisualizer.calculate_label_colors([Annotation(0, 1, label) for label in labels])
    expected = dict(zip(sorted(set(labels)), (f"hsl({hue},32%,64%)" for hue in hues), strict=True))
    assert colors == expected


def test_characters_without_text_show_the_name_of_their_token() -> None:
    state = CharState(None)
    state.tokens = [0]
    encoding = visualizer().tokenizer.encode("a")
    html = EncodingVisualizer.consecutive_chars_to_html([state], "a", encoding)
    assert html == '<span class="special-token" data-stoken="a"></span>'


def test_states_know_their_tokens() -> None:
    state = CharState(3)
    assert (state.token_ix, state.is_multitoken, state.partition_key()) == (None, False, CharStateKey(None, None))
    state.tokens, state.anno_ix = [4, 5], 1
    assert (state.token_ix, state.is_multitoken, state.partition_key()) == (4, True, CharStateKey(4, 1))


def test_pages_have_the_style_sheet() -> None:
    assert css in (visualizer()("a") or "")
    assert css == Path(css_filename).read_text(encoding="utf-8")
    assert "p {}" in HTMLBody([], css_styles="p {}")
    classes = "tokenized-text token even-token odd-token multi-token special-token non-token annotation"
    assert all(f".{name}" in css for name in classes.split())


def test_the_notebook_needs_ipython(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "IPython.display", None)
    with pytest.raises(ImportError, match="default_to_notebook=False"):
        EncodingVisualizer(visualizer().tokenizer)
    with pytest.raises(ImportError, match="default_to_notebook=False"):
        visualizer()("a", default_to_notebook=True)


def test_the_notebook_shows_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    class Notebook(ModuleType):
        shown: list[str] = []  # noqa: RUF012 - one for the test

        @staticmethod
        def HTML(page: str) -> str:
            return f"HTML {page}"

        @classmethod
        def display(cls, page: str) -> None:
            cls.shown.append(page)

    monkeypatch.setitem(sys.modules, "IPython", ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", Notebook("IPython.display"))
    made = EncodingVisualizer(visualizer().tokenizer)
    assert made("a") is None
    page = made("a", default_to_notebook=False)
    assert Notebook.shown == [f"HTML {page}"]
