"""The tokens that other tokens need: `docs/algorithms/changing-vocabularies.md` has the rules and their proofs."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property

from lexmill._core import Tokenizer
from lexmill.models import BPE
from lexmill.vocabularies.tables import Table

__all__ = ["Closure"]


class Closure:
    """Which tokens of a tokenizer stay for which others.

    Attributes:
        always: ids that stay in any case: added tokens, the unknown token, bytes of unknown characters, the byte-level
            alphabet, pieces that are not normal ones, ids that the post-processor and the padding name, and the least
            likely piece.
        parts: for each id, the ids of the tokens that it is merged from.
        order: ids of merged tokens in the order in which the list of merges completes them.
    """

    def __init__(self, table: Table) -> None:
        """Finds the parts of each token, in time linear in the tables and, for BPE, O(n log n) in their bytes."""
        self.table = table
        self.parts: dict[int, tuple[int, ...]] = {}
        self.order: list[int] = []
        if "merges" in table.model:
            self._find_parts()
        self.always = self._always()

    def close(self, ids: Iterable[int], kept: set[int]) -> set[int]:
        """The ids that join a closed set `kept` if it takes `ids`: these and all that they need."""
        found: set[int] = set()
        stack = [id_ for id_ in ids if id_ not in kept]
        while stack:
            id_ = stack.pop()
            if id_ not in found:
                found.add(id_)
                stack += [other for other in self._needs(id_) if other not in kept and other not in found]
        return found

    @cached_property
    def characters(self) -> frozenset[int]:
        """The ids of the model's tokens of a single character, affixes apart."""
        return frozenset(id_ for ids in self._characters.values() for id_ in ids)

    def _needs(self, id_: int) -> set[int]:
        found = set(self.parts.get(id_, ()))
        for token in self._tokens.get(id_, ()):
            found.update(self._same.get(token, ()))
            if self.has_characters:
                for char in set(self._bare(token)):
                    found.update(self._characters.get(char, ()))
        return found

    @cached_property
    def _tokens(self) -> dict[int, list[str]]:
        """The tokens of the model by id."""
        found: dict[int, list[str]] = defaultdict(list)
        for token, id_ in self.table.entries:
            found[id_].append(token)
        return dict(found)

    @cached_property
    def _same(self) -> dict[str, list[int]]:
        """The ids of each piece that is listed more than once."""
        found: dict[str, list[int]] = defaultdict(list)
        for token, id_ in self.table.entries:
            found[token].append(id_)
        return {token: ids for token, ids in found.items() if len(ids) > 1}

    @property
    def has_characters(self) -> bool:
        """True if tokens need the tokens of their characters."""
        # Words are no sequences of characters to a word model, and the whole byte-level alphabet stays anyway.
        return not self.table.vocabulary.is_byte_level and self._kind not in ("WordLevel", "Word")

    @property
    def _kind(self) -> str:
        return str(self.table.model["type"]).removeprefix("SentencePiece")

    @cached_property
    def _characters(self) -> dict[str, list[int]]:
        """The ids of the tokens of a single character, by this character."""
        found: dict[str, list[int]] = defaultdict(list)
        for token, id_ in self.table.entries:
            bare = self._bare(token)
            if len(bare) == 1:
                found[bare].append(id_)
        return dict(found)

    def _bare(self, token: str) -> str:
        prefix, suffix = self.table.affixes
        # An affix alone is a token of its own characters.
        return token.removeprefix(prefix).removesuffix(suffix) or token

    def _always(self) -> set[int]:
        table, vocabulary = self.table, self.table.vocabulary
        known = {id_ for _, id_ in table.entries}.union(table.added_only)
        found = {token["id"] for token in table.spec["added_tokens"]}
        found |= vocabulary.byte_tokens | set(table.special_kinds) | (table.stage_ids & known)
        if vocabulary.unknown is not None:
            found.add(vocabulary.unknown)
        if vocabulary.is_byte_level:
            found |= self.characters
        if self._kind == "Unigram":
            special = set(table.special_kinds)
            normal = [(score, id_) for id_, (_, score) in enumerate(table.model["vocab"]) if id_ not in special]
            # The score of unknown characters is told from the lowest score.
            if normal:
                found.add(min(normal)[1])
        return found | self.close(found, set())

    def _find_parts(self) -> None:
        merges = self.table.merge_ids()
        firsts: dict[int, int] = {}
        for rank, (*_, id_) in enumerate(merges):
            firsts.setdefault(id_, rank)
        # An affix may be spelled by letters too, and then a token has other parts at the end of a word than inside.
        last = None if any(self.table.affixes) else _last_merges(self.table)
        if last is None:
            every: dict[int, dict[int, None]] = defaultdict(dict)
            for left, right, id_ in merges:
                every[id_].update({left: None, right: None})
            self.parts = {id_: tuple(parts) for id_, parts in every.items()}
            self.order = sorted(firsts, key=firsts.__getitem__)
            return
        self.parts = {id_: (left, right) for id_, left, right, _ in last}
        highest = {id_: rank for id_, *_, rank in last}
        lengths = {id_: len(token) for token, id_ in self.table.entries}
        # A token is complete with the highest rank of its merges, and after its parts, which are shorter.
        self.order = sorted(firsts, key=lambda id_: (highest.get(id_, firsts[id_]), lengths[id_], id_))


def _last_merges(table: Table) -> list[tuple[int, int, int, int]] | None:
    """The last merge of each token, as if the model did not sample; None if a token may be merged in several ways."""
    model = table.tokenizer.model
    assert isinstance(model, BPE)
    if model.dropout or model.alpha:
        spec = {"version": "1.0", "model": {**table.model, "dropout": None}}
        model = Tokenizer.from_str(json.dumps(spec)).model
        assert isinstance(model, BPE)
    return model._last_merges()
