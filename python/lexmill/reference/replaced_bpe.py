"""Replaces tokens in the continued training of BPE. `replaced` has the order of choices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from lexmill.reference.bpe import Bpe
from lexmill.reference.bpe_extended import begin_extension
from lexmill.reference.bpe_symbols import Words
from lexmill.reference.continued_bpe import continue_bpe, extension_options
from lexmill.reference.replaced import bare, replaced

NOT_MADE = 1 << 32

Merges = Sequence[tuple[str, str]]


def replace_bpe(
    words: Words,
    vocab: Mapping[str, int],
    merges: Merges,
    *,
    vocab_size: int,
    most: int,
    added_tokens: Iterable[str] = (),
    **options: Any,  # noqa: ANN401 (of the types of the options)
) -> tuple[dict[str, int], list[tuple[str, str]], dict[int, str]]:
    """Continues the training of BPE with at most `most` replaced tokens; the other arguments are `continue_bpe`'s."""
    model = {
        name: options[name]
        for name in ("continuing_subword_prefix", "end_of_word_suffix", "ignore_merges")
        if name in options
    }
    bpe = Bpe(vocab, merges, **model)
    used = {token.id for word, _ in words for token in bpe.tokenize(word)}
    begun = begin_extension(words, vocab, merges, **extension_options(vocab, options))
    used |= {id_ for segment, _ in begun.segments for id_ in segment}
    parts = parts_of(bpe, merges)
    lengths = {id_: len(bare(token, bpe.prefix, bpe.suffix)) for token, id_ in vocab.items()}
    named = {*added_tokens, *options.get("special_tokens", ())}
    kept = used | {id_ for token, id_ in vocab.items() if token in named or lengths[id_] < 2}
    stack = list(kept)
    while stack:
        for *pair, _ in parts.get(stack.pop(), ()):
            stack += set(pair) - kept
            kept.update(pair)
    ranks: dict[int, int] = {}
    for id_ in sorted(parts, key=lambda id_: (lengths[id_], id_)):
        for left, right, rank in parts[id_]:
            inner = [ranks.get(part, NOT_MADE) for part in (left, right) if part != id_ and lengths[part] > 1]
            ranks[id_] = max(ranks.get(id_, 0), rank, *inner)
    unused = [id_ for id_ in vocab.values() if id_ not in kept]
    unused.sort(key=lambda id_: (ranks.get(id_, NOT_MADE), lengths[id_], id_), reverse=True)
    learnt: list[tuple[str, str]] = []

    def learn(replaceable: int) -> dict[str, int]:
        continued, all_merges = continue_bpe(
            words, vocab, merges, vocab_size=vocab_size, replaceable=replaceable, **options
        )
        learnt[:] = all_merges
        return continued

    tokens, gone = replaced(vocab, unused[:most], vocab_size, learn)
    rest = [
        (left, right)
        for left, right in learnt
        if left in tokens and right in tokens and left + right.removeprefix(bpe.prefix) in tokens
    ]
    return tokens, rest, gone


def parts_of(bpe: Bpe, merges: Merges) -> dict[int, list[tuple[int, int, int]]]:
    """Returns the merges that each token needs, by the token's id: left part, right part, rank."""
    found: dict[int, list[tuple[int, int, int]]] = {}
    if bpe.prefix or bpe.suffix:
        for rank, (left, right) in enumerate(merges):
            made = bpe.vocab[left + right.removeprefix(bpe.prefix)]
            found.setdefault(made, []).append((bpe.vocab[left], bpe.vocab[right], rank))
        return found
    for token, id_ in bpe.vocab.items():
        last = last_merge(bpe, token)
        if last is not None:
            found[id_] = [last]
    return found


def last_merge(bpe: Bpe, token: str) -> tuple[int, int, int] | None:
    """Returns the parts of the last merge that makes a token of its text, and the highest rank of these merges."""
    if not all(char in bpe.vocab for char in token):
        return None
    symbols, last, highest = [bpe.vocab[char] for char in token], None, 0
    while found := [(bpe._ranks[pair][0], place) for place, pair in enumerate(pairwise(symbols)) if pair in bpe._ranks]:
        rank, place = min(found)
        highest = max(highest, rank)
        last = symbols[place], symbols[place + 1], highest
        symbols[place : place + 2] = [bpe._ranks[last[0], last[1]][1]]
    return last if symbols == [bpe.vocab[token]] else None
