"""Sparse pruning of a unigram model: an L1 penalty on expected counts in the place of pruning by loss.

Each round subtracts a penalty from all expected counts; a piece whose count is below the penalty goes. A dropped
character has no piece, but words still need a segmentation: it scores 10 less than the worst piece, as unknown
characters do.

Order of choices:

* Counts are the integers of `unigram_lattice.expect`; penalties and least counts are integers in the same parts of one.
* The penalty never falls. While there are more than 1.05 times the target's pieces, it is at least the count at place
  n of all counts in descending order, n counted from 0 being the larger of the target and the share to keep. It is at
  most the largest count, so a piece is left.
* Rounds end after one with no more pieces than the target at its beginning, or after the 51st.
* The last fit has no penalty. Then a piece goes whose text has a segmentation of a higher score.
* The result has the order of `unigram_trainer`. Dropped characters get their places back: in descending order of
  their counts, equals by code points, the score of the worst piece, and 0.0001 more each. With
  `auto_character_coverage` they do not.

Source: SentencePiece 0.2.3, `use_sparse_pruning`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from lexmill.reference.unigram_lattice import Piece, Word, best_path, expect, lattice

LAST_ROUND = 50
UNKNOWN_PENALTY = 10.0
LEAST = 1e-4
SCORE_STEP = 1e-4


@dataclass(frozen=True)
class Active:
    """All pieces with their scores, and the texts of dropped characters, which score as unknown ones do."""

    pieces: list[Piece]
    dropped: frozenset[str]

    def count(self) -> int:
        """Returns the number of pieces without dropped characters."""
        return len(self.pieces) - len(self.dropped)


def prune_sparsely(
    words: Sequence[Word], pieces: Sequence[Piece], *, precision: int, target: int, shrinking_factor: float
) -> Active:
    """Returns the pieces that are left, with the scores of the last fit."""
    active, penalty = Active(list(pieces), frozenset()), 0
    for _ in range(LAST_ROUND + 1):
        expected = expect(words, active.pieces, precision)
        counts = [n for piece, n in zip(active.pieces, expected, strict=True) if piece.text not in active.dropped]
        penalty = raised(penalty, counts, target, shrinking_factor)
        before = active.count()
        active = soft_threshold(active, expected, penalty, precision)
        if before <= target:
            break
    active = soft_threshold(active, expect(words, active.pieces, precision), 0, precision)
    itself = lattice([Word(piece.text, 1) for piece in active.pieces], active.pieces)
    is_best = [len(word.text) == 1 or len(best_path(word.text, edges, active.pieces)) == 1 for word, edges in itself]
    kept = [piece for piece, is_kept in zip(active.pieces, is_best, strict=True) if is_kept]
    return Active(kept, active.dropped)


def raised(penalty: int, counts: Sequence[int], target: int, shrinking_factor: float) -> int:
    """Returns the penalty of a round, from the penalty of the round before."""
    if not counts:
        return penalty
    if len(counts) * 20 > target * 21:
        kept = max(target, min(int(shrinking_factor * len(counts)), len(counts) - 1))
        penalty = max(penalty, sorted(counts, reverse=True)[kept])
    return min(penalty, max(counts))


def soft_threshold(active: Active, expected: Sequence[int], penalty: int, precision: int) -> Active:
    """Returns the pieces whose count is at least the penalty, scored by their counts less the penalty."""
    least = max(int(math.ldexp(LEAST, precision)), 1)
    counts = {
        piece.text: max(count - penalty, least)
        for piece, count in zip(active.pieces, expected, strict=True)
        if count >= penalty and piece.text not in active.dropped
    }
    if not counts:
        return active
    log_total = math.log(float(sum(counts.values())))
    scores = {text: math.log(float(count)) - log_total for text, count in counts.items()}
    unknown = min(scores.values()) - UNKNOWN_PENALTY
    texts = [piece.text for piece in active.pieces if piece.text in counts or len(piece.text) == 1]
    dropped = frozenset(text for text in texts if text not in counts)
    return Active([Piece(text, scores.get(text, unknown)) for text in texts], dropped)


def with_all_characters(active: Active, counts: dict[str, int]) -> list[Piece]:
    """Returns the pieces, dropped characters at the end of the scores.

    Args:
        active: the pieces that are left.
        counts: how often each character occurs.
    """
    worst = min((piece.score for piece in active.pieces if piece.text not in active.dropped), default=0.0)
    ranked = sorted(active.dropped, key=lambda char: (-counts[char], char))
    scores = {char: worst + rank * SCORE_STEP for rank, char in enumerate(ranked)}
    return [Piece(piece.text, scores.get(piece.text, piece.score)) for piece in active.pieces]


def without_dropped(active: Active) -> list[Piece]:
    """Returns the pieces without dropped characters."""
    return [piece for piece in active.pieces if piece.text not in active.dropped]
