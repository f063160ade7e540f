"""Encodes one word by BPE: merges the pair of lowest rank until no pair of neighbours is a merge.

Order of choices: the lowest rank (place in the list of merges) first; one pair at several places, the leftmost first
(`aaa` becomes `aa a`). After each single merge the choice is made afresh, so a pair that only now exists and has a
lower rank goes first. A pair listed twice has its later rank.
Source: Sennrich et al. 2016, section 3.2.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import NamedTuple

from lexmill.errors import VocabError


class Token(NamedTuple):
    """One token of a word.

    `offsets` are half-open and in UTF-8 bytes. They are running sums of the lengths of the symbols kept, so they
    locate the token in the word only as long as no character was dropped and no bytes overtook an unknown token.
    """

    id: int
    value: str
    offsets: tuple[int, int]


class _Symbol(NamedTuple):
    id: int
    length: int


class Bpe:
    """A vocabulary and its merges.

    Args:
        vocab: token to id.
        merges: pairs of tokens, best first. The joined text of a pair must be in the vocabulary; the right half gives
            up its `continuing_subword_prefix`.
        unk_token: stands for a character that has no token. None drops such characters.
        continuing_subword_prefix: goes before every character but the first of a word. None and "" mean the same.
        end_of_word_suffix: goes after the last character of a word. None and "" mean the same.
        fuse_unk: makes one unknown token of unknown characters in a row.
        byte_fallback: spells a character that has no token by tokens of its bytes, such as `<0xE2>`.
        ignore_merges: takes a word that is itself in the vocabulary whole, as written, without prefix or suffix.

    Raises:
        VocabError: a merge names or spells a token that is not in the vocabulary.
    """

    def __init__(
        self,
        vocab: Mapping[str, int],
        merges: Iterable[tuple[str, str]],
        *,
        unk_token: str | None = None,
        continuing_subword_prefix: str | None = None,
        end_of_word_suffix: str | None = None,
        fuse_unk: bool = False,
        byte_fallback: bool = False,
        ignore_merges: bool = False,
    ) -> None:
        """Looks up every merge once, by ids."""
        self.vocab = dict(vocab)
        self.unk_token = unk_token
        self.prefix = continuing_subword_prefix or ""
        self.suffix = end_of_word_suffix or ""
        self.fuse_unk = fuse_unk
        self.byte_fallback = byte_fallback
        self.ignore_merges = ignore_merges
        self._tokens = {token_id: token for token, token_id in self.vocab.items()}
        self._ranks: dict[tuple[int, int], tuple[int, int]] = {}
        for rank, (left, right) in enumerate(merges):
            ids = [self._id(token, f"merge {rank}") for token in (left, right, left + right.removeprefix(self.prefix))]
            self._ranks[ids[0], ids[1]] = rank, ids[2]

    @property
    def made(self) -> set[int]:
        """Ids that merges make."""
        return {made for _, made in self._ranks.values()}

    def tokenize(self, word: str) -> list[Token]:
        """Returns the tokens of one word; none for the empty word.

        Raises:
            VocabError: a character is unknown and `unk_token` is not in the vocabulary.
        """
        if self.ignore_merges and word in self.vocab:
            return [Token(self.vocab[word], word, (0, len(word.encode("utf-8"))))]
        symbols = self._merge(self._split(word))
        tokens: list[Token] = []
        end = 0
        for symbol in symbols:
            start, end = end, end + symbol.length
            tokens.append(Token(symbol.id, self._tokens[symbol.id], (start, end)))
        return tokens

    def merge_ids(self, symbols: list[int]) -> list[int]:
        """Returns the ids that the merges make of initial symbols."""
        return [symbol.id for symbol in self._merge([_Symbol(symbol, 1) for symbol in symbols])]

    def _split(self, word: str) -> list[_Symbol]:
        """Returns one symbol per character, or several per character spelt by bytes.

        An unknown token is held back until the next known character, the next unknown one that does not fuse with it,
        or the end. Bytes do not release it, so they come out before the unknown token of an earlier character,
        and unknown characters with only bytes between them still fuse.
        """
        symbols: list[_Symbol] = []
        pending: _Symbol | None = None
        for place, char in enumerate(word):
            length = len(char.encode("utf-8"))
            spelling = (self.prefix if place > 0 else "") + char + (self.suffix if place == len(word) - 1 else "")
            if spelling in self.vocab:
                if pending is not None:
                    symbols.append(pending)
                    pending = None
                symbols.append(_Symbol(self.vocab[spelling], length))
            elif (by_bytes := self._spell_by_bytes(spelling)) is not None:
                symbols += by_bytes
            elif self.unk_token is not None:
                if pending is not None and self.fuse_unk:
                    pending = _Symbol(pending.id, pending.length + length)
                    continue
                if pending is not None:
                    symbols.append(pending)
                pending = _Symbol(self._id(self.unk_token, "unk_token"), length)
        if pending is not None:
            symbols.append(pending)
        return symbols

    def _spell_by_bytes(self, spelling: str) -> list[_Symbol] | None:
        """Returns the tokens of all bytes, prefix and suffix included, each of length 1; None if one is missing."""
        if not self.byte_fallback:
            return None
        names = [f"<0x{byte:02X}>" for byte in spelling.encode("utf-8")]
        if not all(name in self.vocab for name in names):
            return None
        return [_Symbol(self.vocab[name], 1) for name in names]

    def _merge(self, symbols: list[_Symbol]) -> list[_Symbol]:
        # Unknown tokens and bytes take part: a merge may name them.
        while True:
            best: tuple[int, int, int] | None = None
            for place, (left, right) in enumerate(pairwise(symbols)):
                if (left.id, right.id) in self._ranks:
                    rank, merged = self._ranks[left.id, right.id]
                    if best is None or rank < best[0]:
                        best = rank, place, merged
            if best is None:
                return symbols
            _, place, merged = best
            length = symbols[place].length + symbols[place + 1].length
            symbols = [*symbols[:place], _Symbol(merged, length), *symbols[place + 2 :]]

    def _id(self, token: str, role: str) -> int:
        if token not in self.vocab:
            raise VocabError(f"token `{token}` of {role} is not in the vocabulary of {len(self.vocab)} tokens")
        return self.vocab[token]
