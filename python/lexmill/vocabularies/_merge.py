"""`lexmill.merge_vocabularies`: a tokenizer with the tokens of another beside its own."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from lexmill._core import Tokenizer
from lexmill.errors import OptionError
from lexmill.reports.vocabulary import Unreachable, reach_of, vocabulary_of
from lexmill.vocabularies.surfaces import PlacedModel, placed_token
from lexmill.vocabularies.tables import Ids, Table, table_of, with_state_of

__all__ = ["Merged", "merge_vocabularies"]

# Kinds of SentencePiece's files.
_NORMAL, _USER_DEFINED = "1", "4"


@dataclass(frozen=True, eq=False)
class Merged:
    """A tokenizer with the tokens of two.

    Attributes:
        tokenizer: the new tokenizer.
        id_map: its id for each id of the second tokenizer, or -1 for ids without a token; `int64`. Ids of the first
            tokenizer stay.
        added: the ids that the first tokenizer did not have, in ascending order; `int64`.
        unreachable: tokens of either tokenizer that no text gives, which is proven, with the reasons.
        undecided: ids of further tokens that were in no encoding of their own text, alone or beside a blank, a letter
            or a digit, and of parts of characters.
    """

    tokenizer: Tokenizer
    id_map: Ids
    added: Ids
    unreachable: tuple[Unreachable, ...]
    undecided: tuple[int, ...]


def merge_vocabularies(a: Tokenizer, b: Tokenizer) -> Merged:
    """Appends the tokens of `b` to the tokens of `a`, whose ids, stages and options stay.

    BPE: the merges of `b` follow the merges of `a`, so every token that merging makes in `a` is made still. If merges
    of `a` come first and leave two tokens in place of a token of `b`, a merge of these two is appended. Unigram: pieces
    of `b` keep their scores. An added token of `b` becomes one of the new tokenizer, unless the model of `a` has it.
    Added tokens of `a` that its model does not have become tokens of the model too, so that every reader of the file
    gives them the same ids; Unigram gives them the lowest score.

    Neither tokenizer changes. The text of `a` may have other tokens than before: new tokens are longer.

    Args:
        a: the tokenizer whose ids stay.
        b: the tokenizer whose tokens are appended, in the order of their ids.

    Raises:
        OptionError: the models are of different types, spell text in different ways or merge by scores; or a stage is
            written in Python.
    """
    one, other = table_of(a), table_of(b)
    _check(one, other)
    model = {**one.model, "vocab": copy(one.model["vocab"])}
    known = {token for token, _ in one.entries} | {token["content"] for token in one.spec["added_tokens"]}
    added = [token for token in other.spec["added_tokens"] if token["content"] not in known]
    new = [token for token in dict(other.entries) if token not in known]
    own_ids = {id_ for _, id_ in one.entries}.union(one.added_only)
    if added and own_ids != set(range(one.bound)):
        # Readers number added tokens from the size of the model on, which only a dense model has as its next id.
        new += [token["content"] for token in added if token["content"] not in new]
    if new:
        _append_all(model, one, new, other)
    if "merges" in model:
        _append_merges(model, one.bound + len(new), other)
    spec = {**one.spec, "model": model, "added_tokens": [*one.spec["added_tokens"], *added]}
    made = with_state_of(a, Tokenizer.from_str(json.dumps(spec, ensure_ascii=False)))
    reach = reach_of(made, vocabulary_of(made))
    id_map = np.full(other.bound, -1, np.int64)
    ids = made.get_vocab()
    for token, id_ in [*other.entries, *((token["content"], token["id"]) for token in other.spec["added_tokens"])]:
        id_map[id_] = ids[token]
    return Merged(
        made, id_map, np.array(sorted({*ids.values()} - own_ids), np.int64), reach.unreachable, reach.undecided
    )


def _check(one: Table, other: Table) -> None:
    facts: Sequence[tuple[str, Any, Any]] = [
        ("the type of the model", one.model["type"], other.model["type"]),
        ("the alphabet of bytes", one.vocabulary.is_byte_level, other.vocabulary.is_byte_level),
        ("the mark ▁ for spaces", one.vocabulary.is_spaced, other.vocabulary.is_spaced),
        ("the prefix inside words", one.affixes[0], other.affixes[0]),
        ("the suffix of words", one.affixes[1], other.affixes[1]),
    ]
    for name, own, theirs in facts:
        if own != theirs:
            message = f"{name} is {own!r} in a but {theirs!r} in b; only tokens of one spelling can be merged"
            raise OptionError(message)
    if "sentencepiece_scores" in one.model or "sentencepiece_scores" in other.model:
        message = "a model merges by scores, which is not supported here; convert it without unused pieces"
        raise OptionError(message)


def _append_all(model: dict[str, Any], one: Table, new: list[str], other: Table) -> None:
    """Appends the added tokens of `a` that its model does not have, then tokens of `b`."""
    own_added = {token["id"]: token["content"] for token in one.spec["added_tokens"]}
    pieces = model["vocab"] if isinstance(model["vocab"], list) else []
    lowest = min((score for _, score in pieces), default=0.0)
    for id_ in one.added_only:
        _append(model, own_added[id_], id_, lowest, _USER_DEFINED)
    # A piece that is listed twice has its later id.
    last, theirs = dict(other.entries), other.model["vocab"]
    kinds = other.model.get("sentencepiece_kinds")
    for place, token in enumerate(new, one.bound):
        score = theirs[last[token]][1] if isinstance(theirs, list) and token in last else lowest
        _append(model, token, place, score, kinds[last[token]] if kinds and token in last else _NORMAL)


def _append(model: dict[str, Any], token: str, id_: int, score: float, kind: str) -> None:
    """Appends a token; the ids of a list of pieces have no holes, so the piece has the id too."""
    if isinstance(model["vocab"], list):
        model["vocab"].append([token, score])
    else:
        model["vocab"][token] = id_
    if model.get("sentencepiece_kinds"):
        model["sentencepiece_kinds"] += kind


def _append_merges(model: dict[str, Any], bound: int, other: Table) -> None:
    """Appends the merges of `b`, then one merge for each token that these do not make any more, while there is one."""
    known = {(left, right) for left, right in model["merges"]}
    more = [merge for merge in other.model["merges"] if tuple(merge) not in known]
    model["merges"] = [*model["merges"], *more]
    prefix = model.get("continuing_subword_prefix") or ""
    missing = [token for token, parts in _outcomes(other.model, other.bound, dict(other.entries)) if parts is None]
    while missing and (outcomes := _outcomes(model, bound, missing)):
        pairs = [
            list(parts)
            for token, parts in outcomes
            if parts is not None and len(parts) == 2 and parts[0] + parts[1].removeprefix(prefix) == token
        ]
        if not pairs:
            break
        model["merges"] = [*model["merges"], *pairs]
        missing = [token for token, parts in outcomes if parts is not None and len(parts) > 2]


def _outcomes(model: dict[str, Any], bound: int, tokens: Iterable[str]) -> list[tuple[str, tuple[str, ...] | None]]:
    """The tokens that merging makes of the text of each token; None if it makes the token itself."""
    own = list(tokens)
    token_of = {id_: token for token, id_ in model["vocab"].items()}
    rows = PlacedModel(model, bound, ignore_merges=False).encode([placed_token(model, token) for token in own])
    return [
        (token, None if row.tolist() == [model["vocab"][token]] else tuple(token_of[id_] for id_ in row.tolist()))
        for token, row in zip(own, rows, strict=True)
    ]
