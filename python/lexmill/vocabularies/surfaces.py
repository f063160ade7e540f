"""The text that a token stands for, and its place in a word; and models that encode such texts in their places."""

from __future__ import annotations

import contextlib
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from lexmill._core import Tokenizer
from lexmill.reports.vocabulary import byte_alphabet, encoded_texts
from lexmill.vocabularies.tables import Table, affixes_of

__all__ = ["Placed", "PlacedModel", "Speller", "Surface", "placed_token", "surface_of"]

# A character that no text has: it comes before a text that continues a word, and its token is taken away again.
_BEFORE = "\U0010ffff"


@dataclass(frozen=True)
class Surface:
    """A token, however its tokenizer spells it.

    Attributes:
        text: the bytes of the token, without a blank that only marks the beginning of a word.
        starts: true at the beginning of a word, false inside; None if the tokenizer does not tell.
        ends: true at the end of a word, false before; None if the tokenizer does not tell.
    """

    text: bytes
    starts: bool | None = None
    ends: bool | None = None


class Placed(NamedTuple):
    """A text in the spelling of a model, affixes apart, and its place in a word."""

    text: str
    starts: bool
    ends: bool


def surface_of(table: Table, id_: int) -> Surface:
    """The surface of the token with an id."""
    vocabulary = table.vocabulary
    text, token = vocabulary.texts[id_], vocabulary.tokens[id_] or ""
    if id_ in vocabulary.added or id_ in vocabulary.byte_tokens:
        return Surface(text)
    prefix, suffix = table.affixes
    ends = token.endswith(suffix) if suffix else None
    if prefix:
        return Surface(text, not token.startswith(prefix), ends)
    if suffix:
        return Surface(text, None, ends)
    if vocabulary.is_byte_level or vocabulary.is_spaced:
        if text.strip(b" ") and text.startswith(b" "):
            return Surface(text[1:], True)
        return Surface(text, False if text.strip(b" ") else None)
    if table.model["type"] == "WordLevel":
        return Surface(text, True, True)
    return Surface(text)


def placed_token(model: Mapping[str, Any], token: str) -> Placed:
    """The text of a token of the model in its place."""
    prefix, suffix = affixes_of(model)
    bare = token.removeprefix(prefix).removesuffix(suffix)
    return Placed(bare, not (prefix and token.startswith(prefix)), token.endswith(suffix))


class PlacedModel:
    """A model that encodes texts at the beginning of a word or inside, at its end or before.

    Models with a `continuing_subword_prefix` or an `end_of_word_suffix` take every text for a whole word. Copies of the
    model without the suffix, and with a token for a character before the text, encode parts of words.
    """

    def __init__(self, model: Mapping[str, Any], bound: int, **options: object) -> None:
        """Takes a model as files have it, with other options; it never samples.

        `bound` is an id that is larger than all ids of the model.
        """
        self._model = {**model, **options}
        if "dropout" in model:
            self._model["dropout"] = None
        self._prefix, self._suffix = affixes_of(model)
        self._sentinel = bound
        self._copies: dict[tuple[bool, bool], Tokenizer] = {}

    def encode(self, texts: Sequence[Placed]) -> list[npt.NDArray[Any]]:
        """The ids of each text; none where the model has no token for it, nor an unknown token."""
        groups: dict[tuple[bool, bool], list[int]] = defaultdict(list)
        for number, text in enumerate(texts):
            groups[bool(self._prefix) and not text.starts, bool(self._suffix) and not text.ends].append(number)
        found: list[npt.NDArray[Any]] = [np.zeros(0, np.uint32)] * len(texts)
        for (continues, is_open), numbers in groups.items():
            before = _BEFORE if continues else ""
            rows = encoded_texts(self._copy(continues, is_open), [before + texts[number].text for number in numbers])
            for number, row in zip(numbers, rows, strict=True):
                found[number] = row[1:] if continues and len(row) and row[0] == self._sentinel else row
        return found

    def _copy(self, continues: bool, is_open: bool) -> Tokenizer:
        if (continues, is_open) not in self._copies:
            model = dict(self._model)
            if is_open:
                model["end_of_word_suffix"] = None
            if continues:
                model["vocab"] = {**model["vocab"], _BEFORE: self._sentinel}
                if "max_input_chars_per_word" in model:
                    model["max_input_chars_per_word"] += 1
            spec = {"version": "1.0", "model": model}
            self._copies[continues, is_open] = Tokenizer.from_str(json.dumps(spec, ensure_ascii=False))
        return self._copies[continues, is_open]


