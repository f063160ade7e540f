"""Trains BPE: at each step the most frequent pair of neighbours becomes one token (Sennrich et al. 2016).

Order of choices:

* Ids: special tokens as given (a repeated one once), then the alphabet by code point, then the symbols that carry a
  prefix or suffix by first appearance (word by word, left to right), then one id for each merge that spells a new
  string. A merge that spells a string which has an id already, such as a special token, takes that id: it is
  recorded, and the vocabulary does not grow.
* Merges: in the order learnt. Only where a string came out that some symbol had already can a pair come up twice
  (a prefix or suffix whose characters the text uses too); its later place is the one that is kept.
* Pairs: the highest count; among equal counts `tie_break="smallest-ids"` takes the smallest (left id, right id), and
  `tie_break="first-seen"` the pair whose first occurrence comes first (word index, then place in the word).
* Occurrences: every adjacent pair counts, overlapping ones too (`aaa` holds two `aa`), times the count of the word;
  a merge goes through each word from left to right and never overlaps (`aaa` becomes `aa a`).
* `initial_tokens`: see `initial_tokens`; their merges come first.
* `limit_alphabet`: the lowest counts are dropped first; among equal counts the larger code point.

With the default ties this is Hugging Face's result, which is random where this is ordered: the ids of symbols with a
prefix or suffix, and which of equal counts `limit_alphabet` drops. The results can also differ where a merge spells a
symbol that words began with: there Hugging Face's running counts differ from a recount.
"""

from __future__ import annotations

from collections.abc import Iterable

from lexmill.errors import OptionError, OptionRangeError
from lexmill.reference.bpe_pairs import Pair, best_pair, count_pairs, merge_pair
from lexmill.reference.bpe_shared import BYTE_PIECES, prune_shared, refuse_characters
from lexmill.reference.bpe_symbols import Words, choose_alphabet, split_word
from lexmill.reference.forbidden import forbidden
from lexmill.reference.initial_tokens import characters_of, plan_merges, too_small

TIE_BREAKS = ("smallest-ids", "first-seen")


