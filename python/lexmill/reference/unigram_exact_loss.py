"""Trains a unigram model by exact loss: the textbook's loop, in which every piece is tried without.

Order of choices:

* Pieces: characters by first appearance, then substrings of two characters or more by count, the higher first; equal
  counts in the order in which they are first met: by word, then start, then end.
* Best segmentation of a word: the lowest sum of costs, summed from left to right from 1; of equal sums the one found
  first, places visited from left to right and pieces by ascending start.
* Loss: counts times costs, summed in the order of the words.
* Removal: a tenth of the pieces, rounded down but at least one, by ascending increase of the loss; equal increases in
  the order of the pieces. Characters stay.

Source: Kudo 2018, "Subword Regularization", section 3.2, as the public courses teach it, with counts that stay as they
were and only their sum changing as pieces go.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from lexmill.errors import OptionError
from lexmill.reference.forbidden import forbidden
from lexmill.reference.initial_tokens import too_small
from lexmill.reference.unigram_seeds import required_pieces

Words = Sequence[tuple[str, int]]
Pieces = dict[str, int]


def count_pieces(
    words: Words,
    seed_size: int,
    max_piece_length: int = 16,
    is_forbidden: Callable[[str], bool] = lambda _: False,
    required: Sequence[str] = (),
) -> Pieces:
    """Returns characters and the most frequent substrings with their counts, `seed_size` in all."""
    characters: Pieces = {}
    substrings: Pieces = {}
    for word, count in words:
        for start, char in enumerate(word):
            characters[char] = characters.get(char, 0) + count
            for end in range(start + 2, min(start + max_piece_length, len(word)) + 1):
                piece = word[start:end]
                substrings[piece] = substrings.get(piece, 0) + count
    # `sorted` keeps equals in order.
    initial = {piece: max(substrings.get(piece, 0), 1) for piece in required if piece not in characters}
    allowed = [
        (piece, count) for piece, count in substrings.items() if piece not in required and not is_forbidden(piece)
    ]
    by_count = sorted(allowed, key=lambda item: -item[1])
    return {**characters, **initial, **dict(by_count[: max(seed_size - len(characters), 0)])}


def costs_of(pieces: Mapping[str, int]) -> dict[str, float]:
    """Returns the negative logarithm of each piece's share of all counts."""
    total = sum(pieces.values())
    return {piece: -math.log(count / total) for piece, count in pieces.items()}


def segment(word: str, costs: Mapping[str, float], *, without: str | None = None) -> tuple[list[str], float]:
    """Returns the best segmentation of a word whose characters all have a cost, and the cost of it plus 1."""
    best: list[tuple[float, int] | None] = [(1.0, 0), *(None for _ in word)]
    for start in range(len(word)):
        so_far = best[start]
        if so_far is None:
            continue
        for end in range(start + 1, len(word) + 1):
            piece = word[start:end]
            if piece in costs and piece != without:
                cost = costs[piece] + so_far[0]
                known = best[end]
                if known is None or known[0] > cost:
                    best[end] = cost, start
    pieces: list[str] = []
    end = len(word)
    while end > 0:
        found = best[end]
        assert found is not None, "every character has a cost"
        pieces.append(word[found[1] : end])
        end = found[1]
    last = best[-1]
    assert last is not None, "every character has a cost"
    return pieces[::-1], last[0]


def loss(words: Words, costs: Mapping[str, float], *, without: str | None = None) -> float:
    """Returns the cost of all words, a piece left out if asked for."""
    total = 0.0
    for word, count in words:
        total += count * segment(word, costs, without=without)[1]
    return total


def loss_increases(words: Words, costs: Mapping[str, float], fixed: Collection[str] = ()) -> dict[str, float]:
    """Returns by how much the loss grows without each piece of two characters or more that may be removed."""
    total = loss(words, costs)
    return {
        piece: loss(words, costs, without=piece) - total for piece in costs if len(piece) > 1 and piece not in fixed
    }


def rounds(words: Words, pieces: Pieces, vocab_size: int, fixed: Collection[str] = ()) -> Iterator[list[str]]:
    """Removes pieces until at most `vocab_size` are left, and yields the removed pieces of each round."""
    while len(pieces) > vocab_size:
        increases = loss_increases(words, costs_of(pieces), fixed)
        removed = sorted(increases, key=lambda piece: increases[piece])[: max(len(pieces) // 10, 1)]
        for piece in removed:
            del pieces[piece]
        yield removed


def train_exact_loss(
    words: Words,
    *,
    vocab_size: int = 8000,
    seed_size: int = 1_000_000,
    max_piece_length: int = 16,
    forbid: str | Iterable[str] = (),
    initial_tokens: Iterable[str] = (),
    byte_level: bool = False,
) -> list[tuple[str, float]]:
    """Learns pieces with their scores, in the order of the pieces above.

    Args:
        words: distinct words in order of first appearance, each with its count.
        vocab_size: removal stops when at most so many pieces are left.
        seed_size: characters and substrings to start from.
        max_piece_length: no piece has more characters.
        forbid: patterns that no piece of two characters or more may match, see `forbidden`.
        initial_tokens: pieces that the vocabulary must have; they come after the characters and are never removed.
        byte_level: pieces spell bytes.

    Raises:
        OptionError: `vocab_size` is less than the number of characters.
    """
    required = required_pieces(initial_tokens, (), max_piece_length, byte_level=byte_level)
    is_forbidden = forbidden(forbid, byte_level=byte_level)
    pieces = count_pieces(words, seed_size, max_piece_length, is_forbidden, required)
    fixed = {*required, *(piece for piece in pieces if len(piece) == 1)}
    characters = len(fixed)
    if vocab_size < characters and required:
        raise OptionError(too_small(vocab_size, characters))
    if vocab_size < characters:
        raise OptionError(f"vocab_size is {vocab_size} but special tokens and initial alphabet need {characters}")
    for _ in rounds(words, pieces, vocab_size, fixed):
        pass
    return [(piece, -cost) for piece, cost in costs_of(pieces).items()]
