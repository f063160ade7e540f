"""Changes to trained vocabularies: fewer tokens, the tokens of two tokenizers, tokens of one as ids of another.

    pruned = lexmill.prune(tokenizer, corpus="corpus.jsonl.zst", min_count=10)
    pruned.tokenizer.save("small.json")
    embeddings = embeddings[pruned.old_ids]

The guide `docs/guides/vocabularies.md` explains their use, `docs/algorithms/changing-vocabularies.md` has the rules and
the proofs.
"""

from __future__ import annotations

from lexmill.vocabularies._merge import Merged, merge_vocabularies
from lexmill.vocabularies._prune import Pruned, prune, shrink
from lexmill.vocabularies._token_map import TokenMap, token_map

__all__ = ["Merged", "Pruned", "TokenMap", "merge_vocabularies", "prune", "shrink", "token_map"]
