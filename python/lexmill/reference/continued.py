"""Rules that continued training has for every kind of model.

Order of choices:

* Ids: every token keeps its id, unless it is `replaced`. New tokens get the ids after the largest one: first new
  special tokens as given, then new characters, then the tokens learnt.
* Sizes: `vocab_size` counts all tokens. If the tokenizer has as many already, nothing changes, for any words.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from lexmill.errors import OptionError
from lexmill.reference.bpe_symbols import Words, choose_alphabet


def check_room(vocab_size: int, present: int, needed: int, replaceable: int | None = None) -> None:
    """Checks that special tokens and new characters fit.

    Args:
        vocab_size: tokens in all.
        present: tokens that the tokenizer has.
        needed: special tokens and characters that are new.
        replaceable: tokens that give their ids to new ones; None if no token may be replaced.

    Raises:
        OptionError: they do not.
    """
    least = present + max(needed - (replaceable or 0), 0)
    if vocab_size < least:
        can_go = "" if replaceable is None else f", {replaceable} can be replaced"
        raise OptionError(
            f"vocab_size is {vocab_size} but must be at least {least}: the tokenizer has {present} tokens{can_go}, "
            f"new special tokens and characters need {needed}"
        )


def alphabet_of(words: Words, known: Iterable[str], limit: int | None = None, initial: Iterable[str] = ()) -> list[str]:
    """Returns the characters of the words that belong to the alphabet, sorted by code point.

    Args:
        words: words with their counts.
        known: the tokens of the tokenizer; tokens of one character count as infinitely frequent.
        limit: the most characters, the tokenizer's included.
        initial: as in `bpe_trainer`.
    """
    characters = [token for token in known if len(token) == 1]
    return choose_alphabet(words, limit, [*initial, *characters])


def with_ids(vocab: Mapping[str, int], new: Iterable[str]) -> dict[str, int]:
    """Returns the vocabulary with new tokens after the largest id."""
    first = max(vocab.values(), default=-1) + 1
    return {**vocab, **{token: first + place for place, token in enumerate(new)}}
