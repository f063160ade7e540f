"""The mask of tokens, computed from the characters of each text that are learned."""

from __future__ import annotations

from itertools import accumulate

from chat_templates import Case, Messages
from lexmill import Tokenizer
from lexmill.messages import MessageTokens

__all__ = ["check_by_characters"]


def empty_blocks(pieces: list[tuple[str, bool]]) -> list[int]:
    """Places of `generation` blocks without text: the token around such a place is learned, as in transformers."""
    ends = list(accumulate(len(piece) for piece, _ in pieces))
    return [end for end, (piece, is_learned) in zip(ends, pieces, strict=True) if is_learned and not piece]


def check_by_characters(case: Case, encoder: Tokenizer, batch: list[Messages], tokens: MessageTokens) -> None:
    """Compares texts, ids, masks and the numbers of straddling tokens with the ones of the case's pieces."""
    plain = Tokenizer.from_str(encoder.to_str())
    plain.post_processor = None
    assert len(tokens) == len(batch)
    for row, messages in enumerate(batch):
        pieces = list(case.pieces(messages))
        text = "".join(piece for piece, _ in pieces)
        learned = [is_learned for piece, is_learned in pieces for _ in piece]
        assert tokens.texts is not None
        assert tokens.texts[row] == text
        begin, end = tokens.row_splits[row : row + 2]
        assert tokens.ids[begin:end].tolist() == encoder.encode(text, add_special_tokens=False).ids
        offsets = plain.encode(text, add_special_tokens=False).offsets
        places = empty_blocks(pieces) if "{% generation %}" in case.template else []
        around = [any(a < place < b for place in places) for a, b in offsets]
        expected = [any(learned[a:b]) or is_around for (a, b), is_around in zip(offsets, around, strict=True)]
        assert tokens.loss_mask[begin:end].tolist() == expected
        whole = [all(learned[a:b]) and not is_around for (a, b), is_around in zip(offsets, around, strict=True)]
        assert tokens.straddling[row] == sum(one and not all_of for one, all_of in zip(expected, whole, strict=True))
