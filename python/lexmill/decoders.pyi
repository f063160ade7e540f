from collections.abc import Sequence as _Sequence
from typing import Literal, Protocol, TypeAlias, final

from typing_extensions import disjoint_base

from lexmill._core import Regex, Tokenizer

__all__ = [
    "CTC",
    "BPEDecoder",
    "ByteFallback",
    "ByteLevel",
    "DecodeStream",
    "Decoder",
    "Fuse",
    "Metaspace",
    "Replace",
    "SentencePiece",
    "Sequence",
    "Strip",
    "WordPiece",
]

_PrependScheme: TypeAlias = Literal["first", "never", "always"]

_StreamState: TypeAlias = tuple[
    list[int], bool, list[tuple[int, bytes]], tuple[str, str], tuple[list[int], list[int], str]
]

class _CustomDecoder(Protocol):
    def decode_chain(self, tokens: list[str], /) -> _Sequence[str]: ...

@final
class DecodeStream:
    """Ids to text, a few at a time: each step gives the text that is new, as soon as no later id can change it.

    The texts of all steps and of `finish` are the text of all ids, without the text of the ids given here.

    Args:
        ids: ids before the first step, whose text is not given again. A character that they begin comes with the id
            that ends it.
        skip_special_tokens: leaves special tokens out of the text.
    """
    def __new__(cls, ids: _Sequence[int] | None = None, skip_special_tokens: bool | None = False) -> DecodeStream: ...
    def step(self, tokenizer: Tokenizer, id: int | _Sequence[int]) -> str | None:
        """Takes an id or a list of ids; returns the new text, or None if there is none yet.

        Args:
            tokenizer: the tokenizer that decodes; the same in all steps.
            id: an id or a list of ids.

        Raises:
            LexmillError: the decoder gives another text for ids that it has decoded already, as one written in
                Python may. The stream is as before the step.
        """
    def finish(self, tokenizer: Tokenizer | None = None) -> str:
        """Ends the text; returns the rest, which no step has returned and which may be empty.

        Bytes of a character that was not complete become U+FFFD. After that the stream is as a new one without ids,
        and a further step begins a new text.

        Args:
            tokenizer: decodes; by default the tokenizer of the last step.

        Raises:
            LexmillError: as in `step`.
            OptionError: no tokenizer is given, and there was no step since the stream was made or read from a
                pickle.
        """
    def __copy__(self) -> DecodeStream: ...
    def __deepcopy__(self, _memo: object) -> DecodeStream: ...
    def __getstate__(self) -> _StreamState: ...
    def __setstate__(self, state: _StreamState) -> None: ...

@disjoint_base
class Decoder:
    """Base class of all decoders."""
    @staticmethod
    def custom(decoder: _CustomDecoder) -> Decoder:
        """A decoder that calls `decoder.decode_chain(tokens)` with a list of texts; the call returns a list of texts. A
        tokenizer with it cannot be saved.
        """
    def decode(self, tokens: _Sequence[str]) -> str:
        """The text of a list of tokens."""
    def __getstate__(self) -> bytes: ...
    def __setstate__(self, state: bytes) -> None: ...

@final
class ByteLevel(Decoder):
    """From the byte-level alphabet back to text."""
    def __new__(cls) -> ByteLevel: ...

@final
class ByteFallback(Decoder):
    """From `<0xNN>` tokens to bytes."""
    def __new__(cls) -> ByteFallback: ...

@final
class Fuse(Decoder):
    """All tokens become one."""
    def __new__(cls) -> Fuse: ...

@final
class Replace(Decoder):
    """Puts one text in place of every match of a text or a regular expression, in each token.

    Args:
        pattern: a `str`, which stands for itself, or a `Regex`.
        content: the text that takes the place of a match, as it stands.

    Raises:
        RegexError: the expression does not compile.
    """
    def __new__(cls, pattern: str | Regex, content: str) -> Replace: ...
    def __getnewargs__(self) -> tuple[str, str]: ...