def train_bpe(
    words: Words,
    *,
    vocab_size: int = 30_000,
    min_frequency: int = 0,
    special_tokens: Iterable[str] = (),
    limit_alphabet: int | None = None,
    initial_alphabet: Iterable[str] = (),
    continuing_subword_prefix: str | None = None,
    end_of_word_suffix: str | None = None,
    max_token_length: int | None = None,
    tie_break: str = "smallest-ids",
    auto_character_coverage: bool = False,
    forbid: str | Iterable[str] = (),
    initial_tokens: Iterable[str] = (),
    byte_level: bool = False,
) -> tuple[list[str], list[tuple[str, str]]]:
    """Learns a vocabulary from words and their counts; every step recounts everything.

    Args:
        words: distinct words in order of first appearance, each with its count, which is at least 1.
        vocab_size: merging stops when the vocabulary has this many tokens.
        min_frequency: merging stops when the best pair occurs less often than this; 0 means the same as 1.
        special_tokens: strings that get the first ids.
        limit_alphabet: the alphabet keeps at most this many characters; `initial_alphabet` counts towards them.
        initial_alphabet: the first character of each string is in the alphabet, as if it were infinitely frequent.
        continuing_subword_prefix: goes before each symbol that is not the first character of its word. A merge
            removes it from its right half. None and "" mean the same.
        end_of_word_suffix: goes after the last character of each word. None and "" mean the same.
        max_token_length: see `is_eligible`.
        tie_break: "smallest-ids" or "first-seen".
        auto_character_coverage: characters share the places with merges, see `bpe_shared`; the byte pieces follow the
            special tokens.
        forbid: patterns that no merged token may match, see `forbidden`.
        initial_tokens: tokens that the vocabulary must have, see `initial_tokens`.
        byte_level: tokens spell bytes.

    Returns:
        The tokens by id, and the merges in the order learnt.

    Raises:
        OptionError: an option is out of range, or `vocab_size` is less than the initial vocabulary needs.
    """
    if tie_break not in TIE_BREAKS:
        raise OptionError(f"tie_break is {tie_break} but must be {' or '.join(TIE_BREAKS)}")
    sizes = {
        "vocab_size": vocab_size,
        "min_frequency": min_frequency,
        "limit_alphabet": limit_alphabet,
        "max_token_length": max_token_length,
    }
    for name, size in sizes.items():
        if size is not None and size < 0:
            raise OptionRangeError(f"{name} is {size} but must be at least 0")
    prefix = continuing_subword_prefix or ""
    suffix = end_of_word_suffix or ""
    initial_tokens = list(initial_tokens)
    if auto_character_coverage:
        refuse_characters(
            limit_alphabet=limit_alphabet,
            initial_alphabet="".join(string[0] for string in initial_alphabet if string),
            continuing_subword_prefix=prefix,
            end_of_word_suffix=end_of_word_suffix,
            initial_tokens=" ".join(initial_tokens),
        )
    is_forbidden = forbidden(forbid, prefix=prefix, suffix=suffix, byte_level=byte_level)
    required = list(dict.fromkeys(initial_tokens))
    characters = characters_of(required, prefix, suffix, byte_level=byte_level)
    alphabet = choose_alphabet(words, limit_alphabet, [*initial_alphabet, *characters])
    ids: dict[str, int] = {}
    for token in [*special_tokens, *(BYTE_PIECES if auto_character_coverage else [])]:
        ids.setdefault(token, len(ids))
    fixed = len(ids)
    if auto_character_coverage and vocab_size < fixed:
        raise OptionError(f"vocab_size is {vocab_size} but special tokens and initial alphabet need {fixed}")
    for token in alphabet:
        ids.setdefault(token, len(ids))
    budget = vocab_size - fixed
    if auto_character_coverage:
        # Characters take no places while merges are learnt.
        vocab_size = len(ids) + budget
    initial = len(ids)
    segments = [(split_word(word, ids, prefix, suffix), count) for word, count in words]
    if vocab_size < len(ids):
        raise OptionError(f"vocab_size is {vocab_size} but special tokens and initial alphabet need {len(ids)}")

    planned = plan_merges(required, ids, merge_pair, prefix=prefix, suffix=suffix)
    if vocab_size < len(ids):
        raise OptionError(too_small(vocab_size, len(ids)))
    tokens = list(ids)
    lengths = {symbol: 1 for symbols, _ in segments for symbol in symbols}
    merges: dict[tuple[str, str], int] = {}

    def make(pair: Pair, new: int, count: int) -> list[tuple[list[int], int]]:
        left, right = pair
        lengths.setdefault(new, lengths.get(left, 1) + lengths.get(right, 1))
        halves = tokens[left], tokens[right]
        # Assigning alone would leave a pair that comes up again at its earlier place.
        merges.pop(halves, None)
        merges[halves] = count
        return [(merge_pair(symbols, pair, new), weight) for symbols, weight in segments]

    for left, right, new in planned:
        segments = make((left, right), new, 0)
    while len(tokens) < vocab_size:
        counts = count_pairs(segments, lengths, max_token_length)
        allowed = {
            pair: count
            for pair, count in counts.items()
            if not is_forbidden(tokens[pair[0]] + tokens[pair[1]].removeprefix(prefix))
        }
        pair = best_pair(allowed, tie_break)
        if pair is None or counts[pair] < min_frequency:
            break
        left, right = pair
        merged = tokens[left] + tokens[right].removeprefix(prefix)
        new = ids.setdefault(merged, len(ids))
        if new == len(tokens):
            tokens.append(merged)
        segments = make(pair, new, counts[pair])
    if auto_character_coverage:
        return prune_shared(words, tokens, list(merges.items()), characters=range(fixed, initial), budget=budget)
    return tokens, list(merges)
