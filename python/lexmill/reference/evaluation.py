"""The numbers of `lexmill.evaluate`, one text and one token at a time.

`docs/algorithms/evaluation.md` has their sources. None stands for a number that is not defined.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from lexmill.reference.words import WHITE_SPACE

__all__ = [
    "agreement",
    "boundaries",
    "efficiency",
    "gini",
    "made_counts",
    "partial",
    "premiums",
    "renyi_entropy",
    "shannon_entropy",
    "unicode_words",
    "white_space_words",
    "word_counts",
]

Span = tuple[int, int]
"""First character and the character after the last one."""


def shannon_entropy(counts: Iterable[int]) -> float | None:
    """Bits per token, for how often each token occurs."""
    used = [count for count in counts if count]
    total = sum(used)
    return -sum(count / total * math.log2(count / total) for count in used) if used else None


def renyi_entropy(counts: Iterable[int], alpha: float) -> float | None:
    """Bits per token, of the order `alpha`: 0, infinity, 1 for Shannon's, or any other positive number."""
    used = [count for count in counts if count]
    total = sum(used)
    if not used:
        return None
    if alpha == 1:
        return shannon_entropy(used)
    if alpha == math.inf:
        return -math.log2(max(used) / total)
    return math.log2(sum((count / total) ** alpha for count in used)) / (1 - alpha)


def efficiency(entropy: float | None, tokens: int) -> float | None:
    """The share of the highest entropy of so many tokens; with one token that is 0, and there is no share."""
    return None if entropy is None or tokens < 2 else entropy / math.log2(tokens)


def gini(costs: Sequence[int]) -> float | None:
    """Half the mean difference of two costs, by the mean cost."""
    total, count = sum(costs), len(costs)
    differences = sum(abs(one - other) for one in costs for other in costs)
    return differences / (2 * count * total) if total else None


def premiums(tokens: Mapping[str, int], base: str | None = None) -> dict[str, float | None]:
    """The tokens of each language, divided by the base's: the first language with the fewest tokens unless given."""
    of = tokens[min(tokens, key=tokens.__getitem__) if base is None else base]
    return {language: count / of if of else None for language, count in tokens.items()}


def white_space_words(text: str) -> list[Span]:
    """The words between white space."""
    places = [at for at, char in enumerate(text) if char not in WHITE_SPACE]
    begins = [at for at in places if at - 1 not in places]
    return [(at, next(end for end in range(at, len(text) + 1) if end not in places)) for at in begins]


def unicode_words(text: str) -> list[Span]:
    """The segments between word boundaries of UAX 29 that have a letter or a number."""
    import regex

    places = [found.start() for found in regex.finditer(r"(?w)\b", text)]
    return [span for span in pairwise(places) if regex.search(r"[\p{Alphabetic}\p{N}]", text[slice(*span)])]


def word_counts(words: Iterable[Span], tokens: Sequence[Span], is_unknown: Sequence[bool]) -> tuple[int, int, int]:
    """How many words there are, are touched by two tokens or more, and by one token alone that is not unknown."""
    count = continued = whole = 0
    for begin, end in words:
        touching = [at for at, (first, after) in enumerate(tokens) if max(begin, first) < min(end, after)]
        count += 1
        continued += len(touching) > 1
        whole += len(touching) == 1 and not is_unknown[touching[0]]
    return count, continued, whole


def boundaries(text: str, tokens: Iterable[Span]) -> set[int]:
    """The places between two characters of a text at which a token of one character or more ends."""
    return {end for begin, end in tokens if begin < end < len(text)}


def agreement(pairs: Iterable[tuple[set[int], set[int]]]) -> float | None:
    """The boundaries that two tokenizers share, by all boundaries of either, over several texts."""
    known = list(pairs)
    either = sum(len(one | other) for one, other in known)
    return sum(len(one & other) for one, other in known) / either if either else None


def partial(texts: Iterable[bytes]) -> int:
    """How many tokens are not whole characters, given their bytes."""
    return sum("\ufffd" in text.replace("\ufffd".encode(), b"").decode(errors="replace") for text in texts)


def made_counts(counts: Mapping[str, int], merges: Sequence[tuple[str, str]]) -> Counter[str]:
    """How often merging makes each token on the way to tokens, which occur so often; each of these is merged again."""
    ranks = {pair: rank for rank, pair in enumerate(merges)}
    made: Counter[str] = Counter()
    for token, count in counts.items():
        parts = list(token)
        while found := [(ranks[pair], at) for at, pair in enumerate(pairwise(parts)) if pair in ranks]:
            _, at = min(found)
            parts[at : at + 2] = ["".join(parts[at : at + 2])]
            made[parts[at]] += count
    return made