@final
class SentencePiece(Decoder):
    """All of SentencePiece's decoding at once, as `Tokenizer.from_spm` sets it up.

    The unknown token is shown even where special tokens are left out.

    Args:
        unk_token: the unknown token; None if there is none.
        unk_surface: the text of the unknown token.
        byte_fallback: tokens such as `<0xE2>` are bytes. Bytes that are not UTF-8 become U+FFFD, one each.
        add_dummy_prefix: takes one space off the beginning of the text.
        remove_extra_whitespaces: takes one space off each of the first tokens, until there is text.
        precompiled_charsmap: compiled rules that rewrite the text in the end (rules of denormalization), of which
            the longest that matches is applied; None for no rules.

    Raises:
        FormatError: `precompiled_charsmap` is malformed.
    """
    def __new__(
        cls,
        unk_token: str | None = "<unk>",
        unk_surface: str = " \u2047 ",
        *,
        byte_fallback: bool = False,
        add_dummy_prefix: bool = True,
        remove_extra_whitespaces: bool = True,
        precompiled_charsmap: bytes | None = None,
    ) -> SentencePiece: ...
    @property
    def unk_token(self) -> str | None: ...
    @unk_token.setter
    def unk_token(self, value: str | None) -> None: ...
    @property
    def unk_surface(self) -> str: ...
    @unk_surface.setter
    def unk_surface(self, value: str) -> None: ...
    @property
    def byte_fallback(self) -> bool: ...
    @byte_fallback.setter
    def byte_fallback(self, value: bool) -> None: ...
    @property
    def add_dummy_prefix(self) -> bool: ...
    @add_dummy_prefix.setter
    def add_dummy_prefix(self, value: bool) -> None: ...
    @property
    def remove_extra_whitespaces(self) -> bool: ...
    @remove_extra_whitespaces.setter
    def remove_extra_whitespaces(self, value: bool) -> None: ...

@final
class Strip(Decoder):
    """Takes up to `left` and `right` characters off the ends of each token.

    Args:
        content: the character to take off.
        left: the most that are taken off the beginning.
        right: the most that are taken off the end.
    """
    def __new__(cls, content: str = " ", left: int = 0, right: int = 0) -> Strip: ...
    @property
    def content(self) -> str: ...
    @content.setter
    def content(self, value: str) -> None: ...
    @property
    def start(self) -> int: ...
    @start.setter
    def start(self, value: int) -> None: ...
    @property
    def stop(self) -> int: ...
    @stop.setter
    def stop(self, value: int) -> None: ...

@final
class Metaspace(Decoder):
    """Turns visible spaces into spaces.

    Args:
        replacement: the character that stands for a space.
        prepend_scheme: `always` or `first` takes the space off the beginning of the text, `never` leaves it.
        split: kept for files; without effect.
    """
    def __new__(
        cls, replacement: str = "▁", prepend_scheme: _PrependScheme = "always", split: bool = True
    ) -> Metaspace: ...
    @property
    def replacement(self) -> str: ...
    @replacement.setter
    def replacement(self, value: str) -> None: ...
    @property
    def prepend_scheme(self) -> _PrependScheme: ...
    @prepend_scheme.setter
    def prepend_scheme(self, value: _PrependScheme) -> None: ...
    @property
    def split(self) -> bool: ...
    @split.setter
    def split(self, value: bool) -> None: ...

@final
class BPEDecoder(Decoder):
    """Turns the mark at a word's end into a space, and removes the mark in the last token.

    Args:
        suffix: the mark.
    """
    def __new__(cls, suffix: str = "</w>") -> BPEDecoder: ...
    @property
    def suffix(self) -> str: ...
    @suffix.setter
    def suffix(self, value: str) -> None: ...

@final
class Sequence(Decoder):
    """Decoders one after the other.

    Args:
        decoders_py: the decoders, in their order. They stay shared.
    """
    def __new__(cls, decoders_py: list[Decoder]) -> Sequence: ...
    def __getnewargs__(self) -> tuple[list[Decoder]]: ...

@final
class CTC(Decoder):
    """Turns the labels of a CTC model into text: repeated labels count once, and gaps are left out.

    Args:
        pad_token: the label for a gap, which also stands between equal letters.
        word_delimiter_token: the label between words.
        cleanup: puts spaces between words, and takes them out before punctuation and in English contractions.
    """
    def __new__(cls, pad_token: str = "<pad>", word_delimiter_token: str = "|", cleanup: bool = True) -> CTC: ...
    @property
    def pad_token(self) -> str: ...
    @pad_token.setter
    def pad_token(self, value: str) -> None: ...
    @property
    def word_delimiter_token(self) -> str: ...
    @word_delimiter_token.setter
    def word_delimiter_token(self, value: str) -> None: ...

class WordPiece(Decoder):
    """Takes the prefix off tokens inside a word, and puts a space before all other tokens but the first.

    Args:
        prefix: the prefix of tokens inside a word.
        cleanup: takes spaces out before punctuation and in English contractions.
    """
    def __new__(cls, prefix: str = "##", cleanup: bool = True) -> WordPiece: ...
    @property
    def prefix(self) -> str: ...
    @prefix.setter
    def prefix(self, value: str) -> None: ...
    @property
    def cleanup(self) -> bool: ...
    @cleanup.setter
    def cleanup(self, value: bool) -> None: ...
