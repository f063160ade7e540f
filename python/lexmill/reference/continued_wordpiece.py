"""Continues the training of WordPiece: the model cuts the words, and neighbours become further tokens.

Order of choices:

* Ids and sizes: as in `continued`. New characters come as symbols, sorted as strings, then one token for each merge
  that spells a new string.
* New characters: the symbols of the alphabet's characters in the places where words have them; and the characters
  that continue a token of the tokenizer, each with the prefix, added tokens excepted. Without the latter, a new token
  could take the beginning of a token and leave a rest that is no token, so that a word became unknown.
* Words: the model cuts them, the longest token first. Words that it cannot cut are left out.
* Pairs: as in `wordpiece_trainer`, by frequency or by likelihood; counts are of tokens.

Every new token can be reached. A token without prefix is the longest token of its own text. For one with the prefix,
begin with any token without prefix and lengthen it, by characters from the beginning of the token's text, as long as
this gives a token; the vocabulary is finite, so this ends. That token with the text after it is a word of two tokens.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from lexmill.errors import OptionError, OptionRangeError, VocabError
from lexmill.reference.bpe_pairs import best_pair as most_frequent_pair
from lexmill.reference.bpe_pairs import count_pairs, merge_pair
from lexmill.reference.bpe_symbols import Words
from lexmill.reference.bpe_trainer import TIE_BREAKS
from lexmill.reference.continued import alphabet_of, check_room, with_ids
from lexmill.reference.wordpiece import WordPiece
from lexmill.reference.wordpiece_trainer import SCORES, best_pair, split_word


def continue_wordpiece(
    words: Words,
    vocab: Mapping[str, int],
    *,
    vocab_size: int,
    added_tokens: Iterable[str] = (),
    min_frequency: int = 0,
    special_tokens: Iterable[str] = (),
    limit_alphabet: int | None = None,
    initial_alphabet: Iterable[str] = (),
    continuing_subword_prefix: str = "##",
    max_input_chars_per_word: int = 100,
    score: str = "frequency",
    tie_break: str | None = None,
    min_pair_frequency: int = 0,
    replaceable: int | None = None,
) -> dict[str, int]:
    """Learns further tokens from words and their counts; every step recounts everything.

    Args:
        words: distinct words in order of first appearance, each with its count, which is at least 1.
        vocab: all tokens of the tokenizer with their ids, added tokens included.
        vocab_size: merging stops when there are this many tokens.
        added_tokens: tokens that the model never finds in text, such as the unknown token.
        min_frequency: as in `wordpiece_trainer`.
        special_tokens: strings that get the first new ids, if they are no tokens yet.
        limit_alphabet: as in `bpe_trainer`; characters of the tokenizer count as infinitely frequent.
        initial_alphabet: the first character of each string is in the alphabet.
        continuing_subword_prefix: the model's.
        max_input_chars_per_word: the model's; longer words are left out.
        score: as in `wordpiece_trainer`.
        tie_break: as in `wordpiece_trainer`, with the ids of the tokenizer.
        min_pair_frequency: as `min_frequency`; the larger of the two holds.
        replaceable: tokens that give their ids to new ones, for which there is room beyond `vocab_size`.

    Returns:
        All tokens with their ids.

    Raises:
        OptionError: an option is out of range, or `vocab_size` is less than the tokens need.
    """
    if score not in SCORES:
        raise OptionError(f"score is {score} but must be {' or '.join(SCORES)}")
    if tie_break is None:
        tie_break = "smallest-ids" if score == "frequency" else "first-seen"
    elif tie_break not in TIE_BREAKS:
        raise OptionError(f"tie_break is {tie_break} but must be {' or '.join(TIE_BREAKS)}")
    for name, size in {"min_frequency": min_frequency, "limit_alphabet": limit_alphabet}.items():
        if size is not None and size < 0:
            raise OptionRangeError(f"{name} is {size} but must be at least 0")
    wider = vocab_size + (replaceable or 0)
    if wider == len(vocab):
        return dict(vocab)
    prefix = continuing_subword_prefix
    tokens = initial_tokens(
        words,
        vocab,
        prefix=prefix,
        added_tokens=added_tokens,
        special_tokens=special_tokens,
        limit_alphabet=limit_alphabet,
        initial_alphabet=initial_alphabet,
        max_input_chars_per_word=max_input_chars_per_word,
    )
    check_room(vocab_size, len(vocab), len(tokens) - len(vocab), replaceable)
    ids = {token: place for place, token in enumerate(tokens)}

    least = max(min_frequency, min_pair_frequency, 1)
    segments = segments_of(words, tokens, prefix, max_input_chars_per_word)
    while len(tokens) < wider:
        if score == "frequency":
            counts = count_pairs(segments, dict.fromkeys(range(len(tokens)), 1), None)
            pair = most_frequent_pair({pair: count for pair, count in counts.items() if count >= least}, tie_break)
        else:
            pair = best_pair(segments, set(), least, exact=score == "likelihood", tie_break=tie_break)
        if pair is None:
            break
        merged = tokens[pair[0]] + tokens[pair[1]].removeprefix(prefix)
        new = ids.setdefault(merged, len(tokens))
        if new == len(tokens):
            tokens.append(merged)
        segments = [(merge_pair(symbols, pair, new), count) for symbols, count in segments]
    return with_ids(vocab, tokens[len(vocab) :])


def initial_tokens(
    words: Words,
    vocab: Mapping[str, int],
    *,
    prefix: str,
    added_tokens: Iterable[str] = (),
    special_tokens: Iterable[str] = (),
    limit_alphabet: int | None = None,
    initial_alphabet: Iterable[str] = (),
    max_input_chars_per_word: int = 100,
) -> list[str]:
    """Returns the tokens that merging begins with: the tokenizer's by id, special tokens, new characters."""
    initial = [string[0] for string in initial_alphabet if string]
    # Ids may have gaps; places among the tokens are in the same order and have none.
    tokens = sorted(vocab, key=vocab.__getitem__)
    tokens += dict.fromkeys(token for token in special_tokens if token not in vocab)
    words = [(word, count) for word, count in words if len(word) <= max_input_chars_per_word]
    bare = [token.removeprefix(prefix) for token in vocab]
    kept = set(alphabet_of(words, bare, limit_alphabet, initial))
    needed = {symbol for word, _ in words for symbol in split_word(word, kept, prefix, "")}
    needed |= kept.intersection(initial)
    in_text = set(vocab).difference(added_tokens)
    needed |= {prefix + char for token in in_text for char in continuing_characters(token, prefix)}
    return tokens + sorted(needed.difference(tokens))


def segments_of(
    words: Words, tokens: Iterable[str], prefix: str, max_input_chars_per_word: int
) -> list[tuple[list[int], int]]:
    """Returns the words that can be cut, as places of tokens, with their counts."""
    ids = {token: place for place, token in enumerate(tokens)}
    short = [(word, count) for word, count in words if len(word) <= max_input_chars_per_word]
    return [(cut, count) for word, count in short if (cut := cut_word(word, ids, prefix))]


def continuing_characters(token: str, prefix: str) -> str:
    """Returns the characters of a token that continue a word, if the token stands in text."""
    return token.removeprefix(prefix) if prefix and token.startswith(prefix) else token[1:]


def cut_word(word: str, ids: Mapping[str, int], prefix: str) -> list[int]:
    """Returns the tokens of a word; none if it is unknown."""
    # No token is the empty string, so an unknown word is an error.
    model = WordPiece(ids, unk_token="", continuing_subword_prefix=prefix, max_input_chars_per_word=len(word))
    try:
        return [token.id for token in model.tokenize(word)]
    except VocabError:
        return []
