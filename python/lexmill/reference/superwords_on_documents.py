"""BoundlessBPE in one loop over whole documents: the definition, which the two phases of `superwords` must equal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from lexmill.reference.bpe_pairs import best_pair
from lexmill.reference.new_ids import NewIds
from lexmill.reference.superwords import Split, Trained

Phrase = list[tuple[list[int], bool]]


def train_boundless_on_documents(
    documents: Sequence[str],
    split: Split,
    split_weakly: Split,
    may_join: Callable[[str], bool],
    *,
    initial_vocab_size: int,
    vocab_size: int,
    tie_break: str = "smallest-ids",
) -> Trained:
    """Learns the same tokens as `train_boundless` in one loop that keeps all documents and scans them for every merge.

    Up to `initial_vocab_size` tokens, the most frequent pair inside pre-tokens is merged; then the most frequent pair
    of whole neighbours. The definition to test the two phases against, where `split` cuts a document like its phrases.
    """
    alphabet = sorted({char for document in documents for pre_token in split(document) for char in pre_token})
    ids = NewIds({char: token_id for token_id, char in enumerate(alphabet)})
    # A phrase is a list of pre-tokens: their tokens, and true if they may be joined. A superword is one pre-token.
    phrases = [
        [([ids[char] for char in pre_token], may_join(pre_token)) for pre_token in split(phrase)]
        for document in documents
        for phrase in split_weakly(document)
    ]
    merges: dict[tuple[str, str], None] = {}
    is_second = False
    while len(ids) < vocab_size:
        is_second = is_second or len(ids) >= initial_vocab_size
        counts: dict[tuple[int, int], int] = {}
        for phrase in phrases:
            for found in neighbours(phrase, is_second):
                counts[found] = counts.get(found, 0) + 1
        pair = best_pair(counts, tie_break)
        if pair is None and is_second:
            break
        if pair is None:
            is_second = True
            continue
        tokens = {token_id: token for token, token_id in ids.items()}
        new = ids.add(tokens[pair[0]] + tokens[pair[1]])
        merges.pop((tokens[pair[0]], tokens[pair[1]]), None)
        merges[tokens[pair[0]], tokens[pair[1]]] = None
        for phrase in phrases:
            merge_in_phrase(phrase, pair, new, is_second)
    return list(ids), list(merges)


def neighbours(phrase: Phrase, is_second: bool) -> list[tuple[int, int]]:
    """Returns the pairs that a phase may merge."""
    if not is_second:
        return [pair for symbols, _ in phrase for pair in pairwise(symbols)]
    return [
        (left[0], right[0])
        for (left, left_joins), (right, right_joins) in pairwise(phrase)
        if len(left) == len(right) == 1 and left_joins and right_joins
    ]


def merge_in_phrase(phrase: Phrase, pair: tuple[int, int], new: int, is_second: bool) -> None:
    """Merges a pair from left to right, inside pre-tokens or between them."""
    if is_second:
        place = 0
        while place + 1 < len(phrase):
            if neighbours(phrase[place : place + 2], is_second) == [pair]:
                phrase[place : place + 2] = [([new], True)]
            place += 1
        return
    for symbols, _ in phrase:
        place = 0
        while place + 1 < len(symbols):
            if (symbols[place], symbols[place + 1]) == pair:
                symbols[place : place + 2] = [new]
            place += 1
