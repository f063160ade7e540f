"""Encodes one word by WordPiece: the longest token first, from left to right.

Order of choices: there is none to make among equals, for of the prefixes of the rest of a word only one is the longest.
A choice is never taken back: where no token fits the rest, the whole word is unknown.
Source: Schuster and Nakajima 2012; Devlin et al. 2018, released code of BERT.
"""

from __future__ import annotations

from collections.abc import Mapping

from lexmill.errors import VocabError
from lexmill.reference.bpe import Token


class WordPiece:
    """A vocabulary in which a prefix marks tokens that continue a word.

    Args:
        vocab: token to id.
        unk_token: stands for a word that cannot be cut into tokens.
        continuing_subword_prefix: goes before the text that is looked up, save at the beginning of the word. There the
            word is looked up as it is, so a word that itself begins with the prefix may begin with a token that has it.
        max_input_chars_per_word: a word of more characters is unknown.
    """

    def __init__(
        self,
        vocab: Mapping[str, int],
        *,
        unk_token: str = "[UNK]",
        continuing_subword_prefix: str = "##",
        max_input_chars_per_word: int = 100,
    ) -> None:
        """Keeps the vocabulary."""
        self.vocab = dict(vocab)
        self.unk_token = unk_token
        self.prefix = continuing_subword_prefix
        self.max_input_chars_per_word = max_input_chars_per_word

    def tokenize(self, word: str) -> list[Token]:
        """Returns the tokens of one word; none for the empty word.

        The offsets are in UTF-8 bytes; the only token of an unknown word spans the whole word.

        Raises:
            VocabError: the word is unknown and `unk_token` is not in the vocabulary.
        """
        tokens: list[Token] = []
        start = 0
        while start < len(word) <= self.max_input_chars_per_word:
            end = self._end_of_longest(word, start)
            if end is None:
                break
            value = self._spelling(word, start, end)
            offsets = (len(word[:start].encode("utf-8")), len(word[:end].encode("utf-8")))
            tokens.append(Token(self.vocab[value], value, offsets))
            start = end
        if start == len(word):
            return tokens
        if self.unk_token not in self.vocab:
            size = len(self.vocab)
            raise VocabError(f"token `{self.unk_token}` of unk_token is not in the vocabulary of {size} tokens")
        return [Token(self.vocab[self.unk_token], self.unk_token, (0, len(word.encode("utf-8"))))]

    def _spelling(self, word: str, start: int, end: int) -> str:
        return (self.prefix if start > 0 else "") + word[start:end]

    def _end_of_longest(self, word: str, start: int) -> int | None:
        for end in range(len(word), start, -1):
            if self._spelling(word, start, end) in self.vocab:
                return end
        return None
