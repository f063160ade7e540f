from __future__ import annotations

import regex
from hypothesis import given
from hypothesis import strategies as st

from lexmill.reference.superwords import train_boundless
from lexmill.reference.superwords_on_documents import train_boundless_on_documents
from lexmill.reference.words import GPT2_PATTERN
from superword_texts import JOINS, SIZES, TIES, cut, documents


@given(texts=documents(), sizes=SIZES, tie_break=TIES, lines=st.booleans())
def test_two_phases_learn_what_one_loop_over_documents_learns(
    texts: list[str], sizes: tuple[int, int], tie_break: str, lines: bool
) -> None:
    joins = JOINS["boundless"]
    weak = r"[^\n]+" if lines else f"(?:{joins})+|{GPT2_PATTERN}"
    given_parts = (
        # Pieces first, so that both definitions cut the same text.
        texts,
        lambda text: [pre_token for piece in cut(weak, text) for pre_token in cut(GPT2_PATTERN, piece)],
        lambda text: cut(weak, text),
        lambda pre_token: bool(regex.fullmatch(joins, pre_token)),
    )
    alphabet = len({char for text in texts for char in text})
    initial = alphabet + sizes[0]
    options = {"initial_vocab_size": initial, "vocab_size": initial + sizes[1], "tie_break": tie_break}
    assert train_boundless(*given_parts, **options) == train_boundless_on_documents(*given_parts, **options)
