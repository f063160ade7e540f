"""`lexmill.prune` and `lexmill.shrink`: a tokenizer with a part of its vocabulary."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from lexmill._core import Tokenizer
from lexmill._data.source_names import OneSource
from lexmill._types import OnProgress
from lexmill.errors import OptionError
from lexmill.vocabularies.closure import Closure
from lexmill.vocabularies.languages import scripts_of
from lexmill.vocabularies.selection import Counts, GivenIds, by_count, by_script, corpus_counts, known_ids
from lexmill.vocabularies.tables import Ids, renumbered, table_of

__all__ = ["Pruned", "prune", "shrink"]


@dataclass(frozen=True, eq=False)
class Pruned:
    """A tokenizer with a part of the vocabulary of another, and the way from one to the other.

    Attributes:
        tokenizer: the new tokenizer; its ids are dense, in the order of the old ones.
        id_map: the new id of each old id, or -1; `int64`.
        old_ids: the old id of each new id, `int64`: `embeddings[old_ids]` are the rows of the new tokenizer.
        required: old ids that stay although nothing selected them, in ascending order; `int64`. Other tokens are made
            of them, or every text may need them.
    """

    tokenizer: Tokenizer
    id_map: Ids
    old_ids: Ids
    required: Ids


def prune(
    tokenizer: Tokenizer,
    keep: GivenIds | None = None,
    *,
    counts: Counts | None = None,
    corpus: OneSource | Iterable[OneSource] | None = None,
    min_count: int = 1,
    scripts: Iterable[str] | None = None,
    languages: Iterable[str] | None = None,
    num_threads: int | None = None,
    on_progress: OnProgress | None = None,
) -> Pruned:
    """Drops tokens; the rest encodes every text made of kept tokens as before.

    The tokens of `keep` stay, and the tokens that pass all other criteria which are given. So do the tokens that these
    are made of, added tokens, the unknown token, tokens of bytes, and the single characters in kept tokens.
    `docs/algorithms/changing-vocabularies.md` has the rules, and proves that they are enough. The tokenizer itself does
    not change.

    Args:
        tokenizer: the tokenizer to start from.
        keep: ids that stay.
        counts: how often each id occurs, by id: a sequence, an array or a mapping.
        corpus: texts to count ids in, in place of `counts`: objects of `lexmill.sources`, or paths and patterns. Tokens
            are the tokens of `tokenizer.encode(text, add_special_tokens=False)`.
        min_count: how often an id must occur, if `counts` or `corpus` is given.
        scripts: names of Unicode's scripts, such as `Latin`. Tokens stay whose characters all belong to one of these
            scripts or, as digits and punctuation, to none. Parts of characters stay only where other tokens need them.
        languages: tags of languages, such as `de` or `hi-Latn`, in place of the names of scripts. A tag stands for the
            script in it, or else for the likely script by Unicode's CLDR. With `scripts`, the scripts of both count.
        num_threads: threads to encode the corpus on; by default one for each core, or the number in
            `RAYON_NUM_THREADS`.
        on_progress: called as by `lexmill.report` while the corpus is read.

    Raises:
        FileError, FormatError, InvalidUtf8Error: the corpus cannot be read.
        OptionError: there is no criterion, or both `counts` and `corpus`; an id, the name of a script or the script of
            a language is unknown; the tokenizer samples, where a corpus is given, or has stages written in Python.
        OptionRangeError: `min_count` is negative.
    """
    if counts is not None and corpus is not None:
        message = "counts and corpus are given, but only one of them may tell how often ids occur"
        raise OptionError(message)
    if all(given is None for given in (keep, counts, corpus, scripts, languages)):
        message = "there is nothing to prune by; pass keep, counts, corpus, scripts or languages"
        raise OptionError(message)
    names = None if scripts is None else [scripts] if isinstance(scripts, str) else list(scripts)
    if languages is not None:
        names = [*(names or []), *scripts_of(languages)]
    table = table_of(tokenizer)
    selected = set() if keep is None else known_ids(table, keep)
    if corpus is not None:
        counts = corpus_counts(tokenizer, corpus, num_threads=num_threads, on_progress=on_progress)
    passing = [] if counts is None else [by_count(table, counts, min_count)]
    passing += [] if names is None else [by_script(table, names)]
    if passing:
        selected |= set.intersection(*passing)
    closure = Closure(table)
    return _pruned(closure, closure.always | closure.close(selected, closure.always), selected)


def shrink(tokenizer: Tokenizer, n: int) -> Pruned:
    """The first tokens of a vocabulary, as if it had been trained to the size `n`.

    BPE keeps the tokens that the first merges make, Unigram the pieces with the highest scores, WordPiece and word
    models the tokens with the lowest ids. Tokens that `prune` never drops stay. So do all tokens of a single character
    and all tokens that no merge makes, except in word models. The tokenizer itself does not change.

    Args:
        tokenizer: the tokenizer to start from.
        n: the most tokens that the new tokenizer has, added tokens included. It has fewer only if the next token needs
            more tokens than there is room for.

    Raises:
        OptionError: `n` is less than the number of tokens that always stay, or a stage is written in Python.
    """
    table = table_of(tokenizer)
    closure = Closure(table)
    own = list(dict.fromkeys(id_ for _, id_ in table.entries))
    if "merges" in table.model:
        order = closure.order
        base = set(own).difference(order)
    else:
        base = set(closure.characters) if closure.has_characters else set()
        order = own
        if isinstance(table.model["vocab"], list):
            scores = [score for _, score in table.model["vocab"]]
            order = sorted(own, key=lambda id_: (-scores[id_], id_))
    kept = closure.always | closure.close(base, closure.always)
    if len(kept) > n:
        message = f"n is {n} but must be at least {len(kept)}, the number of tokens that always stay"
        raise OptionError(message)
    for id_ in order:
        more = closure.close([id_], kept)
        if len(kept) + len(more) > n:
            break
        kept |= more
    return _pruned(closure, kept, kept)


def _pruned(closure: Closure, kept: set[int], selected: set[int]) -> Pruned:
    made, id_map = renumbered(closure.table, kept)
    old = np.flatnonzero(id_map >= 0)
    old_ids = np.empty(len(old), np.int64)
    old_ids[id_map[old]] = old
    return Pruned(made, id_map, old_ids, np.array(sorted(kept - selected), np.int64))
