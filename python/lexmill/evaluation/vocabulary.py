"""The numbers of a vocabulary: damaged characters, intermediates, candidates for under-trained tokens, overlaps."""

from __future__ import annotations

import numpy as np

from lexmill._core import Tokenizer
from lexmill.evaluation.formulas import ratio
from lexmill.evaluation.numbers import Candidate, Overlap, VocabularyNumbers
from lexmill.models import BPE
from lexmill.reports.characters import Ints
from lexmill.reports.curve import symbol_counts
from lexmill.reports.vocabulary import Reach, Vocabulary

__all__ = ["made_counts", "overlap", "vocabulary_numbers"]


def made_counts(tokenizer: Tokenizer, counts: Ints) -> Ints | None:
    """How often merging makes each token on the way to the counted tokens, or as a counted token, by id.

    None if the model is no BPE, or does not merge by rank alone. With `ignore_merges`, words that are tokens as a whole
    count as if they were merged.
    """
    model = tokenizer.model
    last = model._last_merges() if isinstance(model, BPE) else None
    if last is None:
        return None
    rows = np.array(last, np.int64).reshape(-1, 4)[:, :3].tolist()
    parts = {id_: (left, right) for id_, left, right in rows}
    made: list[int] = counts.tolist()
    # A token has more symbols than its parts, so its own count is complete when it is handed on.
    for id_ in sorted(parts, key=symbol_counts(parts).__getitem__, reverse=True):
        if made[id_]:
            left, right = parts[id_]
            made[left] += made[id_]
            made[right] += made[id_]
    found = np.zeros(len(counts), np.int64)
    own = list(parts)
    found[own] = np.array(made, np.int64)[own]
    return found


def vocabulary_numbers(
    name: str, tokenizer: Tokenizer, vocabulary: Vocabulary, counts: Ints | None, reach: Reach
) -> VocabularyNumbers:
    """The numbers of a vocabulary; `counts` has how often each id occurs, None without a corpus."""
    made = None if counts is None else made_counts(tokenizer, counts)
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
    ids = set(vocabulary.ids) - special - {vocabulary.unknown}
    found = []
    for id_ in sorted(ids if counts is None else ids & set(np.flatnonzero(counts == 0).tolist())):
        times = 0 if made is None else int(made[id_])
        kind = "unreachable" if id_ in reasons else "residue" if times else "unused"
        if counts is not None or kind == "unreachable":
            found.append(Candidate(id_, vocabulary.tokens[id_] or "", kind, times, reasons.get(id_, "")))
    return tuple(found)


def overlap(first: str, second: str, one: Vocabulary, other: Vocabulary) -> Overlap:
    """The tokens that two vocabularies share."""
    texts, others = ({own.texts[id_] for id_ in own.ids if id_ not in own.added} for own in (one, other))
    shared = len(texts & others)
    return Overlap(first, second, len(texts), len(others), shared, ratio(shared, len(texts) + len(others) - shared))
