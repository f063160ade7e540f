"""The engine that tokenizers of one file share: it encodes with the limits of a call."""

from __future__ import annotations

import warnings
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import lexmill
from lexmill._core import TokenArrays
from lexmill.errors import TruncationWarning
from lexmill.v1._batch import BatchRows, longest_row, padded
from lexmill.v1._encoding import Encoding, encoding_of
from lexmill.v1._inputs import Inputs
from lexmill.v1._limits import Padding, Truncation, check_padded, padded_length
from lexmill.v1._rows import OneEncoding

if TYPE_CHECKING:
    from lexmill._core import _Texts as Texts

SHORT = 4096
"""The most characters of an input that is encoded without arrays, which take longer to make."""


class Options(NamedTuple):
    """The options of one call, with the settings of the tokenizer filled in."""

    add_special_tokens: bool
    encode_special_tokens: bool
    padding: Padding | None
    truncation: Truncation | None


class Engine:
    """A tokenizer without limits of its own. It never changes, so threads share it without a lock."""

    def __init__(self, tokenizer: lexmill.Tokenizer) -> None:
        """Takes over a tokenizer that nobody else has, and turns its own padding and truncation off."""
        tokenizer.no_padding()
        tokenizer.no_truncation()
        self.tokenizer = tokenizer

    @cached_property
    def special_ids(self) -> frozenset[int]:
        """Ids of special tokens."""
        added = self.tokenizer.get_added_tokens_decoder()
        return frozenset(token_id for token_id, token in added.items() if token.special)

    @cached_property
    def _has_dropout(self) -> bool:
        """True if the model drops merges at random, so that the same text may get other tokens."""
        return bool(getattr(self.tokenizer.model, "dropout", None))

    @cached_property
    def _literal(self) -> lexmill.Tokenizer:
        """The tokenizer that leaves special tokens in texts to the model."""
        made = _copy_for_encoding(self.tokenizer)
        made.encode_special_tokens = True
        return made

    def encode(self, first: str, second: str | None, options: Options) -> Encoding:
        """Encodes one text or a pair."""
        truncation = options.truncation
        # A text with no more characters than `max_length` seldom has more tokens; if it has, the batch truncates it.
        most = SHORT if truncation is None else min(SHORT, truncation.max_length)
        if len(first) + len(second or "") <= most:
            encoding = self._tokenizer_for(options).encode(first, second, add_special_tokens=options.add_special_tokens)
            if truncation is None or len(encoding) <= truncation.max_length:
                _pad(encoding, options.padding)
                return encoding_of(OneEncoding(encoding), 0)
        batch = self._batch([first], None if second is None else [second], options)
        _pad_together([batch], options.padding)
        return encoding_of(batch, 0)

    def encode_batch(self, inputs: Inputs, options: Options) -> list[Encoding]:
        """Encodes texts and pairs: one call of the core for all texts, and one for all pairs."""
        batches = []
        if inputs.texts:
            batches.append(self._batch(inputs.texts, None, options))
        if inputs.firsts:
            batches.append(self._batch(inputs.firsts, inputs.seconds, options))
        _pad_together(batches, options.padding)
        encodings = [[encoding_of(batch, row) for row in range(len(batch))] for batch in batches]
        if len(encodings) < 2:
            return encodings[0] if encodings else []
        of_texts, of_pairs = map(iter, encodings)
        return [next(of_pairs if is_pair else of_texts) for is_pair in inputs.is_pair]

    def encode_arrays(
        self,
        texts: Texts,
        pairs: Texts | None,
        options: Options,
        **columns: Any,  # noqa: ANN401
    ) -> TokenArrays:
        """Encodes texts, or pairs of texts, to arrays.

        Args:
            texts: texts as `lexmill.Tokenizer.encode_batch_arrays` takes them.
            pairs: the second texts of pairs, or None.
            options: the options of the call.
            **columns: further arguments of `lexmill.Tokenizer.encode_batch_arrays`.
        """
        arrays = self._encoder(options, is_pair=pairs is not None, stacklevel=4)(texts, pairs=pairs, **columns)
        if options.padding is None:
            return arrays
        length = padded_length(options.padding, longest_row(arrays))
        return padded(arrays, options.padding, length, with_mask=arrays.attention_mask is not None)

    def _batch(self, texts: list[str], pairs: list[str] | None, options: Options) -> BatchRows:
        encoder = self._encoder(options, is_pair=pairs is not None, stacklevel=5)
        encode = partial(encoder, texts, pairs=pairs, return_type_ids=True)
        return BatchRows(encode, self.tokenizer.id_to_token, with_offsets=self._has_dropout)

    def _tokenizer_for(self, options: Options) -> lexmill.Tokenizer:
        return self._literal if options.encode_special_tokens else self.tokenizer

    def _encoder(self, options: Options, *, is_pair: bool, stacklevel: int) -> partial[TokenArrays]:
        """The core's call for arrays, which truncates as the options say.

        Args:
            options: the options of the call.
            is_pair: true for pairs of texts.
            stacklevel: frames from here to the user's call, for warnings.

        Warns:
            TruncationWarning: special tokens alone are more than `max_length`, so that nothing is cut.
        """
        tokenizer = self._tokenizer_for(options)
        limits: dict[str, Any] = {}
        if truncation := options.truncation:
            special = tokenizer.num_special_tokens_to_add(is_pair) if options.add_special_tokens else 0
            if truncation.max_length < special:
                message = (
                    f"max_length is {truncation.max_length} but the post-processor adds {special} special tokens: "
                    "nothing is truncated"
                )
                warnings.warn(message, TruncationWarning, stacklevel)
            elif truncation.max_length < tokenizer.num_special_tokens_to_add(False):
                # As an argument, the core refuses a limit below the special tokens of one text, even if it adds none.
                tokenizer = _truncating_copy(tokenizer, truncation)
            else:
                # The argument of the core is signed.
                limits["max_length"] = min(truncation.max_length, 2**63 - 1)
                limits["truncation"], limits["truncation_side"] = truncation.strategy, truncation.direction
        return partial(tokenizer.encode_batch_arrays, add_special_tokens=options.add_special_tokens, **limits)