class Speller:
    """Surfaces in the spelling of a tokenizer, as texts for its `PlacedModel`."""

    def __init__(self, table: Table) -> None:
        """Takes the stages that change the characters of a text; stages that put marks into it are left out."""
        self._table = table
        vocabulary = table.vocabulary
        self._marks_blanks = (vocabulary.is_byte_level or vocabulary.is_spaced) and not any(table.affixes)
        self._char_of = {byte: char for char, byte in byte_alphabet().items()} if vocabulary.is_byte_level else {}
        rest = _rewriting(table.spec.get("normalizer"))
        self._normalizer = None if rest is None else _with_normalizer(rest).normalizer
        self._byte_ids = {vocabulary.texts[id_][0]: id_ for id_ in vocabulary.byte_tokens}
        splits = not (vocabulary.is_byte_level or vocabulary.is_spaced)
        self._pre_tokenizer = table.tokenizer.pre_tokenizer if splits else None

    def spell(self, surface: Surface) -> list[Placed | int]:
        """The texts and ids that the surface is made of."""
        if self._char_of:
            return [self._placed(self._in_alphabet(surface), surface)]
        found: list[Placed | int] = []
        parts = _characters_and_bytes(surface.text)
        for number, part in enumerate(parts):
            own = replace(
                surface,
                starts=surface.starts if number == 0 else False,
                ends=surface.ends if number == len(parts) - 1 else False,
            )
            if isinstance(part, str):
                found += self._words(part, own)
            else:
                found += self._bytes(part)
        return found

    def _in_alphabet(self, surface: Surface) -> str:
        data = surface.text
        if self._normalizer is not None:
            with contextlib.suppress(UnicodeDecodeError):
                data = self._normalizer.normalize_str(data.decode()).encode()
        blank = b" " if surface.starts and self._marks_blanks else b""
        return "".join(map(self._char_of.__getitem__, blank + data))

    def _words(self, text: str, surface: Surface) -> list[Placed | int]:
        if self._normalizer is not None:
            text = self._normalizer.normalize_str(text)
        if self._table.vocabulary.is_spaced:
            blank = " " if surface.starts and self._marks_blanks else ""
            return [self._placed((blank + text).replace(" ", "▁"), surface)]
        words = [text]
        continues = surface.starts is False
        if self._pre_tokenizer is not None:
            # A letter before the text tells if the text may continue a word at all: else it is a word of its own.
            before = "a" if continues else ""
            words = [word for word, _ in self._pre_tokenizer.pre_tokenize_str(before + text)]
            if words:
                words[0] = words[0].removeprefix(before)
        places = [replace(surface, starts=not (continues and number == 0)) for number in range(len(words))]
        places = [
            place if number == len(words) - 1 else replace(place, ends=True) for number, place in enumerate(places)
        ]
        return [self._placed(word, place) for word, place in zip(words, places, strict=True) if word]

    def _placed(self, text: str, surface: Surface) -> Placed:
        return Placed(text, surface.starts is not False, surface.ends is not False)

    def _bytes(self, data: bytes) -> list[Placed | int]:
        """The byte tokens of bytes that are no character; the unknown token where there is no such token."""
        unknown = self._table.vocabulary.unknown
        ids = [self._byte_ids.get(byte, unknown) for byte in data]
        return [id_ for id_ in ids if id_ is not None]


def _characters_and_bytes(data: bytes) -> list[str | bytes]:
    """Bytes as text, and as bytes where they are no characters."""
    found: list[str | bytes] = []
    while data:
        try:
            found.append(data.decode())
            break
        except UnicodeDecodeError as error:
            if error.start:
                found.append(data[: error.start].decode())
            found.append(data[error.start : error.end])
            data = data[error.end :]
    return found


# Normalizers that rewrite characters one by one or with their marks, and put no mark at the beginning of a text.
_REWRITES = frozenset(
    ("BertNormalizer", "Lowercase", "NFC", "NFD", "NFKC", "NFKD", "Nmt", "Precompiled", "StripAccents")
)


def _rewriting(stage: dict[str, Any] | None) -> dict[str, Any] | None:
    """The normalizer without the stages that are not in `_REWRITES`; None if nothing remains."""
    if stage is None:
        return None
    if stage["type"] == "Sequence":
        inner = [rest for one in stage["normalizers"] if (rest := _rewriting(one)) is not None]
        return {**stage, "normalizers": inner} if inner else None
    return stage if stage["type"] in _REWRITES else None


def _with_normalizer(stage: dict[str, Any]) -> Tokenizer:
    model = {"type": "WordLevel", "vocab": {}, "unk_token": ""}
    return Tokenizer.from_str(json.dumps({"version": "1.0", "normalizer": stage, "model": model}, ensure_ascii=False))
