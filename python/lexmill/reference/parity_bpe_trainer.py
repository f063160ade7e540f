"""Trains BPE over several languages: each merge goes to the language that is compressed worst (Foroutan et al. 2025).

Order of choices:

* Ids and alphabet as in `bpe_trainer`, from the words of all languages to train on; the characters of the dev sets
  count too. A word of a dev set is left out if a character of it has no id in its place.
* The first `global_merges` merges: the pair most frequent in all languages together.
* Then, before each merge, the language. With dev sets it is the one whose dev set has most symbols; else with `ratio`
  the one of the lowest compression rate (symbols at the start / symbols now) / ratio; else the one whose words have
  most symbols. Among equals the one given first. Its most frequent pair is merged, in all languages and dev sets.
* A language is out for good once it is chosen and has no pair that occurs `min_frequency` times.
* `variant="window"`: the worst language among those whose share of the last `window_size` turns is at most
  alpha / languages, both as 64-bit quotients. If there is none, the turn goes to the language compressed best while no
  language is out, and to nobody afterwards. A turn counts even if nothing is merged: the language had no pair, or
  nobody was chosen.
* Pairs: the highest count; among equals the one with the larger left text, then the larger right text, by code points.

This is Hugging Face's result, where that is not random (see `bpe_trainer`) and ends: with `variant="window"` its loop
may never do so once a language is out.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

from lexmill.errors import OptionError
from lexmill.reference.bpe_pairs import Pair, count_pairs, merge_pair
from lexmill.reference.bpe_symbols import Words, choose_alphabet, split_word

VARIANTS = ("base", "window")
Segments = list[tuple[list[int], int]]


def train_parity_bpe(
    corpora: Sequence[Words],
    dev: Sequence[Words] | None = None,
    ratio: Sequence[float] | None = None,
    *,
    num_merges: int = 32_000,
    variant: str = "base",
    min_frequency: int = 0,
    global_merges: int = 0,
    window_size: int = 100,
    alpha: float = 2.0,
    total_symbols: bool = False,
    special_tokens: Iterable[str] = (),
    limit_alphabet: int | None = None,
    initial_alphabet: Iterable[str] = (),
    continuing_subword_prefix: str | None = None,
    end_of_word_suffix: str | None = None,
    max_token_length: int | None = None,
) -> tuple[list[str], list[tuple[str, str]]]:
    """Learns a vocabulary from words and their counts by language; every step recounts everything.

    Args:
        corpora: for each language its distinct words in order of first appearance, each with its count.
        dev: the same for the dev sets, in the order of the languages; `ratio` is ignored with them.
        ratio: for each language the compression rate to aim at; only their proportions matter.
        num_merges: merging stops after so many merges.
        variant: "base" or "window".
        min_frequency: pairs that occur less often are not merged; 0 means the same as 1.
        global_merges: so many merges go to the pair that is most frequent in all languages.
        window_size: for "window", how many turns are looked back.
        alpha: for "window", how many times its even share a language may have of them.
        total_symbols: `num_merges` is the size of the vocabulary.
        special_tokens: as in `train_bpe`, like the other options that follow.
        limit_alphabet: as there.
        initial_alphabet: as there.
        continuing_subword_prefix: as there.
        end_of_word_suffix: as there.
        max_token_length: as there.

    Returns:
        The tokens by id, and the merges in the order learnt.

    Raises:
        OptionError: an option is out of range, or lengths do not match.
    """
    check(len(corpora), dev, ratio, variant, window_size, alpha)
    all_words = [entry for words in [*corpora, *(dev or [])] for entry in words]
    alphabet = choose_alphabet(all_words, limit_alphabet, initial_alphabet)
    ids: dict[str, int] = {}
    for token in [*special_tokens, *alphabet]:
        ids.setdefault(token, len(ids))
    prefix, suffix = continuing_subword_prefix or "", end_of_word_suffix or ""

    languages = [[(split_word(word, ids, prefix, suffix), count) for word, count in words] for words in corpora]
    tokens = list(ids)
    dev_sets = [split_known(words, ids, prefix, suffix) for words in dev or []]
    wanted = max(num_merges - len(tokens), 0) if total_symbols else num_merges
    lengths = {symbol: 1 for segments in [*languages, *dev_sets] for symbols, _ in segments for symbol in symbols}
    at_start = [size(segments) for segments in languages]
    merges: dict[tuple[str, str], None] = {}
    out: set[int] = set()
    turns: list[int | None] = []
    done = 0
    while done < wanted and len(out) < len(languages):
        if done < global_merges:
            source = [segment for segments in languages for segment in segments]
            chosen = None
        else:
            badness = [float(size(segments)) for segments in dev_sets or languages]
            if ratio is not None and dev is None:
                badness = [-rate(*of) for of in zip(at_start, map(size, languages), ratio, strict=True)]
            most = alpha / len(languages) if variant == "window" else math.inf
            had = Counter(turns[-window_size:]) if variant == "window" else Counter()
            chosen = choose(badness, out, [had[at] / max(window_size, 1) for at in range(len(languages))], most)
            turns.append(chosen)
            if chosen is None:
                continue
            source = languages[chosen]
        pair = best_pair(count_pairs(source, lengths, max_token_length), tokens, max(min_frequency, 1))
        if pair is None:
            if chosen is None:
                break
            out.add(chosen)
            continue
        left, right = pair
        merged = tokens[left] + tokens[right].removeprefix(prefix)
        new = ids.setdefault(merged, len(ids))
        if new == len(tokens):
            tokens.append(merged)
        lengths.setdefault(new, lengths[left] + lengths[right])
        halves = tokens[left], tokens[right]
        merges.pop(halves, None)
        merges[halves] = None
        for side in languages, dev_sets:
            side[:] = [[(merge_pair(symbols, pair, new), n) for symbols, n in segments] for segments in side]
        done += 1
    return tokens, list(merges)


def split_known(words: Words, ids: dict[str, int], prefix: str, suffix: str) -> Segments:
    """Splits the words whose characters all have ids with the prefix and suffix of their places."""
    segments = []
    for word, count in words:
        last = len(word) - 1
        symbols = [
            ids.get((prefix if place else "") + char + (suffix if place == last else ""))
            for place, char in enumerate(word)
        ]
        if None not in symbols:
            segments.append(([symbol for symbol in symbols if symbol is not None], count))
    return segments


def choose(badness: Sequence[float], out: set[int], had: Sequence[float], most: float) -> int | None:
    """Returns the language of this turn, given which share of the window each has had."""
    worst_first = sorted((at for at in range(len(badness)) if at not in out), key=lambda at: -badness[at])
    allowed = [at for at in worst_first if had[at] <= most]
    if allowed:
        return allowed[0]
    return None if out else worst_first[-1]


def best_pair(counts: dict[Pair, int], tokens: list[str], least: int) -> Pair | None:
    """Returns the pair to merge, or None if none occurs `least` times."""
    frequent = [pair for pair in counts if counts[pair] >= least]
    return max(frequent, key=lambda pair: (counts[pair], tokens[pair[0]], tokens[pair[1]]), default=None)


def size(segments: Segments) -> int:
    """Returns the number of symbols, each word counted as often as it occurs."""
    return sum(len(symbols) * count for symbols, count in segments)


def rate(at_start: int, now: int, ratio: float) -> float:
    """Returns the compression rate in proportion to the one aimed at; without symbols it is infinite."""
    return at_start / now / ratio if now else math.inf


def check(
    languages: int, dev: Sequence[Words] | None, ratio: Sequence[float] | None, variant: str, window: int, alpha: float
) -> None:
    """Raises an `OptionError` for options that cannot be trained with."""
    wrong: list[tuple[str, object, str]] = []
    if not languages:
        wrong.append(("number of corpora", 0, "at least 1"))
    if variant not in VARIANTS:
        # Hugging Face's words.
        message = f"Unknown variant '{variant}'. Use {' or '.join(map(repr, VARIANTS))}."
        raise OptionError(message)
    if dev is not None and len(dev) != languages:
        wrong.append(("number of dev sets", len(dev), str(languages)))
    if dev is None and ratio is not None:
        if len(ratio) != languages:
            wrong.append(("length of ratio", len(ratio), str(languages)))
        wrong += [("ratio", f"{of:g}", "a finite number above 0") for of in ratio if not 0 < of < math.inf]
    if variant == "window" and window == 0:
        wrong.append(("window_size", 0, "at least 1"))
    if variant == "window" and not 0 < alpha < math.inf:
        wrong.append(("alpha", f"{alpha:g}", "a finite number above 0"))
    for name, value, expected in wrong:
        raise OptionError(f"{name} is {value} but must be {expected}")
