"""The base of this package's tokenizers: a `Tokenizer`, and its methods under the same names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeVar

from lexmill._core import AddedToken, Encoding, Tokenizer
from lexmill._types import EncodeInput, InputSequence
from lexmill.decoders import Decoder
from lexmill.implementations._arguments import check_given
from lexmill.models import Model
from lexmill.normalizers import Normalizer
from lexmill.pre_tokenizers import PreTokenizer
from lexmill.processors import PostProcessor

T = TypeVar("T")


class BaseTokenizer:
    """Wraps a `Tokenizer`, which a subclass builds from a few options.

    Each method does the same as the `Tokenizer` method of its name, and raises the same errors.
    """

    def __init__(self, tokenizer: Tokenizer, parameters: Mapping[str, object] | None = None) -> None:
        """Wraps `tokenizer`; `parameters` are the options that it was built from, for `repr` only."""
        self._tokenizer = tokenizer
        self._parameters: Mapping[str, object] = parameters if parameters is not None else {}

    def __repr__(self) -> str:
        """The size of the vocabulary, then the parameters."""
        parameters = ", ".join(name + f"={value}" for name, value in self._parameters.items())
        return f"Tokenizer(vocabulary_size={self._tokenizer.get_vocab_size()}, {parameters})"

    # Vocabulary.

    def get_vocab(self, with_added_tokens: bool = True) -> dict[str, int]:
        """Tokens with their ids."""
        return self._tokenizer.get_vocab(with_added_tokens=with_added_tokens)

    def get_vocab_size(self, with_added_tokens: bool = True) -> int:
        """The number of tokens."""
        return self._tokenizer.get_vocab_size(with_added_tokens=with_added_tokens)

    def get_added_tokens_decoder(self) -> dict[int, AddedToken]:
        """Ids with the added tokens they stand for."""
        return self._tokenizer.get_added_tokens_decoder()

    def token_to_id(self, token: str) -> int | None:
        """The id of a token, None if there is no such token."""
        return self._tokenizer.token_to_id(token)

    def id_to_token(self, id: int) -> str | None:
        """The token of an id, None if there is no such id."""
        return self._tokenizer.id_to_token(id)

    def add_tokens(self, tokens: list[str | AddedToken]) -> int:
        """Adds tokens and returns how many were new."""
        return self._tokenizer.add_tokens(tokens)

    def add_special_tokens(self, special_tokens: list[str | AddedToken]) -> int:
        """Adds tokens that `decode` leaves out, and returns how many were new."""
        return self._tokenizer.add_special_tokens(special_tokens)

    # Truncation and padding.

    def enable_truncation(
        self,
        max_length: int,
        stride: int = 0,
        strategy: Literal["longest_first", "only_first", "only_second"] = "longest_first",
    ) -> None:
        """Cuts encodings down to `max_length` tokens, at the right; `stride` tokens of one piece repeat in the next."""
        self._tokenizer.enable_truncation(max_length, stride=stride, strategy=strategy)

    def no_truncation(self) -> None:
        """Ends truncation."""
        self._tokenizer.no_truncation()

    @property
    def truncation(self) -> dict[str, Any] | None:
        """A copy of the options of truncation, None if it is off."""
        return self._tokenizer.truncation

    def enable_padding(
        self,
        direction: Literal["left", "right"] = "right",
        pad_to_multiple_of: int | None = None,
        pad_id: int = 0,
        pad_type_id: int = 0,
        pad_token: str = "[PAD]",
        length: int | None = None,
    ) -> None:
        """Fills encodings up to `length` tokens, or without it to the longest of a batch."""
        self._tokenizer.enable_padding(
            direction=direction,
            pad_to_multiple_of=pad_to_multiple_of,
            pad_id=pad_id,
            pad_type_id=pad_type_id,
            pad_token=pad_token,
            length=length,
        )

    def no_padding(self) -> None:
        """Ends padding."""
        self._tokenizer.no_padding()

    @property
    def padding(self) -> dict[str, Any] | None:
        """A copy of the options of padding, None if it is off."""
        return self._tokenizer.padding

    # Encoding and decoding.

    def normalize(self, sequence: str) -> str:
        """The normalized text: the text itself if there is no normalizer."""
        normalizer = self._tokenizer.normalizer
        return sequence if normalizer is None else normalizer.normalize_str(sequence)

    def encode(
        self,
        sequence: InputSequence,
        pair: InputSequence | None = None,
        is_pretokenized: bool = False,
        add_special_tokens: bool = True,
    ) -> Encoding:
        """Encodes a text or a pair of texts; a list or tuple of words if `is_pretokenized`.

        Raises:
            OptionError: `sequence` is None. A `ValueError`.
        """
        check_given("sequence", sequence)
        return self._tokenizer.encode(sequence, pair, is_pretokenized, add_special_tokens)

    def encode_batch(
        self, inputs: Sequence[EncodeInput], is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> list[Encoding]:
        """Encodes many texts or pairs, on all threads.

        Raises:
            OptionError: `inputs` is None. A `ValueError`.
        """
        check_given("inputs", inputs)
        rows: Sequence[Any] = inputs
        return self._tokenizer.encode_batch(rows, is_pretokenized, add_special_tokens)

    def decode(self, ids: Sequence[int], skip_special_tokens: bool = True) -> str:
        """The text of ids.

        Raises:
            OptionError: `ids` is None. A `ValueError`.
        """
        check_given("ids", ids)
        return self._tokenizer.decode(ids, skip_special_tokens=skip_special_tokens)

    def decode_batch(self, sequences: Sequence[Sequence[int]], skip_special_tokens: bool = True) -> list[str]:
        """The texts of many lists of ids, on all threads.

        Raises:
            OptionError: `sequences` is None. A `ValueError`.
        """
        check_given("sequences", sequences)
        return self._tokenizer.decode_batch(sequences, skip_special_tokens=skip_special_tokens)

    async def async_encode_batch(
        self, inputs: Sequence[EncodeInput], is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> list[Encoding]:
        """`encode_batch` in a thread of the running loop's executor."""
        return await _in_thread(lambda: self.encode_batch(inputs, is_pretokenized, add_special_tokens))

    async def async_encode_batch_fast(
        self, inputs: Sequence[EncodeInput], is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> list[Encoding]:
        """The same as `async_encode_batch`: offsets cost nothing until they are read."""
        return await self.async_encode_batch(inputs, is_pretokenized, add_special_tokens)

    async def async_decode_batch(
        self, sequences: Sequence[Sequence[int]], skip_special_tokens: bool = True
    ) -> list[str]:
        """`decode_batch` in a thread of the running loop's executor."""
        return await _in_thread(lambda: self.decode_batch(sequences, skip_special_tokens))

    def post_process(
        self, encoding: Encoding, pair: Encoding | None = None, add_special_tokens: bool = True
    ) -> Encoding:
        """Truncates, adds special tokens and pads, as the end of `encode` does."""
        return self._tokenizer.post_process(encoding, pair, add_special_tokens)

    def num_special_tokens_to_add(self, is_pair: bool) -> int:
        """How many tokens the post-processor adds to a text or a pair."""
        return self._tokenizer.num_special_tokens_to_add(is_pair)

    # Files.

    def save_model(self, directory: str, prefix: str | None = None) -> list[str]:
        """Writes the model's own files, such as `vocab.txt`, and returns their paths; `prefix` begins their names."""
        return self._tokenizer.model.save(directory, prefix=prefix)

    def save(self, path: str, pretty: bool = True) -> None:
        """Writes the whole tokenizer as a `tokenizer.json`."""
        self._tokenizer.save(path, pretty)

    def to_str(self, pretty: bool = False) -> str:
        """The whole tokenizer in the format of `tokenizer.json`."""
        return self._tokenizer.to_str(pretty)

    # Stages.

    @property
    def model(self) -> Model:
        """The model."""
        return self._tokenizer.model

    @model.setter
    def model(self, model: Model) -> None:
        self._tokenizer.model = model

    @property
    def normalizer(self) -> Normalizer | None:
        """The normalizer, None for none."""
        return self._tokenizer.normalizer

    @normalizer.setter
    def normalizer(self, normalizer: Normalizer | None) -> None:
        self._tokenizer.normalizer = normalizer

    @property
    def pre_tokenizer(self) -> PreTokenizer | None:
        """The pre-tokenizer, None for none."""
        return self._tokenizer.pre_tokenizer

    @pre_tokenizer.setter
    def pre_tokenizer(self, pre_tokenizer: PreTokenizer | None) -> None:
        self._tokenizer.pre_tokenizer = pre_tokenizer

    @property
    def post_processor(self) -> PostProcessor | None:
        """The post-processor, None for none."""
        return self._tokenizer.post_processor

    @post_processor.setter
    def post_processor(self, post_processor: PostProcessor | None) -> None:
        self._tokenizer.post_processor = post_processor

    @property
    def decoder(self) -> Decoder | None:
        """The decoder, None for none."""
        return self._tokenizer.decoder

    @decoder.setter
    def decoder(self, decoder: Decoder | None) -> None:
        self._tokenizer.decoder = decoder


async def _in_thread(call: Callable[[], T]) -> T:
    # Imported here: asyncio takes longer to import than the rest of the package.
    import asyncio

    return await asyncio.to_thread(call)
