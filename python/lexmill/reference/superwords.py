"""Trains superwords: tokens of several pre-tokens, which a second phase learns after ordinary BPE training.

A document is cut twice. `split` gives the pre-tokens of the first phase, whose training is ordinary. `split_weakly`
gives the longer phrases of the second phase; `split` cuts each of these again, by itself.

* Boundless (Schmidt et al. 2025, in the two phases of Schmidt et al. 2026): two neighbouring pre-tokens of a phrase may
  be merged if each is one token and may be joined. A *run* is a longest sequence of such pre-tokens, two at least. Runs
  are counted like words.
* SuperBPE (Liu et al. 2025): the phrases are words, segmented by the merges of the first phase; any neighbours may be
  merged, up to `max_words` words a token.

Order of choices: as in `bpe_trainer` and `bpe_extended`; runs are in the order of first appearance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lexmill.reference.bpe import Bpe
from lexmill.reference.bpe_extended import extend_bpe, learn_merges
from lexmill.reference.bpe_trainer import train_bpe
from lexmill.reference.new_ids import NewIds
from lexmill.reference.words import count_words

Split = Callable[[str], list[str]]
Trained = tuple[list[str], list[tuple[str, str]]]


def train_superbpe(
    documents: Sequence[str],
    split: Split,
    split_weakly: Split,
    *,
    initial_vocab_size: int,
    vocab_size: int,
    max_words: int | None = 4,
    min_frequency: int = 0,
    max_token_length: int | None = None,
    tie_break: str = "smallest-ids",
) -> Trained:
    """Learns the tokens of SuperBPE.

    Args:
        documents: the texts.
        split: cuts a document into the pre-tokens of the first phase, as the model sees them.
        split_weakly: cuts a document into the words of the second phase, as the model sees them.
        initial_vocab_size: tokens of the first phase.
        vocab_size: tokens of both phases.
        max_words: the most words of a token of the second phase.
        min_frequency: as in `train_bpe`.
        max_token_length: as in `train_bpe`.
        tie_break: as in `train_bpe`.

    Returns:
        The tokens by id, and all merges.
    """
    tokens, merges = train_bpe(
        count_words(documents, split),
        vocab_size=initial_vocab_size,
        min_frequency=min_frequency,
        max_token_length=max_token_length,
        tie_break=tie_break,
    )
    extended, merges = extend_bpe(
        count_words(documents, split_weakly),
        {token: token_id for token_id, token in enumerate(tokens)},
        merges,
        vocab_size=vocab_size,
        min_frequency=min_frequency,
        max_token_length=max_token_length,
        max_words=max_words,
        tie_break=tie_break,
    )
    return list(extended), merges


def train_boundless(
    documents: Sequence[str],
    split: Split,
    split_weakly: Split,
    may_join: Callable[[str], bool],
    *,
    initial_vocab_size: int,
    vocab_size: int,
    max_words: int | None = None,
    min_frequency: int = 0,
    max_token_length: int | None = None,
    tie_break: str = "smallest-ids",
) -> Trained:
    """Learns the tokens of BoundlessBPE in two phases.

    Args:
        documents: the texts.
        split: cuts a text into pre-tokens, as the model sees them.
        split_weakly: cuts a document into phrases; `split` gets each phrase by itself.
        may_join: tells if a pre-token may be part of a superword.
        initial_vocab_size: tokens of the first phase.
        vocab_size: tokens of both phases.
        max_words: the most words of a token of the second phase.
        min_frequency: as in `train_bpe`.
        max_token_length: as in `train_bpe`.
        tie_break: as in `train_bpe`.

    Returns:
        The tokens by id, and all merges.
    """
    tokens, merges = train_bpe(
        count_words(documents, split),
        vocab_size=initial_vocab_size,
        min_frequency=min_frequency,
        max_token_length=max_token_length,
        tie_break=tie_break,
    )
    ids = NewIds({token: token_id for token_id, token in enumerate(tokens)})
    segment = Bpe(ids, merges)
    counts: dict[tuple[int, ...], int] = {}
    for document in documents:
        for phrase in split_weakly(document):
            for run in find_runs(split(phrase), segment, may_join):
                counts[run] = counts.get(run, 0) + 1
    learnt = learn_merges(
        [(list(run), count) for run, count in counts.items()],
        ids,
        token_lengths(ids, merges),
        vocab_size,
        min_frequency,
        max_token_length,
        max_words,
        tie_break,
    )
    return list(ids), merges + [pair for pair in learnt if pair not in set(merges)]


def find_runs(pre_tokens: list[str], segment: Bpe, may_join: Callable[[str], bool]) -> list[tuple[int, ...]]:
    """Returns the runs of neighbouring pre-tokens that are one token each and may be joined, two at least."""
    runs: list[list[int]] = [[]]
    for pre_token in pre_tokens:
        found = segment.tokenize(pre_token)
        if len(found) == 1 and found[0].value == pre_token and may_join(pre_token):
            runs[-1].append(found[0].id)
        else:
            runs.append([])
    return [tuple(run) for run in runs if len(run) > 1]


def token_lengths(ids: dict[str, int], merges: list[tuple[str, str]]) -> dict[int, int]:
    """Returns the length of each token: the two halves of its first merge together, or 1."""
    lengths: dict[int, int] = {}
    for left, right in merges:
        lengths.setdefault(ids[left + right], lengths.get(ids[left], 1) + lengths.get(ids[right], 1))
    return {token_id: lengths.get(token_id, 1) for token_id in ids.values()}
