"""Registers the namespace `lexmill` of polars expressions, if polars is installed: `pip install 'lexmill[polars]'`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from lexmill.errors import InputTypeError

if TYPE_CHECKING:
    import polars as pl

    from lexmill._core import Tokenizer

__all__ = ["Tokens"]


@dataclass(frozen=True)
class Tokens:
    """Tokens of an expression of strings, or of bytes in UTF-8. Nulls stay null.

    A column of another type than `String`, `Binary` or `Null` raises an `InputTypeError`, even without rows.
    """

    expr: pl.Expr

    def encode_ids(self, tokenizer: Tokenizer, *, add_special_tokens: bool = True) -> pl.Expr:
        """The ids of each text, without padding: lists of `UInt16` if every id of the tokenizer fits, else of `UInt32`.

        Args:
            tokenizer: the tokenizer; it uses all cores.
            add_special_tokens: adds the special tokens of the post-processor.
        """
        encode = partial(tokenizer.encode_batch_arrays, add_special_tokens=add_special_tokens, padding=False)
        return self._map(encode, polars.List(polars.Series(encode([]).ids).dtype))

    def count_tokens(self, tokenizer: Tokenizer, *, add_special_tokens: bool = True) -> pl.Expr:
        """The number of tokens of each text, without padding: `Int64`.

        Args:
            tokenizer: the tokenizer; it uses all cores.
            add_special_tokens: counts the special tokens of the post-processor.
        """
        count: Any = partial(tokenizer.count_tokens, add_special_tokens=add_special_tokens)
        if tokenizer.padding is not None:
            # `count_tokens` counts padding, which depends on the other texts of the call; the engine chooses these.
            encode = partial(tokenizer.encode_batch_arrays, add_special_tokens=add_special_tokens, padding=False)
            count = partial(_lengths, encode)
        return self._map(count, polars.Int64)

    def _map(self, call: Any, dtype: Any) -> pl.Expr:  # noqa: ANN401
        return self.expr.map_batches(partial(_column, call), return_dtype=dtype, is_elementwise=True)


def _lengths(encode: Any, texts: Any) -> Any:  # noqa: ANN401
    return np.diff(encode(texts).row_splits)


def _column(call: Any, texts: pl.Series) -> pl.Series:  # noqa: ANN401
    if texts.dtype == polars.Null:
        texts = texts.cast(polars.String)
    if texts.dtype not in (polars.String, polars.Binary):
        message = (
            f"column {texts.name!r} is of type {texts.dtype} but must be String or Binary; "
            ".cast(polars.String) makes texts of numbers, dates and categories"
        )
        raise InputTypeError(message)
    values = polars.Series(call(texts.fill_null(polars.lit("", texts.dtype))))
    masked = polars.when(texts.is_not_null()).then(values)
    return polars.select(masked).to_series() if texts.null_count() else values


if find_spec("polars") is not None:
    import polars

    polars.api.register_expr_namespace("lexmill")(Tokens)
