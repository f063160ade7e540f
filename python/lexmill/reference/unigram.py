"""Encodes one word by a unigram language model: the segmentation whose pieces have the highest sum of scores.

Order of choices: sums are made from left to right in double precision, and the higher one wins. Of two ways to reach a
place with equal sums the one found first stays, and places are visited from left to right: it is the one whose last
piece is the longest. A character that no piece of its own spells may be unknown, at ten less than the lowest score of
all pieces; of equal sums a piece goes before the unknown character. A piece listed twice has its later id and score.
Source: Kudo 2018, "Subword Regularization", section 3; the ties and the penalty are Hugging Face's.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from lexmill.errors import OptionError, OptionRangeError, VocabError
from lexmill.reference.bpe import Token

UNKNOWN_PENALTY = 10.0
# More best segmentations than this would take memory out of proportion.
MOST_BEST = 1024


class _Edge(NamedTuple):
    """A piece, or an unknown character, in its place."""

    start: int
    end: int
    # None is an unknown character without an id.
    id: int | None
    score: float


class _Path(NamedTuple):
    """A segmentation up to some place: the sum of its scores, and its pieces' edges."""

    score: float
    edges: tuple[_Edge, ...]


class Unigram:
    """Pieces with scores, which are natural logarithms of probabilities.

    Args:
        vocab: pieces with their scores; a piece's id is its place. The unknown piece too is found in text.
        unk_id: the id of unknown characters.
        byte_fallback: spells unknown text by tokens of its bytes, such as `<0xE2>`, if all of them exist.
        alpha: how sharply sampling prefers likely segmentations, from 0 (all alike) up; None always takes the best.
        nbest_size: sampling chooses among so many best segmentations; None or 0 among all of them.
        seed: of the random choices.

    Raises:
        VocabError: `unk_id` is not the id of a piece.
        OptionError: `nbest_size` is out of range.
    """

    def __init__(
        self,
        vocab: Iterable[tuple[str, float]],
        unk_id: int | None = None,
        byte_fallback: bool = False,
        *,
        alpha: float | None = None,
        nbest_size: int | None = None,
        seed: int = 0,
    ) -> None:
        """Finds the score of unknown characters."""
        self.pieces = list(vocab)
        if unk_id is not None and unk_id >= len(self.pieces):
            raise VocabError(f"id {unk_id} is not in the vocabulary of {len(self.pieces)} tokens")
        if nbest_size is not None and not 0 <= nbest_size <= MOST_BEST:
            raise OptionError(f"nbest_size is {nbest_size} but must be from 0 to {MOST_BEST}")
        self.ids = {piece: place for place, (piece, _) in enumerate(self.pieces)}
        self.unk_id = unk_id
        self.byte_fallback = byte_fallback
        self.alpha = alpha
        self.nbest_size = nbest_size
        self._random = random.Random(seed)
        self._unknown_score = min((score for _, score in self.pieces), default=math.inf) - UNKNOWN_PENALTY
        self._longest = max(map(len, self.ids), default=0)

    def tokenize(self, word: str) -> list[Token]:
        """Returns the tokens of one word; none for the empty word.

        Raises:
            VocabError: a character is unknown and there is no `unk_id`.
        """
        if not word:
            return []
        if self.alpha is None or self.nbest_size == 1:
            return self._tokens(word, self._best_paths(word, 1)[0].edges)
        if not self.nbest_size:
            return self._tokens(word, self._sample(word, self.alpha))
        paths = self._best_paths(word, self.nbest_size)
        weights = [math.exp(self.alpha * (path.score - paths[0].score)) for path in paths]
        return self._tokens(word, self._random.choices(paths, weights)[0].edges)

    def encode_nbest(self, word: str, n: int) -> list[tuple[list[Token], float]]:
        """Returns the `n` best segmentations with their scores, or all if there are fewer.

        Higher scores go first. Equal ones: at each place from the end of the word to its beginning, the longer piece.
        Where unknown characters are joined two segmentations may look the same.

        Raises:
            OptionRangeError: `n` is negative.
            OptionError: `n` is more than 1024.
        """
        if n < 0:
            raise OptionRangeError(f"n is {n} but must be at least 0")
        if n > MOST_BEST:
            raise OptionError(f"n is {n} but must be from 0 to {MOST_BEST}")
        paths = self._best_paths(word, n) if n > 0 else []
        return [(self._tokens(word, path.edges), path.score) for path in paths]

    def _edges(self, word: str) -> Iterator[_Edge]:
        """Yields every piece in every place: by start, then by length, the unknown character last."""
        for start in range(len(word)):
            ends = range(start + 1, min(start + self._longest, len(word)) + 1)
            for end in ends:
                if (found := self.ids.get(word[start:end])) is not None:
                    yield _Edge(start, end, found, self.pieces[found][1])
            if word[start] not in self.ids:
                yield _Edge(start, start + 1, self.unk_id, self._unknown_score)

    def _best_paths(self, word: str, n: int) -> list[_Path]:
        """Returns the `n` best paths to the end; at every place the `n` best ones are all that can matter.

        An unknown character without an id is an error as soon as it is the best way to some place.
        """
        found: list[list[_Path]] = [[_Path(0.0, ())], *([] for _ in word)]
        edges = list(self._edges(word))
        for place in range(1, len(word) + 1):
            for edge in (edge for edge in edges if edge.end == place):
                found[place] += [_Path(edge.score + path.score, (*path.edges, edge)) for path in found[edge.start]]
            # `sorted` keeps equals in order.
            found[place] = sorted(found[place], key=lambda path: -path.score)
            if found[place][0].edges[-1].id is None:
                raise self._no_unk_id(word[found[place][0].edges[-1].start])
            found[place] = [path for path in found[place] if path.edges[-1].id is not None][:n]
        return found[-1][:n]

    def _sample(self, word: str, alpha: float) -> list[_Edge]:
        """Draws a path with probability proportional to exp(alpha * score), from the end back to the beginning."""
        ending: list[list[_Edge]] = [[] for _ in range(len(word) + 1)]
        # Logarithms of the sums over all paths to a place; edges come by start, so the sum at a start is complete.
        sums = [0.0, *(-math.inf for _ in word)]
        for edge in self._edges(word):
            if edge.id is None:
                continue
            ending[edge.end].append(edge)
            sums[edge.end] = _log_add(sums[edge.end], sums[edge.start] + alpha * edge.score)
        edges: list[_Edge] = []
        place = len(word)
        while place > 0:
            choices = [edge for edge in ending[place] if sums[edge.start] > -math.inf]
            if not choices:
                raise self._no_unk_id(word[place - 1])
            weights = [math.exp(sums[edge.start] + alpha * edge.score - sums[place]) for edge in choices]
            edges.append(self._random.choices(choices, weights)[0])
            place = edges[-1].start
        return edges[::-1]

    def _tokens(self, word: str, edges: Iterable[_Edge]) -> list[Token]:
        """Joins neighbouring unknown characters, looks the result up once more, and falls back to bytes.

        The unknown piece itself, found in the text, joins too. All bytes of a text have the offsets of the whole.
        """
        spans: list[_Edge] = []
        tokens: list[Token] = []
        for edge in edges:
            if spans and edge.id == spans[-1].id == self.unk_id:
                spans[-1] = spans[-1]._replace(end=edge.end)
            else:
                spans.append(edge)
        offset = 0
        for span in spans:
            text = word[span.start : span.end]
            offsets = (offset, offset + len(text.encode("utf-8")))
            offset = offsets[1]
            names = [f"<0x{byte:02X}>" for byte in text.encode("utf-8")]
            if text in self.ids:
                tokens.append(Token(self.ids[text], text, offsets))
            elif self.byte_fallback and all(name in self.ids for name in names):
                tokens += [Token(self.ids[name], name, offsets) for name in names]
            elif self.unk_id is not None:
                tokens.append(Token(self.unk_id, text, offsets))
        return tokens

    def _no_unk_id(self, char: str) -> VocabError:
        of = f"the text (no unk_id is set) is not in the vocabulary of {len(self.pieces)} tokens"
        return VocabError(f"token `{char}` of {of}")


def _log_add(left: float, right: float) -> float:
    """Returns log(exp(left) + exp(right))."""
    high, low = max(left, right), min(left, right)
    return high if low == -math.inf else high + math.log1p(math.exp(low - high))
