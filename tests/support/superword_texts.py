"""Documents of few words, and their cuts, for laws of superwords."""

from __future__ import annotations

import regex
from hypothesis import strategies as st

JOINS = {"boundless": r" ?\p{L}+", "superbpe": r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?[^\s\p{L}\p{N}]+"}


@st.composite
def documents(draw: st.DrawFn) -> list[str]:
    words = st.sampled_from(["a", "b", "ab", "ba", "aé", "b's", "12", "日本", ",", ".", "\n", " ", "abab"])
    separators = st.sampled_from([" ", " ", " ", ""])
    texts = st.lists(st.tuples(words, separators), max_size=14)
    return ["".join(word + space for word, space in draw(texts)) for _ in range(draw(st.integers(1, 4)))]


def cut(pattern: str, text: str) -> list[str]:
    """Cuts text at all matches, as a Split with the behavior isolated."""
    pieces: list[str] = []
    end = 0
    for match in regex.finditer(pattern, text):
        pieces += [text[end : match.start()], match.group()]
        end = match.end()
    return [piece for piece in [*pieces, text[end:]] if piece]


SIZES = st.tuples(st.integers(0, 30), st.integers(0, 40))
TIES = st.sampled_from(["smallest-ids", "first-seen"])
