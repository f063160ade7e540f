"""All segmentations of words at once: lattices of pieces, summed over by dynamic programming.

Words that begin alike share the sums of their beginnings: forwards, how likely a beginning is over all its
segmentations; backwards, how many words continue from it, each divided by its likelihood.

Order of choices: beginnings are visited in the order of code points, and backwards in the opposite one; at each of
them the pieces that end there, longest first. Sums and products are made in that order. The best path takes the higher
sum of scores, and of equal sums the one whose last piece is longer.
Numbers stay in range because a sum below 2^-256 is multiplied by 2^256 when its place is reached, exactly, and the
powers are kept beside the sums; backward sums have the opposite power.
Source: the forward-backward algorithm of Baum et al. 1970, the best path of Viterbi 1967.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import accumulate, groupby
from typing import NamedTuple

SMALL = 256
# Words share their beginnings with the others of their block: all words that start in one run of so many characters.
BLOCK = 8192


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


def expected_counts(
    words: Sequence[Word], pieces: Sequence[Piece], likelihoods: Sequence[float]
) -> Iterator[tuple[int, float]]:
    """Yields, for every piece at the end of every beginning, its place and how often it is expected there.

    Args:
        words: distinct words.
        pieces: the pieces, each character of the words among them.
        likelihoods: the pieces' probabilities.
    """
    ids = {piece.text: place for place, piece in enumerate(pieces)}
    longest = max((len(piece.text) for piece in pieces), default=0)
    beginnings = sorted({word.text[:end] for word in words for end in range(1, len(word.text) + 1)})
    edges: dict[str, list[tuple[str, int]]] = {}
    forward: dict[str, tuple[float, int]] = {"": (1.0, 0)}
    for text in beginnings:
        starts = range(max(len(text) - longest, 0), len(text))
        edges[text] = [(text[:start], ids[text[start:]]) for start in starts if text[start:] in ids]
        # The power of two of the first sum to come.
        value, power = 0.0, forward[edges[text][0][0]][1]
        for before, place in edges[text]:
            so_far, its_power = forward[before]
            value += math.ldexp(so_far * likelihoods[place], its_power - power)
        forward[text] = (math.ldexp(value, SMALL), power - SMALL) if value < 2.0**-SMALL else (value, power)
    weights = dict(words)
    backward = dict.fromkeys(["", *beginnings], 0.0)
    for text in reversed(beginnings):
        value, power = forward[text]
        after = backward[text] + (weights[text] / value if text in weights else 0.0)
        for before, place in edges[text]:
            so_far, its_power = forward[before]
            yield place, math.ldexp(so_far * likelihoods[place] * after, its_power - power)
            backward[before] += math.ldexp(likelihoods[place] * after, its_power - power)


def expect(words: Sequence[Word], pieces: Sequence[Piece], precision: int) -> list[int]:
    """Returns how often each piece is expected over all segmentations, times 2^precision."""
    sums = [0] * len(pieces)
    likelihoods = [math.exp(piece.score) for piece in pieces]
    starts = accumulate((len(word.text) for word in words), initial=0)
    for _, block in groupby(zip(starts, words, strict=False), lambda placed: placed[0] // BLOCK):
        for place, count in expected_counts([word for _, word in block], pieces, likelihoods):
            sums[place] += int(math.ldexp(count, precision) + 0.5)
    return sums


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
