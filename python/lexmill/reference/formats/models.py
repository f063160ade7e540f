"""Reads the `model` of a `tokenizer.json`.

Old files leave the type out: then `merges` tell a BPE model, `max_input_chars_per_word` a WordPiece model, `unk_id` a
unigram model, and any other model is a dictionary of words. Only lexmill writes models whose tokens have
SentencePiece's kinds. Of these, the reference specifies BPE with scores, which has unused tokens; for the others
`tests/property/test_sentencepiece_laws.py` holds the core to SentencePiece.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from lexmill.errors import FormatError, OptionError
from lexmill.reference.bpe import Bpe, Token
from lexmill.reference.bpe_sentencepiece import Piece, SentencePieceBpe
from lexmill.reference.formats.fields import Json, flags, read
from lexmill.reference.unigram import Unigram
from lexmill.reference.wordlevel import WordLevel
from lexmill.reference.wordpiece import WordPiece


class Model(Protocol):
    """A model."""

    def tokenize(self, word: str) -> list[Token]:
        """Returns the tokens of one pre-token; their offsets are in bytes of its UTF-8."""


# Tokens with their ids; one that is listed twice has its later id, and both ids count.
Vocab = list[tuple[str, int]]


def model(spec: Json) -> tuple[Model, Vocab]:
    """Reads a model; returns its vocabulary too."""
    if "sentencepiece_scores" in spec:
        return _scored_bpe(spec)
    if "sentencepiece_kinds" in spec:
        raise FormatError(f"model {spec.get('type')} has sentencepiece_kinds, which the reference does not specify")
    kind = next((kind for name, kind in MEMBERS.items() if name in spec), "WordLevel")
    return read("model", {"type": kind, **spec}, READERS)


def _bpe(spec: Json) -> tuple[Model, Vocab]:
    if spec.get("dropout"):
        raise OptionError(f"dropout is {spec['dropout']} but what is random has no reference")
    names = ("unk_token", "continuing_subword_prefix", "end_of_word_suffix")
    switches = ("fuse_unk", "byte_fallback", "ignore_merges")
    options = {**flags(spec, *names), **{name: bool(spec.get(name)) for name in switches}}
    merges = [tuple(merge.split(" ")) if isinstance(merge, str) else tuple(merge) for merge in spec["merges"]]
    return Bpe(spec["vocab"], [(left, right) for left, right in merges], **options), list(spec["vocab"].items())


def _scored_bpe(spec: Json) -> tuple[Model, Vocab]:
    vocab = list(spec["vocab"].items())
    by_id = sorted(vocab, key=lambda entry: entry[1])
    details = zip(by_id, spec["sentencepiece_scores"], spec["sentencepiece_kinds"], strict=True)
    pieces = [Piece(text, score, int(kind)) for (text, _), score, kind in details]
    return SentencePieceBpe(pieces, byte_fallback=bool(spec.get("byte_fallback"))), vocab


def _unigram(spec: Json) -> tuple[Model, Vocab]:
    unigram = Unigram([tuple(piece) for piece in spec["vocab"]], **flags(spec, "unk_id", "byte_fallback"))
    return unigram, [(piece, place) for place, (piece, _) in enumerate(unigram.pieces)]


def _wordpiece(spec: Json) -> tuple[Model, Vocab]:
    names = ("unk_token", "continuing_subword_prefix", "max_input_chars_per_word")
    return WordPiece(spec["vocab"], **flags(spec, *names)), list(spec["vocab"].items())


def _wordlevel(spec: Json) -> tuple[Model, Vocab]:
    return WordLevel(spec["vocab"], unk_token=spec["unk_token"]), list(spec["vocab"].items())


# Which member tells a model without a type, in the order in which they are asked for.
MEMBERS = {"merges": "BPE", "max_input_chars_per_word": "WordPiece", "unk_id": "Unigram"}
READERS: Mapping[str, Callable[[Json], tuple[Model, Vocab]]] = {
    "BPE": _bpe,
    "Unigram": _unigram,
    "WordPiece": _wordpiece,
    "WordLevel": _wordlevel,
}