def _copy_for_encoding(tokenizer: lexmill.Tokenizer) -> lexmill.Tokenizer:
    """A tokenizer with the same ids, without a decoder. It shares the stages and has caches of its own."""
    made = lexmill.Tokenizer(tokenizer.model)
    made.normalizer, made.pre_tokenizer = tokenizer.normalizer, tokenizer.pre_tokenizer
    made.post_processor = tokenizer.post_processor
    # In the order of ids, as in files, they get the same ids.
    made.add_tokens(list(tokenizer.get_added_tokens_decoder().values()))
    made.encode_special_tokens = tokenizer.encode_special_tokens
    return made


def _truncating_copy(tokenizer: lexmill.Tokenizer, truncation: Truncation) -> lexmill.Tokenizer:
    """A copy whose own settings truncate."""
    made = _copy_for_encoding(tokenizer)
    # With the post-processor this would warn of special tokens that the call does not add.
    made.post_processor = None
    made.enable_truncation(truncation.max_length, strategy=truncation.strategy, direction=truncation.direction)
    made.post_processor = tokenizer.post_processor
    return made


def _pad_together(batches: list[BatchRows], padding: Padding | None) -> None:
    """Pads the rows of several calls as one batch."""
    if padding is None:
        return
    length = padded_length(padding, max((batch.longest for batch in batches), default=0))
    for batch in batches:
        batch.pad(padding, length)


def _pad(encoding: lexmill.Encoding, padding: Padding | None) -> None:
    """Pads one encoding.

    Raises:
        OptionError: more tokens than `MOST_PADDED`.
    """
    if padding is None:
        return
    length = padded_length(padding, len(encoding))
    if length > len(encoding):
        check_padded(length)
        encoding.pad(
            length,
            direction=padding.direction,
            pad_id=padding.pad_id,
            pad_type_id=padding.pad_type_id,
            pad_token=padding.pad_token,
        )
