"""The tokenizers of a report or an evaluation, as they are measured."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from lexmill._core import Tokenizer
from lexmill.errors import OptionError

__all__ = ["Given", "OneTokenizer", "given_tokenizers"]

OneTokenizer: TypeAlias = "Tokenizer | str | os.PathLike[str]"


@dataclass(frozen=True)
class Given:
    """A tokenizer to measure.

    Attributes:
        name: its name.
        tokenizer: the tokenizer without post-processor, truncation and padding, whose offsets hold all of the text.
        sha256: the hash of the whole tokenizer, as `to_str` writes it.
    """

    name: str
    tokenizer: Tokenizer
    sha256: str


def given_tokenizers(tokenizers: OneTokenizer | Mapping[str, OneTokenizer]) -> list[Given]:
    """One tokenizer, or several by name.

    Raises:
        OptionError: there is none, a stage is written in Python, or a model samples.
    """
    given = tokenizers if isinstance(tokenizers, Mapping) else {_name_of(tokenizers): tokenizers}
    if not given:
        message = "there is no tokenizer to measure"
        raise OptionError(message)
    return [_given(name, tokenizer) for name, tokenizer in given.items()]


def _name_of(tokenizer: OneTokenizer) -> str:
    return "tokenizer" if isinstance(tokenizer, Tokenizer) else os.fspath(tokenizer)


def _given(name: str, given: OneTokenizer) -> Given:
    own = given if isinstance(given, Tokenizer) else Tokenizer.from_file(given)
    for option in ("dropout", "alpha"):
        value = getattr(own.model, option, None)
        if value:
            message = f"{option} is {value} but must be None or 0: another run would have other tokens"
            raise OptionError(message)
    written = own.to_str()
    if isinstance(given, Tokenizer):
        own = Tokenizer.from_str(written)
        # The one option that a file does not hold.
        own.encode_special_tokens = given.encode_special_tokens
    own.post_processor = None
    own.no_truncation()
    own.no_padding()
    return Given(name, own, hashlib.sha256(written.encode()).hexdigest())
