"""Encodes text by BPE as SentencePiece does: pieces with scores, unused pieces, and sampling.

Any two neighbours that spell a piece are a candidate. Order of choices: the piece of the highest score first; equal
scores, the leftmost place first. Unused pieces are merged like all others. An unused piece that is left over is cut
into the two halves of its last candidate anywhere in the text, and each half likewise; an unused piece of one character
is unknown.

Sampling drops a candidate with the probability `alpha` when its turn comes. It comes back only after one of its two
neighbours has changed. (In the dropout of `Bpe` it comes back after the next merge, wherever that is.)
Sources: Provilkov et al. 2020, "BPE-Dropout"; experiments with sentencepiece 0.2.3 for the details that the paper
leaves open.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from heapq import heappop, heappush
from typing import NamedTuple

from lexmill.reference.bpe import Token

NORMAL, UNKNOWN, USER_DEFINED, UNUSED = 1, 2, 4, 5


class Piece(NamedTuple):
    """A piece with its score and the number of its kind, as a `.model` file has them."""

    text: str
    score: float
    kind: int


class SentencePieceBpe:
    """Pieces, by id, and how they are sampled.

    Args:
        pieces: by id. One of them is the unknown piece; single characters are normal, user-defined or unused.
        byte_fallback: spells a character without a piece by tokens of its bytes, such as `<0xE2>`.
        alpha: the probability of dropping a candidate.
        skips: returns true if the next candidate is dropped; random by default.
    """

    def __init__(
        self,
        pieces: Iterable[Piece],
        *,
        byte_fallback: bool = False,
        alpha: float = 0.0,
        skips: Callable[[], bool] | None = None,
    ) -> None:
        """Numbers the pieces that text may hold."""
        self.pieces = list(pieces)
        numbered = list(enumerate(self.pieces))
        self.ids = {piece.text: place for place, piece in numbered}
        self.found = {piece.text: piece for piece in self.pieces if piece.kind in {NORMAL, USER_DEFINED, UNUSED}}
        self.unk_id = next(place for place, piece in numbered if piece.kind == UNKNOWN)
        self.byte_fallback = byte_fallback
        generator = random.Random(0)
        self.skips = skips or (lambda: alpha > 0 and generator.random() < alpha)

    def tokenize(self, text: str) -> list[Token]:
        """Returns the tokens of a text."""
        tokens: list[Token] = []
        start = 0
        for part in self._cut(text):
            end = start + len(part.encode())
            if part in self.found and self.found[part].kind != UNUSED:
                tokens.append(Token(self.ids[part], part, (start, end)))
            elif self.byte_fallback:
                for place, byte in enumerate(part.encode(), start):
                    name = f"<0x{byte:02X}>"
                    tokens.append(Token(self.ids[name], name, (place, place + 1)))
            else:
                # Neighbouring unknown characters are one unknown token.
                if tokens and tokens[-1].id == self.unk_id:
                    start = tokens.pop().offsets[0]
                tokens.append(Token(self.unk_id, self.pieces[self.unk_id].text, (start, end)))
            start = end
        return tokens

    def _cut(self, text: str) -> list[str]:
        """Returns the texts of the tokens."""
        symbols, is_frozen = self._symbols(text)
        after = list(range(1, len(symbols) + 1))
        before = list(range(-1, len(symbols) - 1))
        candidates: list[tuple[float, int, int, int]] = []
        halves: dict[str, tuple[str, str]] = {}

        def add(left: int, right: int) -> None:
            if left < 0 or right >= len(symbols) or is_frozen[left] or is_frozen[right]:
                return
            joined = symbols[left] + symbols[right]
            if joined in self.found:
                heappush(candidates, (-self.found[joined].score, left, right, len(joined)))
                halves[joined] = symbols[left], symbols[right]

        for place in range(len(symbols) - 1):
            add(place, place + 1)
        while candidates:
            _, left, right, length = heappop(candidates)
            # One of the two has changed since.
            if not symbols[left] or not symbols[right] or len(symbols[left] + symbols[right]) != length:
                continue
            if self.skips():
                continue
            symbols[left] += symbols[right]
            symbols[right] = ""
            after[left] = after[right]
            if after[left] < len(symbols):
                before[after[left]] = left
            add(before[left], left)
            add(left, after[left])
        return [part for symbol in symbols if symbol for part in self._resegment(symbol, halves)]

    def _symbols(self, text: str) -> tuple[list[str], list[bool]]:
        """Returns the user-defined pieces of a text, at each place the longest, and the characters between them."""
        user_defined = sorted((text for text, piece in self.found.items() if piece.kind == USER_DEFINED), key=len)
        symbols: list[str] = []
        is_frozen: list[bool] = []
        start = 0
        while start < len(text):
            whole = next((piece for piece in reversed(user_defined) if text.startswith(piece, start)), None)
            symbols.append(whole or text[start])
            is_frozen.append(whole is not None)
            start += len(symbols[-1])
        return symbols, is_frozen

    def _resegment(self, symbol: str, halves: dict[str, tuple[str, str]]) -> list[str]:
        if symbol not in halves or self.found[symbol].kind != UNUSED:
            return [symbol]
        return [part for half in halves[symbol] for part in self._resegment(half, halves)]
