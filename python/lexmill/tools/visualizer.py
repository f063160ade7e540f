"""Shows how a tokenizer cuts a text: the text as HTML, with a span for every token, and labels of a user's own."""

from __future__ import annotations

import html
import importlib
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, TypeAlias

from lexmill._core import Encoding, Tokenizer
from lexmill.implementations import BaseTokenizer

css_filename = str(Path(__file__).with_name("visualizer-styles.css"))
css = Path(css_filename).read_text(encoding="utf-8")

_NO_NOTEBOOK = "IPython, which shows HTML in a notebook, is not installed; default_to_notebook=False returns the HTML"


class Annotation:
    """A label on a range of text: characters `start` to `end`, half-open."""

    start: int
    end: int
    label: str

    def __init__(self, start: int, end: int, label: str) -> None:
        """Labels a range."""
        self.start = start
        self.end = end
        self.label = label


AnnotationList: TypeAlias = list[Annotation]
PartialIntList: TypeAlias = list[int | None]


class CharStateKey(NamedTuple):
    """The key that neighbouring characters of one span share."""

    token_ix: int | None
    anno_ix: int | None


class CharState:
    """One character: its position, the index of its annotation, the indices of its tokens."""

    char_ix: int | None

    def __init__(self, char_ix: int | None) -> None:
        """Knows the position only; None stands for a token without text."""
        self.char_ix = char_ix
        self.anno_ix: int | None = None
        self.tokens: list[int] = []

    @property
    def token_ix(self) -> int | None:
        """The index of the first token, None if there is none."""
        return self.tokens[0] if self.tokens else None

    @property
    def is_multitoken(self) -> bool:
        """True if several tokens share the character."""
        return len(self.tokens) > 1

    def partition_key(self) -> CharStateKey:
        """The key that characters of one span have in common."""
        return CharStateKey(token_ix=self.token_ix, anno_ix=self.anno_ix)


class Aligned:
    """Nothing; here for imports written for Hugging Face."""


class EncodingVisualizer:
    """Makes HTML of a text: `EncodingVisualizer(tokenizer, default_to_notebook=False)(text)`."""

    # Tokens that are shown as unknown ones. A search, so "junk" is one of them.
    unk_token_regex: ClassVar[re.Pattern[str]] = re.compile("unk|oov", re.IGNORECASE)

    def __init__(
        self,
        tokenizer: Tokenizer | BaseTokenizer,
        default_to_notebook: bool = True,
        annotation_converter: Callable[[Any], Annotation] | None = None,
    ) -> None:
        """Takes a tokenizer, the place to show results, and a converter from a user's own kind to `Annotation`.

        Raises:
            ImportError: `default_to_notebook` is set and IPython is not installed.
        """
        if default_to_notebook:
            _notebook()
        self.tokenizer = tokenizer
        self.default_to_notebook = default_to_notebook
        self.annotation_converter = annotation_converter

    def __call__(
        self, text: str, annotations: Iterable[Any] | None = None, default_to_notebook: bool | None = None
    ) -> str | None:
        """The HTML of a text with its tokens and annotations, or None after showing it in a notebook.

        Of annotations that overlap the later one wins. Negative positions count from the end of the text.

        Args:
            text: A text.
            annotations: `Annotation`s, or objects that the converter makes annotations of.
            default_to_notebook: For this call, instead of the constructor's value.

        Raises:
            ImportError: The notebook is asked for and IPython is not installed.
            IndexError: An annotation ends after the text.
        """
        in_notebook = self.default_to_notebook if default_to_notebook is None else default_to_notebook
        notebook = _notebook() if in_notebook else None
        labels: AnnotationList = [*(annotations or [])]
        if self.annotation_converter is not None:
            labels = [self.annotation_converter(annotation) for annotation in labels]
        page = _page(text, self.tokenizer.encode(text), labels)
        if notebook is None:
            return page
        notebook.display(notebook.HTML(page))
        return None

    @staticmethod
    def calculate_label_colors(annotations: Iterable[Annotation]) -> dict[str, str]:
        """A colour of CSS for each label: hues evenly spread, at least 20 degrees apart, in order of the labels."""
        labels = sorted({annotation.label for annotation in annotations})
        step = max(20, 255 // max(len(labels), 1))
        return {label: f"hsl({10 + step * at},32%,64%)" for at, label in enumerate(labels)}

    @staticmethod
    def consecutive_chars_to_html(consecutive_chars_list: Sequence[CharState], text: str, encoding: Encoding) -> str:
        """The span of neighbouring characters with one `partition_key`."""
        # Characters without a token need no encoding.
        has_token = any(char.tokens for char in consecutive_chars_list)
        return _span(consecutive_chars_list, text, encoding.tokens if has_token else ())


def HTMLBody(children: Iterable[str], css_styles: str = css) -> str:
    """A page of spans with a style sheet."""
    return f"""
    <html>
        <head>
            <style>
                {css_styles}
            </style>
        </head>
        <body>
            <div class="tokenized-text" dir=auto>
            {"".join(children)}
            </div>
        </body>
    </html>
    """


def _notebook() -> Any:  # noqa: ANN401 (a module that may be absent)
    try:
        return importlib.import_module("IPython.display")
    except ImportError as error:
        raise ImportError(_NO_NOTEBOOK) from error


def _page(text: str, encoding: Encoding, annotations: AnnotationList) -> str:
    """The whole page: spans of text; the spans of an annotation stand within a span of its own."""
    colors = EncodingVisualizer.calculate_label_colors(annotations)
    states = _char_states(text, encoding, annotations)
    tokens = encoding.tokens

    def spans() -> Iterator[str]:
        for anno_ix, annotated in itertools.groupby(states, key=lambda state: state.anno_ix):
            if anno_ix is not None:
                label = annotations[anno_ix].label
                yield f'<span class="annotation" style="color:{colors[label]}" data-label="{_attribute(label)}">'
            for _, chars in itertools.groupby(annotated, key=CharState.partition_key):
                yield _span([*chars], text, tokens)
            if anno_ix is not None:
                yield "</span>"

    return HTMLBody(spans())


def _span(chars: Sequence[CharState], text: str, tokens: Sequence[str]) -> str:
    """One span; takes the tokens, since an encoding makes a new list each time."""
    first, last = chars[0], chars[-1]
    if first.char_ix is None or last.char_ix is None:
        return f'<span class="special-token" data-stoken="{_attribute(tokens[first.tokens[0]])}"></span>'
    inner = html.escape(text[first.char_ix : last.char_ix + 1])
    if first.token_ix is None:
        return f'<span class="non-token"  >{inner}</span>'
    classes = ["token"]
    if first.is_multitoken:
        classes.append("multi-token")
    classes.append("odd-token" if first.token_ix % 2 else "even-token")
    token = tokens[first.token_ix]
    name = ""
    if EncodingVisualizer.unk_token_regex.search(token):
        classes.append("special-token")
        name = f' data-stok="{_attribute(token)}"'
    return f'<span class="{" ".join(classes)}" {name} >{inner}</span>'


def _char_states(text: str, encoding: Encoding, annotations: AnnotationList) -> list[CharState]:
    """The state of every character of the text."""
    states = [CharState(at) for at in range(len(text))]
    for at, annotation in enumerate(annotations):
        for char in range(annotation.start, annotation.end):
            states[char].anno_ix = at
    for at, (start, end) in enumerate(encoding.offsets):
        for char in range(start, end):
            states[char].tokens.append(at)
    return states


def _attribute(value: object) -> str:
    """A value for a quoted attribute: only a quotation mark would end it."""
    return str(value).replace('"', "&quot;")
