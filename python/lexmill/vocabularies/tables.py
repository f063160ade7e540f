"""A tokenizer taken apart into the tables of its file, and put together again with other tokens."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from lexmill._core import Tokenizer
from lexmill.models import BPE, Unigram
from lexmill.reports.vocabulary import Vocabulary, vocabulary_of

__all__ = ["Ids", "Table", "affixes_of", "renumbered", "table_of", "with_state_of"]

Ids: TypeAlias = npt.NDArray[np.int64]

_NORMAL = "1"


@dataclass(frozen=True, eq=False)
class Table:
    """A tokenizer as its file describes it.

    Attributes:
        tokenizer: the tokenizer itself.
        spec: its `tokenizer.json`.
        entries: the tokens of the model with their ids, by id. Two tokens may share an id, and a Unigram model may have
            two ids for one piece.
        vocabulary: facts about its tokens.
    """

    tokenizer: Tokenizer
    spec: dict[str, Any]
    entries: list[tuple[str, int]]
    vocabulary: Vocabulary

    @property
    def model(self) -> dict[str, Any]:
        """The model as the file describes it."""
        found: dict[str, Any] = self.spec["model"]
        return found

    @cached_property
    def affixes(self) -> tuple[str, str]:
        """The prefix of symbols inside a word, and the suffix of the last one; each may be empty."""
        return affixes_of(self.model)

    @property
    def added_only(self) -> list[int]:
        """The ids of added tokens that the model does not have, in the order of the file."""
        own = {id_ for _, id_ in self.entries}
        return [token["id"] for token in self.spec["added_tokens"] if token["id"] not in own]

    @property
    def bound(self) -> int:
        """One more than the largest id."""
        return max((*(id_ for _, id_ in self.entries), *self.added_only), default=-1) + 1

    @property
    def special_kinds(self) -> list[int]:
        """The ids of pieces that SentencePiece does not take for normal ones."""
        kinds = self.model.get("sentencepiece_kinds") or ""
        return [id_ for id_, kind in enumerate(kinds) if kind != _NORMAL]

    @property
    def stage_ids(self) -> set[int]:
        """The ids that the post-processor and the padding name."""
        found: set[int] = set()

        def note(id_: int) -> int:
            found.add(id_)
            return id_

        _stages_with(self.spec, note)
        return found

    def merge_ids(self) -> list[tuple[int, int, int]]:
        """The ids of each merge of a BPE model, by rank: left part, right part, token."""
        ids, prefix = dict(self.entries), self.affixes[0]
        return [
            (ids[left], ids[right], ids[left + right.removeprefix(prefix)])
            for left, right in self.model.get("merges", [])
        ]


def affixes_of(model: Mapping[str, Any]) -> tuple[str, str]:
    """The prefix of symbols inside a word, and the suffix of the last one; each may be empty."""
    prefix, suffix = (model.get(name) or "" for name in ("continuing_subword_prefix", "end_of_word_suffix"))
    return prefix, suffix


def table_of(tokenizer: Tokenizer) -> Table:
    """Takes a tokenizer apart.

    Raises:
        OptionError: an id is too large to count by, or a stage is written in Python.
    """
    spec: dict[str, Any] = json.loads(tokenizer.to_str())
    vocab = spec["model"]["vocab"]
    if isinstance(vocab, dict):
        entries = sorted(vocab.items(), key=lambda entry: int(entry[1]))
    else:
        entries = [(piece, id_) for id_, (piece, _) in enumerate(vocab)]
    return Table(tokenizer, spec, entries, vocabulary_of(tokenizer, spec))


def renumbered(table: Table, kept: set[int]) -> tuple[Tokenizer, Ids]:
    """The tokenizer with the ids `kept` alone, numbered from 0 in the order of the old ids, and the new id of each old.

    Added tokens that the model does not have come after the tokens of the model, where every reader of the file expects
    them. `kept` must be closed, see `closure.py`. Ids that are not kept have the new id -1.
    """
    order = dict.fromkeys(id_ for _, id_ in table.entries if id_ in kept)
    order.update(dict.fromkeys(id_ for id_ in table.added_only if id_ in kept))
    new_of = {id_: place for place, id_ in enumerate(order)}
    size = len(new_of)

    def new_id(id_: int) -> int:
        # An id without a token must not become the id of one.
        return new_of.get(id_, max(id_, size))

    spec = _stages_with(table.spec, new_id)
    spec["model"] = _model_with(table, new_of)
    spec["added_tokens"] = [
        {**token, "id": new_id(token["id"])} for token in table.spec["added_tokens"] if token["id"] in kept
    ]
    id_map = np.full(table.bound, -1, np.int64)
    id_map[list(new_of)] = np.arange(size)
    return with_state_of(table.tokenizer, Tokenizer.from_str(json.dumps(spec, ensure_ascii=False))), id_map


def _model_with(table: Table, new_of: Mapping[int, int]) -> dict[str, Any]:
    """The model with the tokens that have a new id."""
    model = dict(table.model)
    kept = [(token, id_) for token, id_ in table.entries if id_ in new_of]
    if isinstance(model["vocab"], dict):
        model["vocab"] = {token: new_of[id_] for token, id_ in kept}
    else:
        model["vocab"] = [model["vocab"][id_] for _, id_ in kept]
    if model.get("unk_id") is not None:
        model["unk_id"] = new_of[model["unk_id"]]
    if "merges" in model:
        tokens, prefix = {token for token, _ in kept}, table.affixes[0]
        model["merges"] = [
            [left, right]
            for left, right in model["merges"]
            if left in tokens and right in tokens and left + right.removeprefix(prefix) in tokens
        ]
    # Kinds and scores are listed by id.
    own = sorted({id_ for _, id_ in kept})
    if "sentencepiece_kinds" in model:
        model["sentencepiece_kinds"] = "".join(model["sentencepiece_kinds"][id_] for id_ in own)
    if "sentencepiece_scores" in model:
        model["sentencepiece_scores"] = [model["sentencepiece_scores"][id_] for id_ in own]
    return model


def _stages_with(spec: Mapping[str, Any], new_id: Callable[[int], int]) -> dict[str, Any]:
    """The file with other ids in its post-processor and its padding."""
    found = dict(spec)
    if found.get("padding") is not None:
        found["padding"] = {**found["padding"], "pad_id": new_id(found["padding"]["pad_id"])}
    if found.get("post_processor") is not None:
        found["post_processor"] = _processor_with(found["post_processor"], new_id)
    return found


def _processor_with(stage: Mapping[str, Any], new_id: Callable[[int], int]) -> dict[str, Any]:
    found = dict(stage)
    for name in ("sep", "cls"):
        if name in found:
            token, id_ = found[name]
            found[name] = [token, new_id(id_)]
    if "special_tokens" in found:
        found["special_tokens"] = {
            name: {**token, "ids": [new_id(id_) for id_ in token["ids"]]}
            for name, token in found["special_tokens"].items()
        }
    if "processors" in found:
        found["processors"] = [_processor_with(inner, new_id) for inner in found["processors"]]
    return found


def with_state_of(old: Tokenizer, new: Tokenizer) -> Tokenizer:
    """Gives `new` the options of `old` that files of version 1.0 do not hold."""
    new.encode_special_tokens = old.encode_special_tokens
    new.role_to_token = old.role_to_token
    new.cache_limit = old.cache_limit
    own, model = old.model, new.model
    if isinstance(own, BPE | Unigram) and isinstance(model, BPE | Unigram):
        model.alpha = own.alpha
        model.seed = own.seed
    if isinstance(own, Unigram) and isinstance(model, Unigram):
        model.nbest_size = own.nbest_size
    return new
