"""All segmentations of a word at once: a lattice of pieces, summed over by dynamic programming.

Order of choices: edges are visited by start, then by length; sums and products are made in that order, forwards and
backwards. The best path takes the higher sum of scores, and of equal sums the one found first.
Numbers stay in range because a sum below 2^-256 is multiplied by 2^256 when its place is reached, exactly, and the
powers are kept beside the sums.
Source: the forward-backward algorithm of Baum et al. 1970, the best path of Viterbi 1967.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

SMALL = 256


class Word(NamedTuple):
    """A text and how often it occurs."""

    text: str
    weight: int


class Piece(NamedTuple):
    """A piece and the logarithm of its probability."""

    text: str
    score: float


class Edge(NamedTuple):
    """A piece, by its place in the list, where it occurs in a word."""

    start: int
    end: int
    id: int


def lattice(words: Sequence[Word], pieces: Sequence[Piece]) -> Iterator[tuple[Word, list[Edge]]]:
    """Yields each word with all its edges."""
    ids = {piece.text: place for place, piece in enumerate(pieces)}
    longest = max((len(piece.text) for piece in pieces), default=0)
    for word in words:
        length = len(word.text)
        yield (
            word,
            [
                Edge(start, end, ids[word.text[start:end]])
                for start in range(length)
                for end in range(start + 1, min(start + longest, length) + 1)
                if word.text[start:end] in ids
            ],
        )


class _Sums:
    """Numbers at places, each with a power of two of its own, so that none becomes too small."""

    def __init__(self, length: int, first: int) -> None:
        self.values = [0.0] * (length + 1)
        self.powers: list[int | None] = [None] * (length + 1)
        self.values[first], self.powers[first] = 1.0, 0

    def leave(self, place: int) -> None:
        """Scales the sum at a place that nothing is added to any more."""
        power = self.powers[place]
        if power is not None and 0.0 < self.values[place] < 2.0**-SMALL:
            self.values[place] *= 2.0**SMALL
            self.powers[place] = power - SMALL

    def add(self, source: int, target: int, factor: float) -> None:
        """Adds the sum at `source` times `factor` to that at `target`, which has the power of the first that came."""
        power = self.powers[source]
        if power is None:
            return
        own = self.powers[target]
        if own is None:
            own = self.powers[target] = power
        self.values[target] += math.ldexp(self.values[source] * factor, power - own)


def expected_shares(word: Word, edges: Sequence[Edge], likelihoods: Sequence[float]) -> Iterator[tuple[Edge, float]]:
    """Yields the share of all segmentations, by likelihood, that each edge has a part in."""
    length = len(word.text)
    forward, backward = _Sums(length, 0), _Sums(length, length)
    place = -1
    for edge in edges:
        if edge.start > place:
            place = edge.start
            forward.leave(place)
        forward.add(edge.start, edge.end, likelihoods[edge.id])
    for place in range(length - 1, -1, -1):
        for edge in (edge for edge in edges if edge.start == place):
            backward.add(edge.end, place, likelihoods[edge.id])
        backward.leave(place)
    total, total_power = forward.values[length], forward.powers[length]
    if not total or total_power is None:
        return
    for edge in edges:
        left, right = forward.powers[edge.start], backward.powers[edge.end]
        if left is not None and right is not None:
            product = forward.values[edge.start] * likelihoods[edge.id] * backward.values[edge.end] / total
            yield edge, math.ldexp(product, left + right - total_power)


def best_path(text: str, edges: Sequence[Edge], pieces: Sequence[Piece]) -> list[Edge]:
    """Returns the edges of the path with the highest sum of scores."""
    best: list[tuple[float, Edge | None] | None] = [(0.0, None), *(None for _ in text)]
    for edge in edges:
        so_far, known = best[edge.start], best[edge.end]
        if so_far is not None:
            score = pieces[edge.id].score + so_far[0]
            if known is None or score > known[0]:
                best[edge.end] = score, edge
    path: list[Edge] = []
    found = best[-1]
    while found is not None and found[1] is not None:
        path.append(found[1])
        found = best[found[1].start]
    return path[::-1]


def digamma(x: float) -> float:
    """Returns the derivative of log(gamma(x)) for positive x, to 10 digits (Bernardo 1976)."""
    result = 0.0
    while x < 7.0:
        result -= 1.0 / x
        x += 1.0
    x -= 0.5
    square = 1.0 / (x * x)
    fourth = square * square
    result += math.log(x) + square / 24.0 - 7.0 / 960.0 * fourth
    return result + 31.0 / 8064.0 * fourth * square - 127.0 / 30720.0 * fourth * fourth
