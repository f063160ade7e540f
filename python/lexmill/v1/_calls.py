"""The calls that `Tokenizer` and `CompiledTokenizer` share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import index
from types import EllipsisType
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
import numpy.typing as npt

import lexmill
from lexmill._core import TokenArrays
from lexmill.errors import IdRangeError, InputTypeError
from lexmill.v1._encoding import Encoding
from lexmill.v1._engine import Engine, Options
from lexmill.v1._inputs import batch_of, id_sequence, input_of
from lexmill.v1._limits import LARGEST_ID, Padding, Truncation

if TYPE_CHECKING:
    from typing_extensions import Self

    from lexmill._core import _Texts as Texts

Limit = TypeVar("Limit", Padding, Truncation)
BOOLS = (bool, np.bool_)


class Calls:
    """Encoding and decoding by an engine, with padding and truncation as defaults."""

    __slots__ = ("__weakref__", "_engine", "_padding", "_truncation")
    _engine: Engine
    _padding: Padding | None
    _truncation: Truncation | None

    def __init__(self) -> None:
        """Refuses: files make tokenizers."""
        raise TypeError(f"cannot create {type(self).__name__}: read a file with Tokenizer.from_file or from_pretrained")

    @classmethod
    def _of(cls, engine: Engine, padding: Padding | None, truncation: Truncation | None) -> Self:
        made = object.__new__(cls)
        made._engine, made._padding, made._truncation = engine, padding, truncation
        return made

    @property
    def padding(self) -> Padding | None:
        """The padding of calls that leave `padding` out; None for none."""
        return self._padding

    @property
    def truncation(self) -> Truncation | None:
        """The truncation of calls that leave `truncation` out; None for none."""
        return self._truncation

    @property
    def role_to_token(self) -> dict[str, str] | None:
        """Tokens by their role, such as `bos_token`, as a file of format 2.0 has them; None if the file has none."""
        return self._engine.tokenizer.role_to_token

    def encode(
        self,
        input: str | Sequence[str],
        *,
        add_special_tokens: bool = True,
        encode_special_tokens: bool = False,
        padding: Padding | EllipsisType | None = ...,
        truncation: Truncation | EllipsisType | None = ...,
    ) -> Encoding:
        """Encodes a text or a pair.

        Args:
            input: a text, or a pair as a tuple or another sequence of two texts.
            add_special_tokens: adds the special tokens of the post-processor.
            encode_special_tokens: leaves special tokens in the text to the model. The first call with it takes longer,
                since it builds tables of its own.
            padding: the padding of this call; None for none; by default the tokenizer's.
            truncation: the truncation of this call; None for none; by default the tokenizer's.

        Raises:
            InputTypeError: an argument of another type.
            OptionError: the text that the strategy cuts is absent or too short.

        Warns:
            TruncationWarning: special tokens alone are more than `max_length`, so that nothing is cut.
        """
        options = self._options(add_special_tokens, encode_special_tokens, padding, truncation)
        return self._engine.encode(*input_of(input), options)

    def encode_batch(
        self,
        inputs: Sequence[str | Sequence[str]],
        *,
        add_special_tokens: bool = True,
        encode_special_tokens: bool = False,
        padding: Padding | EllipsisType | None = ...,
        truncation: Truncation | EllipsisType | None = ...,
    ) -> list[Encoding]:
        """Encodes texts and pairs, on all cores if there is enough text.

        Args:
            inputs: texts, and pairs as tuples or other sequences of two texts, in a sequence.
            add_special_tokens: as for `encode`.
            encode_special_tokens: as for `encode`.
            padding: as for `encode`; without a length of its own it pads to the longest encoding of the batch.
            truncation: as for `encode`.

        Raises:
            InputTypeError: as for `encode`.
            OptionError: as for `encode`.

        Warns:
            TruncationWarning: as for `encode`.
        """
        options = self._options(add_special_tokens, encode_special_tokens, padding, truncation)
        return self._engine.encode_batch(batch_of(inputs), options)

    def encode_batch_arrays(
        self,
        texts: Texts,
        *,
        pairs: Texts | None = None,
        add_special_tokens: bool = True,
        encode_special_tokens: bool = False,
        padding: Padding | EllipsisType | None = ...,
        truncation: Truncation | EllipsisType | None = ...,
        errors: Literal["strict", "replace"] = "strict",
        return_offsets: bool = False,
        return_word_ids: bool = False,
        return_type_ids: bool = False,
        return_attention_mask: bool = False,
        return_special_tokens_mask: bool = False,
        num_threads: int | None = None,
    ) -> TokenArrays:
        """Encodes texts, or pairs of texts, to arrays: the fastest call. Hugging Face has no such call.

        Args:
            texts: `str` or `bytes` in a list, another iterable or a numpy array, or an Arrow column.
            pairs: the second texts of pairs, as many as `texts`, of any of those kinds.
            add_special_tokens: as for `encode`.
            encode_special_tokens: as for `encode`.
            padding: as for `encode_batch`.
            truncation: as for `encode`.
            errors: `strict`, or `replace` to read bytes that are not UTF-8 as U+FFFD.
            return_offsets: start and end of each token, in characters of its text.
            return_word_ids: the number of each token's pre-token, -1 for special tokens and padding.
            return_type_ids: the type id of each token.
            return_attention_mask: 0 for padding, 1 for all other tokens.
            return_special_tokens_mask: 1 for special tokens and padding, 0 for all other tokens.
            num_threads: threads to work on; by default one for each core, or the number in `RAYON_NUM_THREADS`.

        Raises:
            InvalidUtf8Error: bytes are not UTF-8, with `errors="strict"`.
            OptionError: as for `encode`, or another number of pairs than of texts.

        Warns:
            TruncationWarning: as for `encode`.
        """
        options = self._options(add_special_tokens, encode_special_tokens, padding, truncation)
        return self._engine.encode_arrays(
            texts,
            pairs,
            options,
            errors=errors,
            return_offsets=return_offsets,
            return_word_ids=return_word_ids,
            return_type_ids=return_type_ids,
            return_attention_mask=return_attention_mask,
            return_special_tokens_mask=return_special_tokens_mask,
            num_threads=num_threads,
        )

    def tokenize(
        self,
        input: str | Sequence[str],
        *,
        add_special_tokens: bool = True,
        encode_special_tokens: bool = False,
        padding: Padding | EllipsisType | None = ...,
        truncation: Truncation | EllipsisType | None = ...,
    ) -> list[str]:
        """The tokens of a text or a pair as the vocabulary spells them: `decode_tokens(encode(input))`.

        Padding is shown as the token of `pad_id`; if no token has this id, padding is left out.

        Args:
            input: as for `encode`.
            add_special_tokens: as for `encode`.
            encode_special_tokens: as for `encode`.
            padding: as for `encode`.
            truncation: as for `encode`.

        Raises:
            InputTypeError: as for `encode`.
            OptionError: as for `encode`.

        Warns:
            TruncationWarning: as for `encode`.
        """
        options = self._options(add_special_tokens, encode_special_tokens, padding, truncation)
        return self.decode_tokens(self._engine.encode(*input_of(input), options))

    def decode(
        self, ids: Encoding | Sequence[int] | npt.NDArray[np.integer[Any]], skip_special_tokens: bool = True
    ) -> str:
        """The text of ids; an id without a token is passed over.

        Args:
            ids: an encoding, or ids in a list, an array or another sequence.
            skip_special_tokens: leaves special tokens out.

        Raises:
            InputTypeError: no sequence of integers.
            IdRangeError: an id is negative, or does not fit 32 bits.
        """
        return self._engine.tokenizer.decode(_ids_of(ids), skip_special_tokens)

    def decode_tokens(
        self, ids: Encoding | Sequence[int] | npt.NDArray[np.integer[Any]], skip_special_tokens: bool = False
    ) -> list[str]:
        """The tokens of ids as the vocabulary spells them, without the decoder; an id without a token is passed over.

        Args:
            ids: an encoding, or ids in a list, an array or another sequence.
            skip_special_tokens: leaves special tokens out.

        Raises:
            InputTypeError: no sequence of integers.
            IdRangeError: an id is negative, or does not fit 32 bits.
        """
        _check_flag("skip_special_tokens", skip_special_tokens)
        numbers = _numbers(_ids_of(ids))
        if skip_special_tokens:
            special = self._engine.special_ids
            numbers = [number for number in numbers if number not in special]
        tokens = map(self._engine.tokenizer.id_to_token, numbers)
        return [token for token in tokens if token is not None]

    def __repr__(self) -> str:
        """The size of the vocabulary and the limits."""
        size = self._engine.tokenizer.get_vocab_size()
        return f"{type(self).__name__}(vocab_size={size}, padding={self._padding}, truncation={self._truncation})"

    def __copy__(self) -> Self:
        """A copy that shares all but the limits."""
        return self._of(self._engine, self._padding, self._truncation)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """As `copy.copy`: the shared part never changes."""
        return self.__copy__()

    def __reduce__(self) -> tuple[Callable[..., Self], tuple[lexmill.Tokenizer, Padding | None, Truncation | None]]:
        """Pickles the tokenizer and the limits."""
        return self._unpickle, (self._engine.tokenizer, self._padding, self._truncation)

    @classmethod
    def _unpickle(cls, json: lexmill.Tokenizer | str, padding: Padding | None, truncation: Truncation | None) -> Self:
        """Makes a tokenizer of a pickle; in Hugging Face's pickles, `json` is the text of a file."""
        tokenizer = lexmill.Tokenizer.from_str(json) if isinstance(json, str) else json
        return cls._of(Engine(tokenizer), padding, truncation)

    def _options(
        self,
        add_special_tokens: bool,
        encode_special_tokens: bool,
        padding: Padding | EllipsisType | None,
        truncation: Truncation | EllipsisType | None,
    ) -> Options:
        _check_flag("add_special_tokens", add_special_tokens)
        _check_flag("encode_special_tokens", encode_special_tokens)
        return Options(
            add_special_tokens,
            encode_special_tokens,
            self._padding if padding is ... else checked("padding", padding, Padding),
            self._truncation if truncation is ... else checked("truncation", truncation, Truncation),
        )


def checked(name: str, value: Limit | None, kind: type[Limit]) -> Limit | None:
    """The value, which must be of the class `kind` or None.

    Raises:
        InputTypeError: another object.
    """
    if value is None or isinstance(value, kind):
        return value
    raise InputTypeError(f"{name} is {type(value).__name__} but must be {kind.__name__} or None")


def _check_flag(name: str, value: object) -> None:
    if not isinstance(value, BOOLS):
        raise InputTypeError(f"{name} is {type(value).__name__} but must be bool")


def _ids_of(ids: object) -> Sequence[int] | npt.NDArray[Any]:
    return ids.ids if isinstance(ids, Encoding) else id_sequence(ids)


def _numbers(ids: Sequence[int] | npt.NDArray[Any]) -> list[int]:
    try:
        numbers = list(map(index, ids))
    except TypeError as error:
        raise InputTypeError(f"ids hold other objects than integers: {error}") from error
    for number in (min(numbers, default=0), max(numbers, default=0)):
        if not 0 <= number <= LARGEST_ID:
            raise IdRangeError(f"id is {number} but must be from 0 to {LARGEST_ID}")
    return numbers
