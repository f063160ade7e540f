"""Continues the training of BPE: its merges stay, and further ones follow.

Order of choices: as in `bpe_extended`, from all tokens of the tokenizer, with the sizes of `continued`; but a pair
whose text is a token already is never merged. So each merge makes a token of its own, the loop always has
the words as the model cuts them, and no merge of the tokenizer gets another place. Characters of the tokenizer count as
infinitely frequent for `limit_alphabet`.

Every new token can be reached: a merge ranks after all that came before it, so the symbols of its token first become
the two halves, as they did in the word where the pair was found, and then the token.

If training to a size merges no pair whose text was a token, then training to a smaller size and continuing on the same
words with the same options gives the same tokens and merges.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lexmill.reference.bpe_extended import extend_bpe
from lexmill.reference.bpe_symbols import Words
from lexmill.reference.continued import check_room


def continue_bpe(
    words: Words,
    vocab: Mapping[str, int],
    merges: Sequence[tuple[str, str]],
    *,
    vocab_size: int,
    min_frequency: int = 0,
    special_tokens: Iterable[str] = (),
    limit_alphabet: int | None = None,
    initial_alphabet: Iterable[str] = (),
    continuing_subword_prefix: str | None = None,
    end_of_word_suffix: str | None = None,
    max_token_length: int | None = None,
    tie_break: str = "smallest-ids",
    ignore_merges: bool = False,
    replaceable: int | None = None,
) -> tuple[dict[str, int], list[tuple[str, str]]]:
    """Learns further merges from words and their counts; every step recounts everything.

    Args:
        words: distinct words in order of first appearance, each with its count, which is at least 1.
        vocab: all tokens of the tokenizer with their ids, added tokens included.
        merges: the merges of the tokenizer.
        vocab_size: merging stops when there are this many tokens.
        min_frequency: as in `bpe_trainer`.
        special_tokens: strings that get the first new ids, if they are no tokens yet.
        limit_alphabet: as in `bpe_trainer`; characters of the tokenizer count as infinitely frequent.
        initial_alphabet: as in `bpe_trainer`.
        continuing_subword_prefix: the model's.
        end_of_word_suffix: the model's.
        max_token_length: as in `bpe_trainer`.
        tie_break: as in `bpe_trainer`.
        ignore_merges: the model's; a word that is a token then has no pairs.
        replaceable: tokens that give their ids to new ones, for which there is room beyond `vocab_size`.

    Returns:
        All tokens with their ids, and all merges.

    Raises:
        OptionError: `vocab_size` is less than the tokens need.
    """
    wider = vocab_size + (replaceable or 0)
    if wider == len(vocab):
        return dict(vocab), list(merges)
    options = extension_options(
        vocab,
        {
            "special_tokens": list(special_tokens),
            "initial_alphabet": list(initial_alphabet),
            "limit_alphabet": limit_alphabet,
            "continuing_subword_prefix": continuing_subword_prefix,
            "end_of_word_suffix": end_of_word_suffix,
            "ignore_merges": ignore_merges,
        },
    )
    learning: dict[str, Any] = {
        "max_token_length": max_token_length,
        "tie_break": tie_break,
        "only_new_tokens": True,
    }
    # No pair is so frequent, so these are the special tokens and characters.
    initial, _ = extend_bpe(words, vocab, merges, vocab_size=1 << 30, min_frequency=1 << 62, **options, **learning)
    check_room(vocab_size, len(vocab), len(initial) - len(vocab), replaceable)
    return extend_bpe(words, vocab, merges, vocab_size=wider, min_frequency=min_frequency, **options, **learning)


def extension_options(vocab: Mapping[str, int], options: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the options that decide the symbols of words; the alphabet has the characters of the tokenizer."""
    names = ("special_tokens", "limit_alphabet", "continuing_subword_prefix", "end_of_word_suffix", "ignore_merges")
    characters = [token for token in vocab if len(token) == 1]
    return {
        **{name: options[name] for name in names if name in options},
        "initial_alphabet": [*options.get("initial_alphabet", ()), *characters],
    }
