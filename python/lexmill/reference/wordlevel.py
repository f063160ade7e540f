"""Encodes a word as one token, and learns which words are tokens.

Order of choices in training: special tokens as given (a repeated one once), then words by count, the highest first;
among equal counts the word that is smaller by code points. A word that is a special token has that token's id.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from lexmill.errors import OptionError, OptionRangeError, VocabError
from lexmill.reference.bpe import Token
from lexmill.reference.continued import check_room, with_ids


class WordLevel:
    """A dictionary of whole words.

    Args:
        vocab: token to id.
        unk_token: stands for all other words.
    """

    def __init__(self, vocab: Mapping[str, int], *, unk_token: str = "<unk>") -> None:
        """Keeps the vocabulary."""
        self.vocab = dict(vocab)
        self.unk_token = unk_token

    def tokenize(self, word: str) -> list[Token]:
        """Returns the one token of a word; its offsets are in UTF-8 bytes.

        Raises:
            VocabError: neither the word nor `unk_token` is in the vocabulary.
        """
        value = word if word in self.vocab else self.unk_token
        if value not in self.vocab:
            raise VocabError(f"token `{value}` of unk_token is not in the vocabulary of {len(self.vocab)} tokens")
        return [Token(self.vocab[value], value, (0, len(word.encode("utf-8"))))]


def train_wordlevel(
    words: Sequence[tuple[str, int]],
    *,
    vocab_size: int = 30_000,
    min_frequency: int = 0,
    special_tokens: Iterable[str] = (),
) -> list[str]:
    """Returns the tokens by id.

    Args:
        words: distinct words, each with its count, which is at least 1.
        vocab_size: the vocabulary has at most this many tokens.
        min_frequency: words less frequent than this are left out.
        special_tokens: strings that get the first ids.

    Raises:
        OptionError: an option is out of range, or `vocab_size` is less than there are special tokens.
    """
    for name, size in {"vocab_size": vocab_size, "min_frequency": min_frequency}.items():
        if size < 0:
            raise OptionRangeError(f"{name} is {size} but must be at least 0")
    tokens = dict.fromkeys(special_tokens)
    if vocab_size < len(tokens):
        raise OptionError(f"vocab_size is {vocab_size} but special tokens and initial alphabet need {len(tokens)}")
    frequent = [(word, count) for word, count in words if count >= min_frequency]
    # Python orders strings by code points, Rust by UTF-8 bytes, and the two orders are the same.
    frequent.sort(key=lambda entry: (-entry[1], entry[0]))
    for word, _ in frequent:
        if len(tokens) == vocab_size:
            break
        tokens.setdefault(word)
    return list(tokens)


def continue_wordlevel(
    words: Sequence[tuple[str, int]],
    vocab: Mapping[str, int],
    *,
    vocab_size: int,
    min_frequency: int = 0,
    special_tokens: Iterable[str] = (),
    replaceable: int | None = None,
) -> dict[str, int]:
    """Returns the vocabulary with further words.

    Args:
        words: distinct words, each with its count, which is at least 1.
        vocab: all tokens of the tokenizer with their ids, added tokens included.
        vocab_size: the vocabulary has at most this many tokens.
        min_frequency: words less frequent than this are left out.
        special_tokens: strings that get the first new ids, if they are no tokens yet.
        replaceable: tokens that give their ids to new ones, for which there is room beyond `vocab_size`.

    Raises:
        OptionError: an option is out of range, or `vocab_size` is less than the tokens need.
    """
    if min_frequency < 0:
        raise OptionRangeError(f"min_frequency is {min_frequency} but must be at least 0")
    wider = vocab_size + (replaceable or 0)
    if wider == len(vocab):
        return dict(vocab)
    specials = [token for token in dict.fromkeys(special_tokens) if token not in vocab]
    check_room(vocab_size, len(vocab), len(specials), replaceable)
    learnt = train_wordlevel(
        [(word, count) for word, count in words if word not in vocab],
        vocab_size=wider - len(vocab),
        min_frequency=min_frequency,
        special_tokens=specials,
    )
    return with_ids(vocab, learnt)
