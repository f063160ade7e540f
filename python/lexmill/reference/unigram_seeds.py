"""The words of unigram training, cut into characters, and the substrings to start from.

`unigram_trainer` has the order of choices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby

from lexmill.errors import OptionError
from lexmill.reference.initial_tokens import check
from lexmill.reference.unigram_lattice import Word


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


def find_seeds(
    words: Sequence[Word], longest: int, n: int, is_excluded: Callable[[str], bool]
) -> list[tuple[str, int]]:
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
        if count > 1 and (len(followers[text]) > 1 or len(next(iter(followers[text]))) > 1) and not is_excluded(text)
    ]
    return sorted(found, key=lambda seed: (-seed[1] * len(seed[0]), seed[0]))[:n]


def required_pieces(
    initial_tokens: Iterable[str], specials: Sequence[str], longest: int, *, byte_level: bool
) -> list[str]:
    """Returns the initial tokens that are no special tokens, each once.

    Raises:
        OptionError: one is empty, too long, or has a character that is a special token.
    """
    initial_tokens = list(initial_tokens)
    check(initial_tokens, byte_level=byte_level)
    required = [token for token in dict.fromkeys(initial_tokens) if token not in specials]
    for token in required:
        if len(token) > longest:
            raise OptionError(f"initial_tokens has '{token}' but max_piece_length is {longest}")
        for char in token:
            if char in specials:
                raise OptionError(f"initial_tokens has '{token}' but '{char}' is a special token")
    return required


def count_piece(words: Sequence[Word], piece: str) -> int:
    """Returns how often a piece occurs in all words, overlaps counted."""
    return sum(word.weight for word in words for at in range(len(word.text)) if word.text.startswith(piece, at))
