"""Trains WordPiece: by the frequency of pairs, as libraries do, or by their likelihood, as the textbook does.

Order of choices for `score="frequency"`: as in `bpe_trainer`, of which this is the case with a prefix.

Order of choices for the likelihood scores:

* Score: count(ab) / (count(a) * count(b)). `count(a)` counts every occurrence of the symbol, in words of a single
  symbol too; `count(ab)` counts every adjacent pair, overlapping ones too (`##a##a##a` holds two). "likelihood"
  compares the fractions exactly, "likelihood-float64" rounds them to 64 bits, where different ones can be equal.
* Pairs: the highest score; among equals `tie_break="first-seen"`, here the default, takes the pair whose first
  occurrence comes first (word index, then place in the word), and "smallest-ids" the smallest (left id, right id).
* Ids: special tokens and initial tokens as given (a repeated one once), then the initial symbols sorted as strings,
  with their prefixes and suffixes, then one id for each merge that spells a new string. A token is its string: a merge
  that spells one that has an id takes that id, and the vocabulary does not grow.
* A merge goes through each word from left to right and never overlaps.

Sources: Schuster and Nakajima 2012, section 2 (the likelihood); the public course notebooks (the score).
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import pairwise

from lexmill.errors import OptionError, OptionRangeError
from lexmill.reference.bpe_pairs import Pair, merge_pair
from lexmill.reference.bpe_symbols import Words, choose_alphabet
from lexmill.reference.bpe_trainer import TIE_BREAKS, train_bpe
from lexmill.reference.forbidden import forbidden
from lexmill.reference.initial_tokens import check

SCORES = ("frequency", "likelihood", "likelihood-float64")


def train_wordpiece(
    words: Words,
    *,
    vocab_size: int = 30_000,
    min_frequency: int = 0,
    special_tokens: Iterable[str] = (),
    limit_alphabet: int | None = None,
    initial_alphabet: Iterable[str] = (),
    continuing_subword_prefix: str = "##",
    end_of_word_suffix: str | None = None,
    score: str = "frequency",
    tie_break: str | None = None,
    min_pair_frequency: int = 0,
    forbid: str | Iterable[str] = (),
    initial_tokens: Iterable[str] = (),
    byte_level: bool = False,
) -> tuple[list[str], list[tuple[str, str]]]:
    """Learns a vocabulary from words and their counts; every step recounts everything.

    Args:
        words: distinct words in order of first appearance, each with its count, which is at least 1.
        vocab_size: merging stops when the vocabulary has this many tokens.
        min_frequency: a pair that occurs less often than this is never merged.
        special_tokens: strings that get the first ids.
        limit_alphabet: the alphabet keeps at most this many characters, as in `bpe_trainer`.
        initial_alphabet: the first character of each string is in the alphabet.
        continuing_subword_prefix: goes before each symbol that is not the first character of its word.
        end_of_word_suffix: goes after the last character of each word.
        score: which pair is merged first, see above.
        tie_break: "smallest-ids", the default for frequencies, or "first-seen", the default for likelihoods.
        min_pair_frequency: as `min_frequency`; the larger of the two holds.
        forbid: patterns that no merged token may match, see `forbidden`.
        initial_tokens: tokens that the vocabulary must have; they take ids as if they were further special tokens.
        byte_level: tokens spell bytes.

    Returns:
        The tokens by id, and the merges in the order learnt.

    Raises:
        OptionError: an option is out of range, or `vocab_size` is less than the initial vocabulary needs.
    """
    if score not in SCORES:
        raise OptionError(f"score is {score} but must be {' or '.join(SCORES)}")
    if tie_break is None:
        tie_break = "smallest-ids" if score == "frequency" else "first-seen"
    elif tie_break not in TIE_BREAKS:
        raise OptionError(f"tie_break is {tie_break} but must be {' or '.join(TIE_BREAKS)}")
    sizes = {
        "vocab_size": vocab_size,
        "min_frequency": min_frequency,
        "limit_alphabet": limit_alphabet,
        "min_pair_frequency": min_pair_frequency,
    }
    for name, size in sizes.items():
        if size is not None and size < 0:
            raise OptionRangeError(f"{name} is {size} but must be at least 0")
    required = list(initial_tokens)
    check(required, byte_level=byte_level)
    special_tokens = [*special_tokens, *required]
    least = max(min_frequency, min_pair_frequency)
    if score == "frequency":
        return train_bpe(
            words,
            vocab_size=vocab_size,
            min_frequency=least,
            special_tokens=special_tokens,
            limit_alphabet=limit_alphabet,
            initial_alphabet=initial_alphabet,
            continuing_subword_prefix=continuing_subword_prefix,
            end_of_word_suffix=end_of_word_suffix,
            tie_break=tie_break,
            forbid=forbid,
            byte_level=byte_level,
        )
    initial_alphabet = [string[0] for string in initial_alphabet if string]
    kept = {*special_tokens, *choose_alphabet(words, limit_alphabet, initial_alphabet)}
    prefix, suffix = continuing_subword_prefix, end_of_word_suffix or ""
    is_forbidden = forbidden(forbid, prefix=prefix, suffix=suffix, byte_level=byte_level)
    spelled = [(split_word(word, kept, prefix, suffix), count) for word, count in words]
    symbols = {symbol for symbols, _ in spelled for symbol in symbols} | kept.intersection(initial_alphabet)
    tokens = list(dict.fromkeys([*special_tokens, *sorted(symbols)]))
    if vocab_size < len(tokens):
        raise OptionError(f"vocab_size is {vocab_size} but special tokens and initial alphabet need {len(tokens)}")
    ids = {token: token_id for token_id, token in enumerate(tokens)}
    segments = [([ids[symbol] for symbol in symbols], count) for symbols, count in spelled]

    merges: dict[tuple[str, str], None] = {}
    while len(tokens) < vocab_size:
        excluded = {
            pair
            for symbols, _ in segments
            for pair in pairwise(symbols)
            if is_forbidden(tokens[pair[0]] + tokens[pair[1]].removeprefix(prefix))
        }
        pair = best_pair(segments, excluded, least, exact=score == "likelihood", tie_break=tie_break)
        if pair is None:
            break
        left, right = tokens[pair[0]], tokens[pair[1]]
        merged = left + right.removeprefix(prefix)
        new = ids.setdefault(merged, len(ids))
        if new == len(tokens):
            tokens.append(merged)
        # Assigning alone would leave a pair that comes up again at its earlier place.
        merges.pop((left, right), None)
        merges[left, right] = None
        segments = [(merge_pair(symbols, pair, new), count) for symbols, count in segments]
    return tokens, list(merges)


def split_word(word: str, kept: set[str], prefix: str, suffix: str) -> list[str]:
    """Returns the word's symbols; a character that is not kept is deleted, so that its neighbours become adjacent.

    First and last mean the word as written: when the last character is deleted no symbol carries the suffix.
    """
    last = len(word) - 1
    return [
        (prefix if place > 0 else "") + char + (suffix if place == last else "")
        for place, char in enumerate(word)
        if char in kept
    ]


def best_pair(
    segments: list[tuple[list[int], int]], excluded: set[Pair], least: int, *, exact: bool, tie_break: str
) -> Pair | None:
    """Returns the pair to merge, or None if no other pair is frequent enough."""
    counts: dict[int, int] = {}
    pairs: dict[Pair, int] = {}
    for symbols, count in segments:
        for symbol in symbols:
            counts[symbol] = counts.get(symbol, 0) + count
        for pair in pairwise(symbols):
            pairs[pair] = pairs.get(pair, 0) + count

    def score(pair: Pair) -> Fraction | float:
        product = counts[pair[0]] * counts[pair[1]]
        return Fraction(pairs[pair], product) if exact else pairs[pair] / product

    frequent = [pair for pair in pairs if pairs[pair] >= least and pair not in excluded]
    if tie_break == "first-seen":
        # max keeps the first of equals, and the dictionary is in first-seen order.
        return max(frequent, key=score, default=None)
    return min(frequent, key=lambda pair: (-score(pair), pair), default=None)
