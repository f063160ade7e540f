"""Facts of a vocabulary without a corpus: the text of each token, and the tokens that no text gives."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from lexmill._core import Tokenizer
from lexmill.errors import LexmillError, OptionError
from lexmill.models import BPE, Unigram, WordPiece
from lexmill.pre_tokenizers import ByteLevel
from lexmill.reports.characters import characters_of
from lexmill.reports.formation import Formation, formation_of

__all__ = ["Reach", "Unreachable", "Vocabulary", "byte_alphabet", "encoded_texts", "reach_of", "vocabulary_of"]

# Ids may have gaps, and each takes some 100 bytes.
_LARGEST_ID = 1 << 24
_BYTE_TOKEN = re.compile("<0x([0-9A-F]{2})>")
# The texts before and after the text of a token that is tried.
_CONTEXTS = (("", ""), (" ", ""), ("a", ""), ("x", ""), ("q", ""), ("1", ""), ("", " "), ("", "a"))
# Bytes that complete the first bytes of a character.
_ENDS = (b"", b"\x80", b"\x80\x80", b"\x80\x80\x80", b"\xa0\x80", b"\x90\x80\x80")
# No byte of this kind begins a character, so up to three of them may be the end of one.
_MAY_END = re.compile(rb"[\x80-\xbf]{0,3}")


@dataclass(frozen=True)
class Vocabulary:
    """The tokens of a tokenizer.

    Attributes:
        tokens: the spelling of each token, by id; None for ids without a token.
        texts: the bytes that each token stands for, by id; `"▁"` is a space where it stands for one.
        added: ids of tokens that are cut out of the text before the model sees it.
        byte_tokens: ids of the tokens `<0xNN>` for single bytes of unknown characters.
        unknown: the id of the unknown token.
        is_byte_level: true if tokens are spelled in the byte-level alphabet.
        is_spaced: true if `"▁"` stands for a space.
        model: the model without its tables, as in a `tokenizer.json`.
        bpe: the model itself if it is a BPE.
    """

    tokens: tuple[str | None, ...]
    texts: tuple[bytes, ...]
    added: frozenset[int]
    byte_tokens: frozenset[int]
    unknown: int | None
    is_byte_level: bool
    is_spaced: bool
    model: dict[str, Any]
    bpe: BPE | None

    @cached_property
    def formation(self) -> Formation | None:
        """How merging makes the tokens; None if the model is no BPE, or does not merge by rank alone."""
        return None if self.bpe is None else formation_of(self.bpe)

    @cached_property
    def own_texts(self) -> frozenset[bytes]:
        """The texts of the tokens that are no added tokens."""
        return frozenset(self.texts[id_] for id_ in self.ids if id_ not in self.added)

    @cached_property
    def own(self) -> frozenset[str]:
        """The tokens that are no added tokens."""
        return frozenset(token for id_, token in enumerate(self.tokens) if token is not None and id_ not in self.added)

    @cached_property
    def ids(self) -> list[int]:
        """The ids that have a token."""
        return [id_ for id_, token in enumerate(self.tokens) if token is not None]

    @cached_property
    def partial(self) -> frozenset[int]:
        """The ids of tokens whose bytes are not whole characters."""
        return frozenset(id_ for id_, text in enumerate(self.texts) if not text.isascii() and not _is_utf8(text))


@dataclass(frozen=True)
class Unreachable:
    """A token that no text gives, and why."""

    id: int
    token: str
    reason: str


@dataclass(frozen=True)
class Reach:
    """Which tokens texts can give.

    Attributes:
        unreachable: tokens of the model that no text gives, which is proven.
        undecided: ids of tokens that the model can give, but that were in no encoding of their own text, alone or
            beside a blank, a letter or a digit; and ids of tokens that are parts of characters and have no text.
    """

    unreachable: tuple[Unreachable, ...]
    undecided: tuple[int, ...]


def vocabulary_of(tokenizer: Tokenizer, spec: Mapping[str, Any] | None = None) -> Vocabulary:
    """The tokens of a tokenizer, whose `tokenizer.json` may be given as `spec` if it has been read already.

    Raises:
        OptionError: an id is too large to count by.
    """
    stages: dict[str, Any] = json.loads(tokenizer.to_str()) if spec is None else dict(spec)
    model = stages.pop("model")
    spelled = json.dumps(stages, ensure_ascii=False)
    is_byte_level = '"ByteLevel"' in spelled
    is_spaced = not is_byte_level and ("▁" in spelled or '"Metaspace"' in spelled or '"SentencePiece"' in spelled)
    # In the order of ids, then of code points: the last one of the tokens that share an id names it.
    ids = {id_: token for token, id_ in tokenizer.get_vocab().items()}
    added = frozenset(tokenizer.get_added_tokens_decoder())
    if max(ids, default=0) > _LARGEST_ID:
        message = f"the largest id is {max(ids)} but must be at most {_LARGEST_ID}, since tables have a row for each id"
        raise OptionError(message)
    tokens = tuple(ids.get(id_) for id_ in range(max(ids, default=-1) + 1))
    options = {name: value for name, value in model.items() if name not in ("vocab", "merges")}
    fallback = bool(options.get("byte_fallback"))
    byte_tokens = {id_ for id_, token in ids.items() if fallback and id_ not in added and _BYTE_TOKEN.fullmatch(token)}
    prefix, suffix = (options.get(name) or "" for name in ("continuing_subword_prefix", "end_of_word_suffix"))
    bare = [(token or "").removeprefix(prefix).removesuffix(suffix) for token in tokens]
    texts = (
        _spelled_bytes(bare)
        if is_byte_level
        else [(token.replace("▁", " ") if is_spaced else token).encode() for token in bare]
    )
    for id_ in byte_tokens:
        texts[id_] = bytes([int(ids[id_][3:5], 16)])
    for id_ in added:
        texts[id_] = ids[id_].encode()

    unk_id, unk_token = options.get("unk_id"), options.get("unk_token")
    unknown = unk_id if unk_id is not None else None if unk_token is None else tokenizer.token_to_id(unk_token)
    return Vocabulary(
        tokens=tokens,
        texts=tuple(texts),
        added=added,
        byte_tokens=frozenset(byte_tokens),
        unknown=unknown,
        is_byte_level=is_byte_level,
        is_spaced=is_spaced,
        model=options,
        bpe=tokenizer.model if isinstance(tokenizer.model, BPE) else None,
    )


def _spelled_bytes(tokens: Sequence[str]) -> list[bytes]:
    """The bytes that tokens spell in the byte-level alphabet; UTF-8 of a token with another character."""
    table = np.zeros(0x110000, np.uint16)
    for letter, byte in byte_alphabet().items():
        table[ord(letter)] = 0x100 | byte
    characters = characters_of(tokens)
    found = table[characters.codes]
    data, starts = found.astype(np.uint8).tobytes(), characters.starts.tolist()
    texts = [data[start:end] for start, end in pairwise(starts)]
    others = np.searchsorted(characters.starts, np.flatnonzero(found == 0), side="right") - 1
    for at in np.unique(others).tolist():
        texts[at] = tokens[at].encode()
    return texts


def reach_of(tokenizer: Tokenizer, vocabulary: Vocabulary, used: Iterable[int] = ()) -> Reach:
    """Which tokens of a model texts can give; `used` are ids that some text has given.

    This takes as long as encoding the whole vocabulary a few times. Added tokens and the unknown token are left out.
    """
    missing = set(vocabulary.ids) - vocabulary.added - set(used) - {vocabulary.unknown}
    whole = sorted(missing - vocabulary.partial)
    decoded = {id_: vocabulary.texts[id_].decode() for id_ in whole}
    for before, after in _CONTEXTS:
        rows = encoded_texts(tokenizer, [f"{before}{decoded[id_]}{after}" for id_ in whole])
        wanted = np.repeat(np.array(whole, np.int64), [len(row) for row in rows])
        missing.difference_update(wanted[np.concatenate([wanted[:0], *rows]) == wanted].tolist())
        whole = [id_ for id_ in whole if id_ in missing]
    proven = {id_: reason for id_, reason in _proven(tokenizer, vocabulary, sorted(missing)).items() if reason}
    return Reach(
        unreachable=tuple(Unreachable(id_, vocabulary.tokens[id_] or "", proven[id_]) for id_ in sorted(proven)),
        undecided=tuple(sorted(missing - proven.keys())),
    )


def encoded_texts(tokenizer: Tokenizer, texts: list[str]) -> list[npt.NDArray[Any]]:
    """The ids of each text; none where the tokenizer refuses a text."""
    try:
        return list(tokenizer.encode_batch_arrays(texts, add_special_tokens=False))
    except LexmillError:
        if len(texts) <= 1:
            return [np.zeros(0, np.uint16) for _ in texts]
        # One by one would do; halves are faster where few are refused.
        half = len(texts) // 2
        return encoded_texts(tokenizer, texts[:half]) + encoded_texts(tokenizer, texts[half:])


def _proven(tokenizer: Tokenizer, vocabulary: Vocabulary, ids: list[int]) -> dict[int, str]:
    """The ids that no text gives, with the reason."""
    found = {id_: reason for id_ in ids if (reason := _impossible_bytes(vocabulary, id_))}
    model = tokenizer.model
    rest = [id_ for id_ in ids if id_ not in found]
    if isinstance(model, BPE):
        found |= _not_merged(model, vocabulary, [id_ for id_ in rest if id_ not in vocabulary.byte_tokens])
    elif isinstance(model, Unigram) and "sentencepiece_kinds" not in vocabulary.model:
        found |= _less_likely(tokenizer, vocabulary, [id_ for id_ in rest if id_ not in vocabulary.byte_tokens])
    elif isinstance(model, WordPiece):
        limit = vocabulary.model["max_input_chars_per_word"]
        for id_ in rest:
            # The model counts the characters of the pre-token, which may spell bytes.
            if len(_bare(vocabulary, vocabulary.tokens[id_] or "")) > limit:
                found[id_] = f"longer than max_input_chars_per_word, which is {limit}"
    return found


def _impossible_bytes(vocabulary: Vocabulary, id_: int) -> str | None:
    text, token = vocabulary.texts[id_], vocabulary.tokens[id_]
    spelling = "" if token is None else _bare(vocabulary, token)
    if vocabulary.is_byte_level and not byte_alphabet().keys() >= set(spelling):
        return "holds a character outside the byte-level alphabet"
    is_kindless = "sentencepiece_kinds" not in vocabulary.model
    if is_kindless and id_ in vocabulary.byte_tokens and text < b"\x80" and text.decode() in vocabulary.own:
        return "the byte is a character that has a token"
    if vocabulary.is_byte_level or id_ in vocabulary.byte_tokens:
        begun = _MAY_END.match(text)
        rest = text[begun.end() :] if begun else text
        if not any(_is_utf8(rest + end) for end in _ENDS):
            return "bytes that are in no text of UTF-8"
    return None


def _bare(vocabulary: Vocabulary, token: str) -> str:
    token = token.removeprefix(vocabulary.model.get("continuing_subword_prefix") or "")
    return token.removesuffix(vocabulary.model.get("end_of_word_suffix") or "")


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _not_merged(model: BPE, vocabulary: Vocabulary, ids: list[int]) -> dict[int, str]:
    """Tokens of several symbols that merging does not make of their own text, nor then in any other."""
    if model.ignore_merges or vocabulary.formation is None:
        return {}
    made = set(vocabulary.formation.ids.tolist())
    several = [id_ for id_ in ids if id_ not in made and len(_bare(vocabulary, vocabulary.tokens[id_] or "")) > 1]
    return dict.fromkeys(several, "merging makes other tokens of its text")


def _less_likely(tokenizer: Tokenizer, vocabulary: Vocabulary, ids: list[int]) -> dict[int, str]:
    """Tokens that are less likely than other tokens of the same text, which then take their place in any text."""
    scores = [score for _, score in json.loads(tokenizer.to_str())["model"]["vocab"]]
    alone = Tokenizer(tokenizer.model)
    encoded = encoded_texts(alone, [vocabulary.tokens[id_] or "" for id_ in ids])
    unscored = {vocabulary.unknown, *vocabulary.byte_tokens}
    found = {}
    for id_, others in zip(ids, encoded, strict=True):
        if not len(others) or not unscored.isdisjoint(others.tolist()):
            continue
        rival = sum(scores[other] for other in others.tolist())
        # Sums of a long text are rounded, so a small lead proves nothing.
        if rival > scores[id_] + 1e-3:
            found[id_] = "less likely than other tokens of its text"
    return found


@cache
def byte_alphabet() -> dict[str, int]:
    """The byte that each character of the byte-level alphabet stands for."""
    # Bytes that are visible characters of Latin-1 stand for themselves, the others come after them from U+0100 on.
    letters = frozenset(ByteLevel.alphabet())
    own = [byte for byte in range(256) if chr(byte) in letters]
    others = [byte for byte in range(256) if chr(byte) not in letters]
    return {chr(byte): byte for byte in own} | {chr(0x100 + at): byte for at, byte in enumerate(others)}
