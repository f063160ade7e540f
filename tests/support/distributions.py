"""Exact distributions of random encodings, and whether what was drawn fits them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from random import Random
from typing import TypeVar

from lexmill.reference.bpe_sentencepiece import UNUSED, Piece, SentencePieceBpe
from model_file import field, piece

T = TypeVar("T", bound=Hashable)
Ids = tuple[int, ...]
UNKNOWN, LETTERS = Piece("<unk>", 0.0, 2), "abc"
# Of a `.model` file: text is encoded as it stands, by BPE.
AS_IT_STANDS = field(3, field(3, 0) + field(4, 0))
BPE = field(2, field(3, 2))

# Samples of `abcabc` make `abc` of other halves at each place, and what is left of both falls into the last ones.
TWO_WAYS = [UNKNOWN, *(Piece(letter, -9.0, 1) for letter in LETTERS), Piece("ab", -1.0, 1), Piece("bc", -2.0, 1)]
TWO_WAYS.append(Piece("abc", -3.0, UNUSED))


def model_file(pieces: Iterable[Piece], *fields: bytes) -> bytes:
    """A `.model` file that encodes text as it stands."""
    return b"".join([*(piece(*each) for each in pieces), *fields, AS_IT_STANDS])


def any_pieces(random: Random, kinds: list[int], count: int = 12, longest: int = 5) -> list[Piece]:
    """An unknown piece, letters, and pieces of several letters. If some are unused, some score alike."""
    words = {"".join(random.choices(LETTERS, k=random.randrange(2, longest + 1))): None for _ in range(count)}
    letters = [
        Piece(letter, -99.0, random.choice([1, 1, 1, *(kind for kind in kinds if kind == UNUSED)]))
        for letter in LETTERS
    ]
    numbers = [random.choice(kinds) for _ in words]
    scores = random.sample(range(-len(words), 0), len(words))
    if UNUSED in numbers:
        scores = random.choices(scores, k=len(words))
    found = zip(words, map(float, scores), numbers, strict=True)
    return [UNKNOWN, *letters, *(Piece(*each) for each in found)]


def outcomes(run: Callable[[Callable[[], bool]], T], chance: float) -> dict[T, float]:
    """The probability of each result of `run`, whose argument says yes with the probability `chance`."""
    found: Counter[T] = Counter()
    waiting: list[tuple[bool, ...]] = [()]
    while waiting:
        answers = list(waiting.pop())
        asked = 0

        def ask(answers: list[bool] = answers) -> bool:
            nonlocal asked
            asked += 1
            if asked > len(answers):
                # The other answer has a run of its own.
                waiting.append((*answers, True))
                answers.append(False)
            return answers[asked - 1]

        result = run(ask)
        found[result] += math.prod(chance if answer else 1 - chance for answer in answers)
    return dict(found)


def of_bpe(pieces: list[Piece], text: str, alpha: float) -> dict[Ids, float]:
    """What SentencePiece's sampling of a BPE model gives for a text."""

    def ids(ask: Callable[[], bool]) -> Ids:
        return tuple(token.id for token in SentencePieceBpe(pieces, skips=ask).tokenize(text))

    return outcomes(ids, alpha)


def of_unigram(pieces: list[Piece], text: str, alpha: float, nbest_size: int) -> dict[Ids, float] | None:
    """What sampling of a Unigram model gives for a text that its pieces spell: in proportion to exp(alpha * score).

    None if ways of nearly equal scores compete for the last place among the best.
    """
    ways: list[list[tuple[Ids, float]]] = [[((), 0.0)]]
    for end in range(1, len(text) + 1):
        ways.append(
            [
                ((*ids, place), total + score)
                for place, (spelling, score, kind) in enumerate(pieces)
                if kind == 1 and text[:end].endswith(spelling)
                for ids, total in ways[end - len(spelling)]
            ]
        )
    best = sorted(ways[-1], key=lambda way: -way[1])
    if 0 < nbest_size < len(best):
        if best[nbest_size - 1][1] - best[nbest_size][1] < 0.01:
            return None
        best = best[:nbest_size]
    weights = [math.exp(alpha * score) for _, score in best]
    return {ids: weight / sum(weights) for (ids, _), weight in zip(best, weights, strict=True)}


def assert_fits(drawn: Iterable[T], expected: Mapping[T, float]) -> None:
    """Pearson's chi-squared test, at a level that chance misses once in a million tests."""
    counts = Counter(drawn)
    total = sum(counts.values())
    assert counts.keys() <= expected.keys()
    cells = [(counts[result], total * chance) for result, chance in expected.items() if chance > 0]
    # Results that are hardly ever drawn count together, since the test asks for five of each.
    rare = [cell for cell in cells if cell[1] < 5]
    cells = [cell for cell in cells if cell[1] >= 5]
    if sum(mean for _, mean in rare) >= 5:
        cells.append((sum(count for count, _ in rare), sum(mean for _, mean in rare)))
    degrees = len(cells) - 1
    if degrees < 1:
        return
    squared = sum((count - mean) ** 2 / mean for count, mean in cells)
    # Wilson and Hilferty 1931: the cube root is nearly normal. 4.75 deviations are one in a million.
    spread = 2 / (9 * degrees)
    assert squared < degrees * (1 - spread + 4.75 * math.sqrt(spread)) ** 3
