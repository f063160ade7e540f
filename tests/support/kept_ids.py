"""Whether the other library keeps the ids of a tokenizer, so that they can be compared."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any


def keeps_ids(theirs: Any) -> bool:
    """Whether its ids are distinct and those of a copy.

    Tokens of a trained or replaced model, or of a vocabulary with holes, may have ids of added tokens there.
    """
    vocab = theirs.get_vocab()
    again = type(theirs).from_str(theirs.to_str())
    return len(set(vocab.values())) == len(vocab) and again.get_vocab() == vocab


def is_dense(vocab: Iterable[int]) -> bool:
    """Whether a vocabulary of these ids has no holes."""
    ids = set(vocab)
    return ids == set(range(len(ids)))


def loses_ids(seen: Any) -> bool:
    """Whether an outcome shows the file of a tokenizer, at any depth, whose ids the other library does not keep."""
    import tokenizers

    if isinstance(seen, list | tuple):
        return any(loses_ids(item) for item in seen)
    if not (isinstance(seen, str) and seen.startswith("{") and '"added_tokens"' in seen):
        return False
    file = json.loads(seen)
    ids = {token["content"]: token["id"] for token in file["added_tokens"]}
    vocab = file["model"]["vocab"]
    tokens = {id_: token for token, id_ in vocab.items()} if isinstance(vocab, dict) else {}
    if any(tokens.get(id_, content) != content for content, id_ in ids.items()):
        return True
    again = tokenizers.Tokenizer.from_str(seen)
    return any(again.token_to_id(content) != id_ for content, id_ in ids.items())
