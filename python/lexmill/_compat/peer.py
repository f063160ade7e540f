"""Between lexmill's tokenizers and the tokenizers of Hugging Face `tokenizers`, and of transformers around them."""

from __future__ import annotations

import json
from typing import Any, TypeVar, cast

from lexmill import models
from lexmill._compat.install import installed_version
from lexmill._compat.names import NAME
from lexmill._core import Tokenizer
from lexmill._data.optional import optional_module
from lexmill.errors import LexmillError

T = TypeVar("T")


def from_hf(tokenizer: object) -> Tokenizer:
    """The same tokenizer as one of lexmill's; one of lexmill's as it is.

    Args:
        tokenizer: a `tokenizers.Tokenizer`.

    Raises:
        LexmillError: it holds stages written in Python, which no file describes.
        TypeError: something else.
    """
    if isinstance(tokenizer, Tokenizer):
        return tokenizer
    if not (hasattr(tokenizer, "to_str") and hasattr(tokenizer, "encode_special_tokens")):
        raise TypeError(f"expected a tokenizers.Tokenizer, got {type(tokenizer).__name__}")
    try:
        file: str = tokenizer.to_str()
    except Exception as error:
        raise LexmillError(f"this tokenizer cannot be written as a file: {error}") from error
    made = Tokenizer.from_str(file)
    if isinstance(made.model, models.Unigram):
        made.model = models.Unigram(**_unigram(file), **_sampling(tokenizer))
    made.encode_special_tokens = tokenizer.encode_special_tokens
    return made


def to_hf(tokenizer: Tokenizer) -> object:
    """The same tokenizer as a `tokenizers.Tokenizer`.

    Raises:
        LexmillError: `tokenizers` is not installed, or lexmill stands in its place.
    """
    peer = optional_module(NAME, f"to_hf needs the package {NAME}: pip install {NAME}")
    # Only now: with LEXMILL_INSTALL set it is this import that puts lexmill there.
    if installed_version() is not None:
        raise LexmillError(f"lexmill stands in the place of {NAME}: call lexmill.uninstall() first")
    file = tokenizer.to_str()
    made = peer.Tokenizer.from_str(file)
    if isinstance(tokenizer.model, models.Unigram):
        made.model = peer.models.Unigram(**_unigram(file), **_sampling(tokenizer))
    made.encode_special_tokens = tokenizer.encode_special_tokens
    return cast(object, made)


def accelerate(tokenizer: T) -> T:
    """Makes lexmill the backend of a fast tokenizer of transformers, in place, and returns that tokenizer.

    Its ids, offsets and settings stay, in copies and pickles too. Tokenizers that it trains or that are loaded again
    have the backend `tokenizers`. To decode a stream take `lexmill.decoders.DecodeStream`: the class of `tokenizers`
    refuses tokenizers of lexmill. `lexmill.install` does the same for all tokenizers of a program, without exceptions.

    Args:
        tokenizer: a `PreTrainedTokenizerFast` or one of its subclasses.

    Raises:
        LexmillError: the backend holds stages written in Python.
        TypeError: a tokenizer without a backend.
    """
    backend = getattr(tokenizer, "_tokenizer", None)
    if backend is None:
        raise TypeError(f"expected a fast tokenizer of transformers, got {type(tokenizer).__name__}")
    tokenizer._tokenizer = from_hf(backend)  # type: ignore[attr-defined]
    return tokenizer


def _unigram(file: str) -> dict[str, Any]:
    """The options of a file's Unigram model, with scores to the last bit: either library's reader may miss it."""
    model = json.loads(file)["model"]
    vocab = [(piece, float(score)) for piece, score in model["vocab"]]
    return {"vocab": vocab, "unk_id": model["unk_id"], "byte_fallback": model["byte_fallback"]}


def _sampling(tokenizer: object) -> dict[str, Any]:
    """The options of sampling of a Unigram model, which no file has."""
    model = getattr(tokenizer, "model", None)
    return {name: getattr(model, name, None) for name in ("alpha", "nbest_size")}
