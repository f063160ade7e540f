"""Ids of new tokens after the ids of a base."""

from __future__ import annotations

from collections.abc import Mapping


class NewIds(dict[str, int]):
    """Ids of tokens; a new token gets the next free one."""

    def __init__(self, vocab: Mapping[str, int], first_id: int = 0) -> None:
        """Starts from a vocabulary."""
        super().__init__(vocab)
        self.next_id = max([first_id, *(token_id + 1 for token_id in vocab.values())])

    def add(self, token: str) -> int:
        """Returns the id of a token, which is added if it is missing."""
        if token not in self:
            self[token] = self.next_id
            self.next_id += 1
        return self[token]

    def setdefault(self, token: str, _: object = None) -> int:
        """Adds a token as `train_bpe` does, whose next id is the number of its tokens."""
        return self.add(token)
