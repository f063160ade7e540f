"""Trains BPE from a base: a model keeps its tokens, their ids and its merges, and new merges follow them.

Order of choices, beyond `bpe_trainer`:

* Words: the base segments each word by itself, by rank; a pair of the base is left only where a new merge makes it.
* Ids: special tokens that the base lacks, then the alphabet and the symbols with a prefix or suffix that it lacks, then
  new merges; all after the ids of the base, and at `first_id` or later.
* Merges: the base's in their order, then new ones in the order learnt. A pair that is a merge of the base keeps its
  rank, even where training chooses it again.
* Lengths: a token of the base is as long as the halves of its first merge together, any other is one character.
* Words of a token: its runs of characters other than spaces, `Ġ` and `▁`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from lexmill.errors import OptionError
from lexmill.reference.bpe import Bpe
from lexmill.reference.bpe_pairs import Pair, best_pair, count_pairs, merge_pair
from lexmill.reference.bpe_symbols import Words, choose_alphabet, split_word
from lexmill.reference.new_ids import NewIds

SPACES = " Ġ▁"


def extend_bpe(
    words: Words,
    vocab: Mapping[str, int],
    merges: Sequence[tuple[str, str]],
    *,
    vocab_size: int = 30_000,
    min_frequency: int = 0,
    special_tokens: Iterable[str] = (),
    limit_alphabet: int | None = None,
    initial_alphabet: Iterable[str] = (),
    continuing_subword_prefix: str | None = None,
    end_of_word_suffix: str | None = None,
    max_token_length: int | None = None,
    max_words: int | None = None,
    tie_break: str = "smallest-ids",
    ignore_merges: bool = False,
    only_new_tokens: bool = False,
    first_id: int = 0,
) -> tuple[dict[str, int], list[tuple[str, str]]]:
    """Learns merges after the merges of a base, from words and their counts.

    Args:
        words: as `train_bpe` takes them.
        vocab: the tokens of the base with their ids.
        merges: the merges of the base, by rank.
        vocab_size: merging stops when the vocabulary has this many tokens.
        min_frequency: as in `train_bpe`.
        special_tokens: strings that get the first new ids.
        limit_alphabet: as in `train_bpe`; a character that has an id stays.
        initial_alphabet: as in `train_bpe`.
        continuing_subword_prefix: the prefix of the base.
        end_of_word_suffix: the suffix of the base.
        max_token_length: as in `train_bpe`.
        max_words: merged tokens have at most this many words.
        tie_break: as in `train_bpe`.
        ignore_merges: the base takes a word that is in its vocabulary whole.
        only_new_tokens: pairs whose text is a token already are never merged.
        first_id: new ids start here, or after the ids of the base.

    Returns:
        The tokens with their ids, and all merges.

    Raises:
        OptionError: `vocab_size` is less than the base and the new symbols need.
    """
    begun = begin_extension(
        words,
        vocab,
        merges,
        special_tokens=special_tokens,
        limit_alphabet=limit_alphabet,
        initial_alphabet=initial_alphabet,
        continuing_subword_prefix=continuing_subword_prefix,
        end_of_word_suffix=end_of_word_suffix,
        ignore_merges=ignore_merges,
        first_id=first_id,
    )
    ids = begun.ids
    if vocab_size < len(ids):
        raise OptionError(f"vocab_size is {vocab_size} but special tokens and initial alphabet need {len(ids)}")
    learnt = learn_merges(
        begun.segments,
        ids,
        begun.lengths,
        vocab_size,
        min_frequency,
        max_token_length,
        max_words,
        tie_break,
        continuing_subword_prefix or "",
        only_new_tokens=only_new_tokens,
    )
    known = set(begun.merges)
    return dict(ids), begun.merges + [pair for pair in learnt if pair not in known]


class Begun(NamedTuple):
    """An extension before its first new merge: tokens, merges each once, lengths of tokens, words as tokens."""

    ids: NewIds
    merges: list[tuple[str, str]]
    lengths: dict[int, int]
    segments: list[tuple[list[int], int]]


def begin_extension(
    words: Words,
    vocab: Mapping[str, int],
    merges: Sequence[tuple[str, str]],
    *,
    special_tokens: Iterable[str] = (),
    limit_alphabet: int | None = None,
    initial_alphabet: Iterable[str] = (),
    continuing_subword_prefix: str | None = None,
    end_of_word_suffix: str | None = None,
    ignore_merges: bool = False,
    first_id: int = 0,
) -> Begun:
    """Adds special tokens and characters, and segments the words by the base."""
    prefix = continuing_subword_prefix or ""
    base = Bpe(vocab, merges, continuing_subword_prefix=prefix, ignore_merges=ignore_merges)
    ids = NewIds(vocab, first_id)
    for token in [*special_tokens, *choose_alphabet(words, limit_alphabet, initial_alphabet)]:
        ids.add(token)
    # A pair that is listed twice has its later rank.
    merges = [*dict.fromkeys(merges[::-1])][::-1]
    lengths: dict[int, int] = {}
    for left, right in merges:
        halves = lengths.get(ids[left], 1) + lengths.get(ids[right], 1)
        lengths.setdefault(ids[left + right.removeprefix(prefix)], halves)
    segments: list[tuple[list[int], int]] = []
    for word, count in words:
        symbols = split_word(word, ids, prefix, end_of_word_suffix or "")
        for symbol in symbols:
            lengths.setdefault(symbol, 1)
        segments.append(([] if ignore_merges and word in vocab else base.merge_ids(symbols), count))
    return Begun(ids, merges, lengths, segments)


def learn_merges(
    segments: list[tuple[list[int], int]],
    ids: NewIds,
    lengths: dict[int, int],
    vocab_size: int,
    min_frequency: int,
    max_token_length: int | None,
    max_words: int | None,
    tie_break: str,
    prefix: str = "",
    *,
    only_new_tokens: bool = False,
) -> list[tuple[str, str]]:
    """Merges the most frequent pair until there are enough tokens, which are added to `ids` and `lengths`.

    Returns the merges in the order learnt, a pair that came up twice at its later place.
    """
    tokens = {token_id: token for token, token_id in ids.items()}
    learnt: dict[tuple[str, str], None] = {}

    def joined(pair: Pair) -> str:
        return tokens[pair[0]] + tokens[pair[1]].removeprefix(prefix)

    while len(ids) < vocab_size:
        counts = count_pairs(segments, lengths, max_token_length)
        if max_words is not None:
            counts = {pair: count for pair, count in counts.items() if count_token_words(joined(pair)) <= max_words}
        if only_new_tokens:
            counts = {pair: count for pair, count in counts.items() if joined(pair) not in ids}
        pair = best_pair(counts, tie_break)
        if pair is None or counts[pair] < min_frequency:
            break
        new = ids.add(joined(pair))
        tokens.setdefault(new, joined(pair))
        lengths.setdefault(new, lengths[pair[0]] + lengths[pair[1]])
        halves = tokens[pair[0]], tokens[pair[1]]
        learnt.pop(halves, None)
        learnt[halves] = None
        segments = [(merge_pair(symbols, pair, new), count) for symbols, count in segments]
    return list(learnt)


def count_token_words(token: str) -> int:
    """Counts the runs of characters other than spaces."""
    for space in SPACES:
        token = token.replace(space, " ")
    return len([word for word in token.split(" ") if word])
