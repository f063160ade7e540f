"""Continues the training of a unigram model: its pieces keep their scores, new ones are estimated beside them.

Order of choices:

* Ids and sizes: as in `continued`. New characters and pieces come by descending score; equals by code points.
* Alphabet, seeds, words and pruning: as in `unigram_trainer`, but characters that are pieces are always in the
  alphabet, and pieces of the tokenizer are no seeds and are never removed. Excluded tokens are no pieces.
* Estimation: in the lattice of a word are all pieces, and a piece of the tokenizer always has its own probability,
  its score taken as at least -100 and at most 0; one of more than 1024 characters is left out. A new piece gets the
  probability that it would have if all pieces were estimated: its expected count divided by the expected count of all
  pieces, both through the digamma function. So its score is a logarithm of a frequency, as the others' are.
* Scores: no new piece gets less than the lowest score of the tokenizer, from which the score of unknown characters
  derives. So paths without new pieces keep their sums, and text that gains no new piece keeps its tokens.
* Reach: a new piece stays only if the model with all new pieces takes its text as that piece.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from lexmill.reference.continued import check_room
from lexmill.reference.unigram import Unigram
from lexmill.reference.unigram_lattice import Piece, Word, best_path, digamma, expect, lattice
from lexmill.reference.unigram_seeds import count_characters, cut_words, find_seeds
from lexmill.reference.unigram_trainer import loss_without

LOWEST_ESTIMATED = -100.0
LONGEST_ESTIMATED = 1024


def continue_unigram(
    words: Sequence[tuple[str, int]],
    pieces: Sequence[tuple[str, float]],
    *,
    vocab_size: int,
    excluded: Iterable[str] = (),
    special_tokens: Iterable[str] = (),
    initial_alphabet: Iterable[str] = (),
    shrinking_factor: float = 0.75,
    max_piece_length: int = 16,
    n_sub_iterations: int = 2,
    seed_size: int = 1_000_000,
    character_coverage: float = 1.0,
    replaceable: int | None = None,
) -> list[tuple[str, float]]:
    """Learns further pieces from distinct words and their counts.

    Args:
        words: distinct words, each with its count.
        pieces: the pieces of the tokenizer by id, with their scores; added tokens among them.
        vocab_size: pieces in all.
        excluded: tokens that the model does not find in text: the unknown piece and added tokens.
        special_tokens: strings that get the first new ids and the score 0, if they are no pieces yet.
        initial_alphabet: the first character of each string is a piece, even if no word holds it.
        shrinking_factor: the share of new pieces that each pruning keeps.
        max_piece_length: no new piece has more characters.
        n_sub_iterations: maximisations between two prunings.
        seed_size: new characters and substrings to start from.
        character_coverage: the share of all characters of the words that must have a piece.
        replaceable: pieces that give their ids to new ones, for which there is room beyond `vocab_size`.

    Returns:
        All pieces by id, with their scores.

    Raises:
        OptionError: `vocab_size` is less than the pieces, the special tokens and the new characters need.
    """
    base, present = dict(pieces), len(pieces)
    wider = vocab_size + (replaceable or 0)
    if wider == present:
        return list(pieces)
    specials = [token for token in dict.fromkeys(special_tokens) if token not in base]
    left_out = {*excluded, *special_tokens}
    in_text = {piece: score for piece, score in base.items() if piece not in left_out}
    counts = count_characters(words, character_coverage)
    for char in (string[0] for string in initial_alphabet if string):
        counts.setdefault(char, 0)
    characters = sorted(char for char in counts if char not in base and char not in left_out)
    check_room(vocab_size, present, len(specials) + len(characters), replaceable)
    wanted = wider - present - len(specials)
    alphabet = {*characters, *(piece for piece in in_text if len(piece) == 1)}
    parts = cut_words(words, alphabet)
    seeds = find_seeds(parts, max_piece_length, max(seed_size - len(characters), 0), {*base, *left_out}.__contains__)
    weights = [max(counts[char], 1) for char in characters] + [count * len(text) for text, count in seeds]
    total = sum(weights)
    fixed = [
        Piece(piece, min(max(score, LOWEST_ESTIMATED), 0.0))
        for piece, score in in_text.items()
        if len(piece) <= LONGEST_ESTIMATED
    ]
    texts = characters + [text for text, _ in seeds]
    new = [Piece(text, math.log(weight / total)) for text, weight in zip(texts, weights, strict=True)]
    desired = wanted * 11 // 10
    precision = min(40, 62 - sum(len(part.text) * part.weight for part in parts).bit_length())
    while True:
        for _ in range(n_sub_iterations):
            new = maximise(fixed, new, expect(parts, [*fixed, *new], precision), precision)
        if len(new) <= max(desired, len(characters)):
            break
        new = prune(parts, fixed, new, max(desired, min(int(shrinking_factor * len(new)), len(new) - 1)))
    lowest = min((score for _, score in pieces), default=-math.inf)
    new = [Piece(piece.text, max(piece.score, lowest)) for piece in new]
    whole = [*pieces, *((token, 0.0) for token in specials)]
    model = Unigram([*whole, *new], unk_id=0)
    others = sorted(
        (piece for piece in new if len(piece.text) > 1 and len(model.tokenize(piece.text)) == 1),
        key=lambda piece: (-piece.score, piece.text),
    )
    kept = [piece for piece in new if len(piece.text) == 1] + others[: wanted - len(characters)]
    return [*whole, *((text, score) for text, score in sorted(kept, key=lambda piece: (-piece.score, piece.text)))]


def maximise(fixed: Sequence[Piece], new: Sequence[Piece], expected: Sequence[int], precision: int) -> list[Piece]:
    """Returns the new pieces with scores from expected counts, as `unigram_trainer.maximise`.

    The total is the sum over all pieces, the tokenizer's included.
    """
    least = max(int(math.ldexp(0.5, precision)), 1)
    kept = [
        (piece.text, max(count, least))
        for piece, count in zip(new, expected[len(fixed) :], strict=True)
        if count >= least or len(piece.text) == 1
    ]
    total = sum(expected[: len(fixed)]) + sum(count for _, count in kept)
    if not kept:
        return []
    log_total = digamma(math.ldexp(total, -precision))
    return [Piece(text, digamma(math.ldexp(count, -precision)) - log_total) for text, count in kept]


def prune(words: Sequence[Word], fixed: Sequence[Piece], new: Sequence[Piece], n: int) -> list[Piece]:
    """Returns the new characters and the new pieces without which the likelihood would fall most, at most `n`."""
    pieces = [*fixed, *new]
    used = [0] * len(pieces)
    for word, edges in lattice(words, pieces):
        for edge in best_path(word.text, edges, pieces):
            used[edge.id] += word.weight
    losses: list[tuple[float, int]] = []
    itself = [Word(piece.text, 1) for piece in new]
    for place, (word, edges) in enumerate(lattice(itself, pieces), start=len(fixed)):
        if len(word.text) == 1 or used[place] == 0 or len(best_path(word.text, edges, pieces)) > 1:
            continue
        others = [edge for edge in edges if edge.id != place]
        losses.append((loss_without(place, best_path(word.text, others, pieces), used), place))
    characters = [len(fixed) + place for place, piece in enumerate(new) if len(piece.text) == 1]
    by_loss = sorted(losses, key=lambda loss: (-loss[0], loss[1]))[: max(n - len(characters), 0)]
    return [pieces[place] for place in sorted([*characters, *(place for _, place in by_loss)])]
