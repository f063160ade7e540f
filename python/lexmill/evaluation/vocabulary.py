"""The numbers of a vocabulary: damaged characters, intermediates, candidates for under-trained tokens, overlaps."""

from __future__ import annotations

import numpy as np

from lexmill._core import Tokenizer
from lexmill.evaluation.formulas import ratio
from lexmill.evaluation.numbers import Candidate, Overlap, VocabularyNumbers
from lexmill.reports.characters import Ints
from lexmill.reports.vocabulary import Reach, Vocabulary

__all__ = ["made_counts", "overlap", "vocabulary_numbers"]


def made_counts(vocabulary: Vocabulary, counts: Ints) -> Ints | None:
    """How often merging makes each token on the way to the counted tokens, or as a counted token, by id.

    None if the model is no BPE, or does not merge by rank alone. With `ignore_merges`, words that are tokens as a whole
    count as if they were merged.
    """
    formation = vocabulary.formation
    if formation is None:
        return None
    found = np.zeros(len(counts), np.int64)
    found[formation.ids] = formation.hand_on(counts.tolist())
    return found


def vocabulary_numbers(
    name: str, tokenizer: Tokenizer, vocabulary: Vocabulary, counts: Ints | None, reach: Reach
) -> VocabularyNumbers:
    """The numbers of a vocabulary; `counts` has how often each id occurs, None without a corpus."""
    made = None if counts is None else made_counts(vocabulary, counts)
    residue = set() if made is None or counts is None else set(np.flatnonzero((made > 0) & (counts == 0)).tolist())
    return VocabularyNumbers(
        name=name,
        model=type(tokenizer.model).__name__,
        tokens=len(vocabulary.ids),
        added=len(vocabulary.added),
        partial=len(vocabulary.partial),
        mixed=sum(bool(vocabulary.texts[id_].decode(errors="ignore")) for id_ in vocabulary.partial),
        residue=None if made is None else len(residue),
        candidates=_candidates(tokenizer, vocabulary, counts, made, reach),
    )


def _candidates(
    tokenizer: Tokenizer, vocabulary: Vocabulary, counts: Ints | None, made: Ints | None, reach: Reach
) -> tuple[Candidate, ...]:
    reasons = {token.id: token.reason for token in reach.unreachable}
    special = {id_ for id_, token in tokenizer.get_added_tokens_decoder().items() if token.special}
    left_out = special | {vocabulary.unknown}
    times_made = [0] * len(vocabulary.tokens) if made is None else made.tolist()
    unused = vocabulary.ids if counts is None else np.flatnonzero(counts == 0).tolist()
    found = []
    for id_ in unused:
        times, token = times_made[id_], vocabulary.tokens[id_]
        if token is None or id_ in left_out:
            continue
        kind = "unreachable" if id_ in reasons else "residue" if times else "unused"
        if counts is not None or kind == "unreachable":
            found.append(Candidate(id_, token, kind, times, reasons.get(id_, "")))
    return tuple(found)


def overlap(first: str, second: str, one: Vocabulary, other: Vocabulary) -> Overlap:
    """The tokens that two vocabularies share."""
    texts, others = len(one.own_texts), len(other.own_texts)
    shared = len(one.own_texts & other.own_texts)
    return Overlap(first, second, texts, others, shared, ratio(shared, texts + others - shared))
