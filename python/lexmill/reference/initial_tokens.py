"""Tokens that a BPE vocabulary must have, and the merges that make them.

Order of choices:

* Tokens come in the order given, a repeated one once. Their characters are in the alphabet, as the characters of
  `initial_alphabet`. A token that begins with the prefix is spelled as the inside of a word, one that ends with the
  suffix as the end of a word; both only if a character is left.
* Ids: after the ids of the words' symbols, each token's symbols that have none yet, token by token, left to right. Then
  one id for each merge that spells a new string.
* Merges: a token goes through all merges made so far, in their order. As long as it has two symbols or more, its first
  two are merged, wherever they are neighbours in it.

So a token is reached by merges that have lower ranks than all merges of later tokens and of the training. Only where a
prefix or suffix uses characters of the text can a merge of one token undo another one; then the tokens are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from lexmill.errors import OptionError
from lexmill.reference.byte_level import CHAR_TO_BYTE, to_chars

Merge = tuple[int, int, int]


def check(tokens: Iterable[str], *, byte_level: bool, prefix: str = "", suffix: str = "") -> None:
    """Checks the spelling of tokens.

    Raises:
        OptionError: a token is empty, or has a character that spells no byte.
    """
    for token in tokens:
        if token == "":
            message = "initial_tokens has '' but each must have a character"
            raise OptionError(message)
        if byte_level and not all(char in CHAR_TO_BYTE for char in bare(token, prefix, suffix)[0]):
            message = f"initial_tokens has '{token}' but the vocabulary spells bytes; write '{to_chars(token)}'"
            raise OptionError(message)


def too_small(vocab_size: int, needed: int) -> str:
    """Returns the message for a vocabulary that is too small."""
    needs = "which special tokens, initial alphabet and initial tokens need"
    return f"vocab_size is {vocab_size} but must be at least {needed}, {needs}"


def characters_of(tokens: Sequence[str], prefix: str, suffix: str, *, byte_level: bool) -> list[str]:
    """Returns the characters of all tokens, without affixes.

    Raises:
        OptionError: as `check`.
    """
    check(tokens, byte_level=byte_level, prefix=prefix, suffix=suffix)
    return [char for token in tokens for char in bare(token, prefix, suffix)[0]]


def bare(token: str, prefix: str, suffix: str) -> tuple[str, bool, bool]:
    """Returns the characters of a token without its affixes; then true for a prefix, and true for a suffix."""
    has_prefix = prefix != "" and token.startswith(prefix) and token != prefix
    token = token[len(prefix) :] if has_prefix else token
    has_suffix = suffix != "" and token.endswith(suffix) and token != suffix
    return token[: len(token) - len(suffix)] if has_suffix else token, has_prefix, has_suffix


def symbols_of(token: str, prefix: str, suffix: str) -> list[str]:
    """Returns the initial symbols that a token is made of."""
    text, has_prefix, has_suffix = bare(token, prefix, suffix)
    last = len(text) - 1
    return [
        (prefix if place > 0 or has_prefix else "") + char + (suffix if has_suffix and place == last else "")
        for place, char in enumerate(text)
    ]


def plan_merges(
    initial_tokens: Sequence[str],
    ids: dict[str, int],
    merge: Callable[[list[int], tuple[int, int], int], list[int]],
    *,
    prefix: str,
    suffix: str,
) -> list[Merge]:
    """Returns the merges, each with the id that it makes, and gives ids to new symbols and tokens.

    Raises:
        OptionError: a character is not in the alphabet, or the merges of one token undo another.
    """
    spelled: dict[str, list[int]] = {}
    for token in initial_tokens:
        for char in bare(token, prefix, suffix)[0]:
            if char not in ids:
                message = f"initial_tokens has '{token}' but limit_alphabet leaves out '{char}'"
                raise OptionError(message)
        spelled[token] = [ids.setdefault(symbol, len(ids)) for symbol in symbols_of(token, prefix, suffix)]
    merges: list[Merge] = []
    for symbols in spelled.values():
        for left, right, new in merges:
            symbols = merge(symbols, (left, right), new)
        while len(symbols) > 1:
            left, right = symbols[:2]
            texts = list(ids)
            new = ids.setdefault(texts[left] + texts[right].removeprefix(prefix), len(ids))
            merges.append((left, right, new))
            symbols = merge(symbols, (left, right), new)
    # Of a pair that was merged twice the later place counts.
    last = {(left, right): place for place, (left, right, _) in enumerate(merges)}
    kept = [step for place, step in enumerate(merges) if last[step[:2]] == place]
    for token, symbols in spelled.items():
        for left, right, new in kept:
            symbols = merge(symbols, (left, right), new)
        if symbols != [ids[token]]:
            message = f"initial_tokens has '{token}', which the merges of the others undo"
            raise OptionError(message)
    return merges
