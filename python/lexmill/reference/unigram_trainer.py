"""Trains a unigram model by expectation maximisation and pruning, step by step as SentencePiece does.

Order of choices:

* Alphabet: all characters, or the most frequent ones that cover the share asked for; of equal counts the smaller code
  point. Words are cut where a character is left out.
* Seeds: substrings of 2 to `max_piece_length` characters that occur at least twice and are not always followed by the
  same character; the highest count times length first; of equals the first in order of code points.
* Initial tokens of several characters come before the seeds, in the order given, and always stay, as characters do.
  They are words with the count 0, so they have a place even if no word has them.
* Words come in descending order, and the words of a block share their beginnings. The expected count of a piece at the
  end of each beginning is rounded to parts of one, a power of two, of which all characters together have less than
  2^62. So expected counts are sums of integers, and no order of blocks, and no number of threads, can change a bit.
* Pruning keeps the pieces whose loss is the highest; of equals the one with the lower place in the list.
* The result: characters and the pieces of highest score, by descending score; equals by code points.

Source: Kudo 2018, "Subword Regularization", section 3.2.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from lexmill.errors import OptionError
from lexmill.reference.forbidden import forbidden
from lexmill.reference.initial_tokens import too_small
from lexmill.reference.unigram_lattice import Edge, Piece, Word, best_path, digamma, expect, lattice
from lexmill.reference.unigram_seeds import count_characters, count_piece, cut_words, find_seeds, required_pieces
from lexmill.reference.unigram_sparse import prune_sparsely, with_all_characters, without_dropped


def train_unigram(
    words: Sequence[tuple[str, int]],
    *,
    vocab_size: int = 8000,
    special_tokens: Iterable[str] = (),
    initial_alphabet: Iterable[str] = (),
    shrinking_factor: float = 0.75,
    max_piece_length: int = 16,
    n_sub_iterations: int = 2,
    seed_size: int = 1_000_000,
    character_coverage: float = 1.0,
    use_sparse_pruning: bool = False,
    auto_character_coverage: bool = False,
    forbid: str | Iterable[str] = (),
    initial_tokens: Iterable[str] = (),
    byte_level: bool = False,
) -> list[Piece]:
    """Learns pieces with their scores from distinct words and their counts.

    Args:
        words: distinct words, each with its count.
        vocab_size: pieces in all, special tokens included.
        special_tokens: these take places, and no piece is spelled like one of them.
        initial_alphabet: the first character of each string is a piece, even if no word holds it.
        shrinking_factor: the share of pieces that each pruning keeps.
        max_piece_length: no piece has more characters.
        n_sub_iterations: maximisations between two prunings.
        seed_size: characters and substrings to start from.
        character_coverage: the share of all characters of the words that must have a piece.
        use_sparse_pruning: see `unigram_sparse`.
        auto_character_coverage: with sparse pruning, characters share the places with other pieces, and the 256 byte
            pieces follow the special tokens, which they are like.
        forbid: patterns that no piece of two characters or more may match, see `forbidden`.
        initial_tokens: pieces that the vocabulary must have; no pruning takes them.
        byte_level: pieces spell bytes.

    Raises:
        OptionError: `vocab_size` is less than special tokens and characters need.
    """
    byte_pieces = [f"<0x{byte:02X}>" for byte in range(256)] if auto_character_coverage else []
    specials = list(dict.fromkeys([*special_tokens, *byte_pieces]))
    required = required_pieces(initial_tokens, specials, max_piece_length, byte_level=byte_level)
    if required and use_sparse_pruning:
        raise OptionError(f"initial_tokens is {' '.join(required)} but must be empty with use_sparse_pruning")
    counts = count_characters(words, character_coverage)
    for char in [*(string[0] for string in initial_alphabet if string), *"".join(required)]:
        counts.setdefault(char, 0)
    characters = sorted(char for char in counts if char not in specials)
    required = [piece for piece in required if len(piece) > 1]
    needed = len(specials) + (0 if auto_character_coverage else len(characters)) + len(required)
    if vocab_size < needed and required:
        raise OptionError(too_small(vocab_size, needed))
    if vocab_size < needed:
        raise OptionError(f"vocab_size is {vocab_size} but special tokens and initial alphabet need {needed}")
    wanted = vocab_size - len(specials)
    parts = cut_words([*words, *((piece, 0) for piece in required)], set(characters))
    is_forbidden = forbidden(forbid, byte_level=byte_level)
    seeds = find_seeds(
        parts,
        max_piece_length,
        max(seed_size - len(characters), 0),
        lambda text: text in specials or text in required or is_forbidden(text),
    )
    seeds = [(piece, max(count_piece(parts, piece), 1)) for piece in required] + seeds
    weights = [max(counts[char], 1) for char in characters] + [count * len(text) for text, count in seeds]
    total = sum(weights)
    texts = characters + [text for text, _ in seeds]
    pieces = [Piece(text, math.log(weight / total)) for text, weight in zip(texts, weights, strict=True)]
    desired = wanted * 11 // 10
    fixed = {*characters, *required}
    # Parts of one, by powers of two: the expected count of all characters together has less than 63 bits.
    precision = min(40, 62 - sum(len(part.text) * part.weight for part in parts).bit_length())
    if use_sparse_pruning:
        target = vocab_size + vocab_size // 10
        active = prune_sparsely(parts, pieces, precision=precision, target=target, shrinking_factor=shrinking_factor)
        if auto_character_coverage:
            return sorted(without_dropped(active), key=by_score)[:wanted]
        return best(with_all_characters(active, counts), fixed, wanted)
    while True:
        for _ in range(n_sub_iterations):
            pieces = maximise(pieces, expect(parts, pieces, precision), precision, fixed)
        if len(pieces) <= max(desired, len(fixed)):
            break
        pieces = prune(parts, pieces, fixed, max(desired, min(int(shrinking_factor * len(pieces)), len(pieces) - 1)))
    return best(pieces, fixed, wanted)


def by_score(piece: Piece) -> tuple[float, str]:
    """Returns the key that sorts pieces by descending score, equals by code points."""
    return -piece.score, piece.text


def best(pieces: Sequence[Piece], fixed: set[str], wanted: int) -> list[Piece]:
    """Returns the pieces that always stay and the best others, `wanted` in all."""
    kept = [piece for piece in pieces if piece.text in fixed]
    others = sorted((piece for piece in pieces if piece.text not in fixed), key=by_score)
    return sorted(kept + others[: wanted - len(kept)], key=by_score)


def maximise(pieces: Sequence[Piece], expected: Sequence[int], precision: int, fixed: set[str]) -> list[Piece]:
    """Returns the pieces with scores from their expected counts, those left out that are hardly ever expected.

    The digamma function in place of the logarithm favours few pieces: it is the optimum under a Dirichlet prior.
    """
    # A piece that is expected less than half a time goes; one that always stays counts at least as much.
    least = max(int(math.ldexp(0.5, precision)), 1)
    kept = [
        (piece.text, max(count, least))
        for piece, count in zip(pieces, expected, strict=True)
        if count >= least or piece.text in fixed
    ]
    if not kept:
        return []
    log_total = digamma(math.ldexp(sum(count for _, count in kept), -precision))
    return [Piece(text, digamma(math.ldexp(count, -precision)) - log_total) for text, count in kept]


def prune(words: Sequence[Word], pieces: Sequence[Piece], fixed: set[str], n: int) -> list[Piece]:
    """Returns the pieces that always stay and the best others by likelihood, `n` in all."""
    used = [0] * len(pieces)
    for word, edges in lattice(words, pieces):
        for edge in best_path(word.text, edges, pieces):
            used[edge.id] += word.weight
    losses: list[tuple[float, int]] = []
    itself = [Word(piece.text, 1) for piece in pieces]
    for place, (word, edges) in enumerate(lattice(itself, pieces)):
        if word.text in fixed or used[place] == 0 or len(best_path(word.text, edges, pieces)) > 1:
            continue
        others = [edge for edge in edges if edge.id != place]
        losses.append((loss_without(place, best_path(word.text, others, pieces), used), place))
    stay = [place for place, piece in enumerate(pieces) if piece.text in fixed]
    by_loss = sorted(losses, key=lambda loss: (-loss[0], loss[1]))[: max(n - len(stay), 0)]
    return [pieces[place] for place in sorted([*stay, *(place for _, place in by_loss)])]


def loss_without(place: int, alternative: Sequence[Edge], used: Sequence[int]) -> float:
    """Returns by how much the log likelihood falls if the next best segmentation takes the place of a piece."""
    total, count = sum(used), used[place]
    log_total = math.log(total + count * (len(alternative) - 1))
    score = 0.0
    for edge in alternative:
        score += math.log(used[edge.id] + count) - log_total
    return count / total * (math.log(count) - math.log(total) - score)
