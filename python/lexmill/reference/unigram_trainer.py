"""Trains a unigram model by expectation maximisation and pruning, step by step as SentencePiece does.

Order of choices:

* Alphabet: all characters, or the most frequent ones that cover the share asked for; of equal counts the smaller code
  point. Words are cut where a character is left out.
* Seeds: substrings of 2 to `max_piece_length` characters that occur at least twice and are not always followed by the
  same character; the highest count times length first; of equals the first in order of code points.
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
from itertools import groupby

from lexmill.errors import OptionError
from lexmill.reference.unigram_lattice import Edge, Piece, Word, best_path, digamma, expect, lattice
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

    Raises:
        OptionError: `vocab_size` is less than special tokens and characters need.
    """
    byte_pieces = [f"<0x{byte:02X}>" for byte in range(256)] if auto_character_coverage else []
    specials = list(dict.fromkeys([*special_tokens, *byte_pieces]))
    counts = count_characters(words, character_coverage)
    for char in (string[0] for string in initial_alphabet if string):
        counts.setdefault(char, 0)
    characters = sorted(char for char in counts if char not in specials)
    needed = len(specials) + (0 if auto_character_coverage else len(characters))
    if vocab_size < needed:
        raise OptionError(f"vocab_size is {vocab_size} but special tokens and initial alphabet need {needed}")
    wanted = vocab_size - len(specials)
    parts = cut_words(words, set(characters))
    seeds = find_seeds(parts, max_piece_length, max(seed_size - len(characters), 0), set(specials))
    weights = [max(counts[char], 1) for char in characters] + [count * len(text) for text, count in seeds]
    total = sum(weights)
    texts = characters + [text for text, _ in seeds]
    pieces = [Piece(text, math.log(weight / total)) for text, weight in zip(texts, weights, strict=True)]
    desired = wanted * 11 // 10
    # Parts of one, by powers of two: the expected count of all characters together has less than 63 bits.
    precision = min(40, 62 - sum(len(part.text) * part.weight for part in parts).bit_length())
    if use_sparse_pruning:
        target = vocab_size + vocab_size // 10
        active = prune_sparsely(parts, pieces, precision=precision, target=target, shrinking_factor=shrinking_factor)
        if auto_character_coverage:
            return sorted(without_dropped(active), key=by_score)[:wanted]
        return best(with_all_characters(active, counts), wanted)
    while True:
        for _ in range(n_sub_iterations):
            pieces = maximise(pieces, expect(parts, pieces, precision), precision)
        if len(pieces) <= desired:
            break
        pieces = prune(parts, pieces, max(desired, min(int(shrinking_factor * len(pieces)), len(pieces) - 1)))
    return best(pieces, wanted)


def by_score(piece: Piece) -> tuple[float, str]:
    """Returns the key that sorts pieces by descending score, equals by code points."""
    return -piece.score, piece.text


def best(pieces: Sequence[Piece], wanted: int) -> list[Piece]:
    """Returns all characters and the best other pieces, `wanted` in all."""
    characters = [piece for piece in pieces if len(piece.text) == 1]
    others = sorted((piece for piece in pieces if len(piece.text) > 1), key=by_score)
    return sorted(characters + others[: wanted - len(characters)], key=by_score)


def count_characters(words: Sequence[tuple[str, int]], coverage: float) -> dict[str, int]:
    """Returns the characters that are covered, with their counts."""
    counts: dict[str, int] = {}
    for word, count in words:
        for char in word:
            counts[char] = counts.get(char, 0) + count
    total, covered = sum(counts.values()), 0
    for char in sorted(counts, key=lambda char: (-counts[char], char)):
        if covered >= total * coverage:
            del counts[char]
        else:
            covered += counts[char]
    return counts


def cut_words(words: Sequence[tuple[str, int]], characters: set[str]) -> list[Word]:
    """Returns the parts between characters that are left out, equal parts together, in descending order."""
    weights: dict[str, int] = {}
    for word, count in words:
        for is_covered, part in groupby(word, characters.__contains__):
            if is_covered:
                text = "".join(part)
                weights[text] = weights.get(text, 0) + count
    return [Word(text, weights[text]) for text in sorted(weights, reverse=True)]


def find_seeds(words: Sequence[Word], longest: int, n: int, excluded: set[str]) -> list[tuple[str, int]]:
    """Returns the `n` best substrings with their counts."""
    counts: dict[str, int] = {}
    followers: dict[str, set[str]] = {}
    for at, word in enumerate(words):
        for start in range(len(word.text)):
            for end in range(start + 2, min(start + longest, len(word.text)) + 1):
                text = word.text[start:end]
                counts[text] = counts.get(text, 0) + word.weight
                # The end of each word is unlike the end of any other, and so is the end of the longest possible piece.
                is_last = end in (len(word.text), start + longest)
                follower = f"end {at} {start}" if is_last else word.text[end]
                followers.setdefault(text, set()).add(follower)
    found = [
        (text, count)
        for text, count in counts.items()
        if count > 1 and text not in excluded and (len(followers[text]) > 1 or len(next(iter(followers[text]))) > 1)
    ]
    return sorted(found, key=lambda seed: (-seed[1] * len(seed[0]), seed[0]))[:n]


def maximise(pieces: Sequence[Piece], expected: Sequence[int], precision: int) -> list[Piece]:
    """Returns the pieces with scores from their expected counts, those left out that are hardly ever expected.

    The digamma function in place of the logarithm favours few pieces: it is the optimum under a Dirichlet prior.
    """
    # A piece that is expected less than half a time goes; a character counts at least as much.
    least = max(int(math.ldexp(0.5, precision)), 1)
    kept = [
        (piece.text, max(count, least))
        for piece, count in zip(pieces, expected, strict=True)
        if count >= least or len(piece.text) == 1
    ]
    if not kept:
        return []
    log_total = digamma(math.ldexp(sum(count for _, count in kept), -precision))
    return [Piece(text, digamma(math.ldexp(count, -precision)) - log_total) for text, count in kept]


def prune(words: Sequence[Word], pieces: Sequence[Piece], n: int) -> list[Piece]:
    """Returns the characters and the pieces without which the likelihood would fall most, `n` in all if there are."""
    used = [0] * len(pieces)
    for word, edges in lattice(words, pieces):
        for edge in best_path(word.text, edges, pieces):
            used[edge.id] += word.weight
    losses: list[tuple[float, int]] = []
    itself = [Word(piece.text, 1) for piece in pieces]
    for place, (word, edges) in enumerate(lattice(itself, pieces)):
        if len(word.text) == 1 or used[place] == 0 or len(best_path(word.text, edges, pieces)) > 1:
            continue
        others = [edge for edge in edges if edge.id != place]
        losses.append((loss_without(place, best_path(word.text, others, pieces), used), place))
    characters = [place for place, piece in enumerate(pieces) if len(piece.text) == 1]
    by_loss = sorted(losses, key=lambda loss: (-loss[0], loss[1]))[: max(n - len(characters), 0)]
    return [pieces[place] for place in sorted([*characters, *(place for _, place in by_loss)])]


def loss_without(place: int, alternative: Sequence[Edge], used: Sequence[int]) -> float:
    """Returns by how much the log likelihood falls if the next best segmentation takes the place of a piece."""
    total, count = sum(used), used[place]
    log_total = math.log(total + count * (len(alternative) - 1))
    score = 0.0
    for edge in alternative:
        score += math.log(used[edge.id] + count) - log_total
    return count / total * (math.log(count) - math.log(total) - score)
