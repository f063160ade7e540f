"""Replaces tokens in continued training: tokens that the words do not use give their ids to new tokens.

Order of choices:

* Used: the tokens of each word, as the tokenizer encodes it and as training cuts it, which knows new characters.
* Kept: used tokens, tokens of one character (affixes apart, word level excepted), added tokens, special
  tokens of the trainer, the unknown token, Unigram's lowest piece (of equals the first) and pieces listed twice. In
  BPE, both parts of the last merge of each kept token; with affixes, both parts of each merge that makes it.
* Unused: all others. BPE: by the highest rank of the merges that make the token, from the last one down, tokens that
  no merge makes first; of equals the longer one, then the larger id. Unigram: by score, the lowest first; of equals
  the larger id. WordPiece and word level: the largest id first. The first `most` of these can be replaced.
* Training: as without replacement, with room for as many tokens more as can be replaced.
* Ids: of `n` new tokens and `m` that can be replaced, the first `min(n, m)` new ones by id get the ids of as many
  unused ones, in ascending order; the others get the ids after the largest one. Merges of a token that went go too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from lexmill.reference.bpe_symbols import Words
from lexmill.reference.continued import check_room
from lexmill.reference.continued_unigram import continue_unigram
from lexmill.reference.continued_wordpiece import continue_wordpiece, initial_tokens, segments_of
from lexmill.reference.unigram import Unigram
from lexmill.reference.wordlevel import continue_wordlevel
from lexmill.reference.wordpiece import WordPiece

Continuation = Callable[[int], Mapping[str, int]]


def bare(token: str, prefix: str, suffix: str) -> str:
    """Returns a token without its affixes."""
    return token.removeprefix(prefix).removesuffix(suffix)


def replaced(
    vocab: Mapping[str, int], unused: Sequence[int], vocab_size: int, learn: Continuation
) -> tuple[dict[str, int], dict[int, str]]:
    """Continues a training to a size, and gives the ids of unused tokens to new ones.

    Args:
        vocab: all tokens with their ids.
        unused: the ids that can be replaced, in the order in which they go.
        vocab_size: tokens in all.
        learn: continues the training, with so many tokens that can be replaced.

    Returns:
        All tokens with their ids, and the replaced tokens by id.

    Raises:
        OptionError: `vocab_size` is less than the tokens need.
    """
    check_room(vocab_size, len(vocab), 0, len(unused))
    continued = learn(len(unused))
    first = max(vocab.values(), default=-1) + 1
    new = sorted(id_ for id_ in continued.values() if id_ >= first)
    gone = sorted(unused[: len(new)])
    ids = {id_: gone[place] if place < len(gone) else id_ - len(gone) for place, id_ in enumerate(new)}
    tokens = {id_: token for token, id_ in vocab.items()}
    kept = {token: ids.get(id_, id_) for token, id_ in continued.items() if id_ not in gone}
    return kept, {id_: tokens[id_] for id_ in gone}


def replace_wordpiece(
    words: Words,
    vocab: Mapping[str, int],
    *,
    vocab_size: int,
    most: int,
    added_tokens: Iterable[str] = (),
    unk_token: str = "[UNK]",
    **options: Any,  # noqa: ANN401 (of the types of the options)
) -> tuple[dict[str, int], dict[int, str]]:
    """Continues the training of WordPiece with at most `most` replaced tokens."""
    added = {*added_tokens}
    prefix = options.get("continuing_subword_prefix", "##")
    model = {name: options[name] for name in ("max_input_chars_per_word",) if name in options}
    base = WordPiece({**vocab, "": -1}, unk_token="", continuing_subword_prefix=prefix, **model)
    used = {token.id for word, _ in words for token in base.tokenize(word)}
    begun = {
        name: options[name]
        for name in ("special_tokens", "limit_alphabet", "initial_alphabet", "max_input_chars_per_word")
        if name in options
    }
    tokens = initial_tokens(words, vocab, prefix=prefix, added_tokens=added, **begun)
    segments = segments_of(words, tokens, prefix, options.get("max_input_chars_per_word", 100))
    used |= {vocab[tokens[place]] for segment, _ in segments for place in segment if tokens[place] in vocab}
    named = {*added, *options.get("special_tokens", ()), unk_token}
    unused = [
        id_
        for token, id_ in vocab.items()
        if id_ not in used and len(bare(token, prefix, "")) > 1 and token not in named
    ]

    def learn(replaceable: int) -> dict[str, int]:
        return continue_wordpiece(
            words, vocab, vocab_size=vocab_size, replaceable=replaceable, added_tokens=added, **options
        )

    return replaced(vocab, sorted(unused, reverse=True)[:most], vocab_size, learn)


def replace_wordlevel(
    words: Words,
    vocab: Mapping[str, int],
    *,
    vocab_size: int,
    most: int,
    added_tokens: Iterable[str] = (),
    unk_token: str = "<unk>",
    **options: Any,  # noqa: ANN401 (of the types of the options)
) -> tuple[dict[str, int], dict[int, str]]:
    """Continues the training of a word model with at most `most` replaced tokens."""
    kept = {word for word, _ in words}.union(added_tokens, options.get("special_tokens", ()), [unk_token])
    unused = sorted((id_ for token, id_ in vocab.items() if token not in kept), reverse=True)

    def learn(replaceable: int) -> dict[str, int]:
        return continue_wordlevel(words, vocab, vocab_size=vocab_size, replaceable=replaceable, **options)

    return replaced(vocab, unused[:most], vocab_size, learn)


def replace_unigram(
    words: Sequence[tuple[str, int]],
    pieces: Sequence[tuple[str, float]],
    *,
    vocab_size: int,
    most: int,
    unk_id: int,
    excluded: Iterable[str] = (),
    **options: Any,  # noqa: ANN401 (of the types of the options)
) -> tuple[list[tuple[str, float]], dict[int, str]]:
    """Continues the training of a unigram model with at most `most` replaced pieces.

    Returns:
        All pieces by id, with their scores, and the replaced pieces by id.
    """
    left_out, named = {*excluded}, {*excluded, *options.get("special_tokens", ())}
    names = [piece for piece, _ in pieces]
    model = Unigram(pieces, unk_id=unk_id)
    kept = {token.id for word, _ in words for token in model.tokenize(word)}
    kept |= {unk_id, min(range(len(pieces)), key=lambda place: pieces[place][1])}
    kept |= {place for place, piece in enumerate(names) if len(piece) < 2 or piece in named or names.count(piece) > 1}
    unused = sorted({*range(len(pieces))} - kept, key=lambda place: (pieces[place][1], -place))
    learnt: list[tuple[str, float]] = []

    def learn(replaceable: int) -> dict[str, int]:
        learnt[:] = continue_unigram(
            words, pieces, vocab_size=vocab_size, replaceable=replaceable, excluded=left_out, **options
        )
        return {f"{place} {piece}": place for place, (piece, _) in enumerate(learnt)}

    present = {f"{place} {piece}": place for place, piece in enumerate(names)}
    ids, gone = replaced(present, unused[:most], vocab_size, learn)
    places = {id_: int(name.partition(" ")[0]) for name, id_ in ids.items()}
    return [learnt[places[id_]] for id_ in sorted(places)], {id_: names[id_] for id_ in gone}
