"""Encodes a word by BPE in two steps: the merges below a rank in fragments of the word, then the others.

Each choice is the choice of `bpe`, and the order of fragments and runs does not matter. The page
docs/algorithms/bpe-encoding.md has the proof.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from lexmill.reference.bpe import Bpe

Merge = tuple[str, str]


def exact_rank(merges: Sequence[Merge], rank: int) -> int:
    """Returns the highest rank up to `rank` such that no merge from it on makes a part of a merge below it.

    Args:
        merges: distinct pairs of tokens, best first.
        rank: from 0 to the number of merges.
    """
    for first_late in range(rank, 0, -1):
        made = {left + right for left, right in merges[first_late:]}
        if not any(made & set(merge) for merge in merges[:first_late]):
            return first_late
    return 0


def fragments(early: Sequence[Merge], word: str) -> list[str]:
    """Returns the parts of a word between borders that no token of `early` crosses."""
    held = {pair for left, right in early for pair in pairwise(left + right)}
    parts: list[str] = []
    for place, char in enumerate(word):
        if place > 0 and (word[place - 1], char) in held:
            parts[-1] += char
        else:
            parts.append(char)
    return parts


def joints(early: Sequence[Merge], late: Sequence[Merge]) -> set[Merge]:
    """Returns the pairs of tokens of the first step whose border a merge of `late` may cross."""
    initial = {left + right for left, right in early}
    made = {left + right for left, right in late}
    # The tokens of the first step that each token may begin and end with.
    firsts: dict[str, set[str]] = {}
    lasts: dict[str, set[str]] = {}
    for token in {part for merge in late for part in merge} | made:
        own = {token} if token in initial or token not in made or len(token) == 1 else set()
        firsts[token], lasts[token] = set(own), set(own)
    is_complete = False
    while not is_complete:
        is_complete = True
        for left, right in late:
            for known, new in ((firsts[left + right], firsts[left]), (lasts[left + right], lasts[right])):
                is_complete = is_complete and new <= known
                known |= new
    return {(last, first) for left, right in late for last in lasts[left] for first in firsts[right]}


def tokenize(vocab: dict[str, int], merges: Sequence[Merge], first_late: int, word: str) -> list[str]:
    """Returns the tokens of a word whose characters all have tokens.

    Args:
        vocab: token to id; no two tokens share an id.
        merges: distinct pairs of tokens, best first.
        first_late: a rank that `exact_rank` allows.
        word: any text of known characters.
    """
    early, late = merges[:first_late], merges[first_late:]
    first_step = Bpe(vocab, early)
    tokens = [token.value for fragment in fragments(early, word) for token in first_step.tokenize(fragment)]
    names = {token_id: token for token, token_id in vocab.items()}
    second_step, open_borders = Bpe(vocab, late), joints(early, late)
    runs: list[list[str]] = []
    for token in tokens:
        if runs and (runs[-1][-1], token) in open_borders:
            runs[-1].append(token)
        else:
            runs.append([token])
    ids = (token_id for run in runs for token_id in second_step.merge_ids([vocab[token] for token in run]))
    return [names[token_id] for token_id in ids]
