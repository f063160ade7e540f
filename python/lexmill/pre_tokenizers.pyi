from typing import Literal, NoReturn, Protocol, TypeAlias, final

from typing_extensions import disjoint_base

from lexmill._core import PreTokenizedString, Regex

__all__ = [
    "BertPreTokenizer",
    "ByteLevel",
    "CharDelimiterSplit",
    "Digits",
    "FixedLength",
    "Metaspace",
    "PreTokenizer",
    "Punctuation",
    "Sequence",
    "Split",
    "UnicodeScripts",
    "Whitespace",
    "WhitespaceSplit",
]

_Behavior: TypeAlias = Literal["removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"]
_PrependScheme: TypeAlias = Literal["first", "never", "always"]

class _CustomPreTokenizer(Protocol):
    def pre_tokenize(self, pretok: PreTokenizedString, /) -> object: ...

@disjoint_base
class PreTokenizer:
    """Base class of all pre-tokenizers."""
    @staticmethod
    def custom(pretok: _CustomPreTokenizer) -> PreTokenizer:
        """A pre-tokenizer that calls `pretok.pre_tokenize(text)` with a `PreTokenizedString`, which the call cuts. A
        tokenizer with it cannot be saved.
        """
    def pre_tokenize(self, pretok: PreTokenizedString) -> None:
        """Cuts the splits of a text in place."""
    def pre_tokenize_str(self, s: str) -> list[tuple[str, tuple[int, int]]]:
        """The pre-tokens of a text, each with its character offsets."""
    def __getstate__(self) -> bytes: ...
    def __setstate__(self, state: bytes) -> None: ...

@final
class ByteLevel(PreTokenizer):
    """GPT-2's splitting, and every byte as a printable character.

    Args:
        add_prefix_space: puts a space before a text that begins with none.
        trim_offsets: without effect here; the post-processor of this name leaves spaces out of offsets.
        use_regex: cuts the text; off, bytes are only spelled out.
    """
    def __new__(cls, add_prefix_space: bool = True, trim_offsets: bool = True, use_regex: bool = True) -> ByteLevel: ...
    @staticmethod
    def alphabet() -> list[str]:
        """The 256 characters that stand for bytes."""
    @property
    def add_prefix_space(self) -> bool: ...
    @add_prefix_space.setter
    def add_prefix_space(self, value: bool) -> None: ...
    @property
    def trim_offsets(self) -> bool: ...
    @trim_offsets.setter
    def trim_offsets(self, value: bool) -> None: ...
    @property
    def use_regex(self) -> bool: ...
    @use_regex.setter
    def use_regex(self, value: bool) -> None: ...

@final
class Metaspace(PreTokenizer):
    """Visible spaces, each of which begins a pre-token.

    Args:
        replacement: the character that stands for a space.
        prepend_scheme: where a text gets one before it: `always`, `first` (not after an added token) or `never`.
        split: True if each visible space begins a new pre-token.
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
class Split(PreTokenizer):
    """Cuts at a text or a regular expression.

    Args:
        pattern: a `str`, which stands for itself, or a `Regex`.
        behavior: the treatment of a match: `removed`, `isolated`, `merged_with_previous`, `merged_with_next` or
            `contiguous`, which is isolated with neighbouring matches as one.
        invert: cuts at the texts between matches.

    Raises:
        RegexError: the expression does not compile.
    """
    def __new__(cls, pattern: str | Regex, behavior: _Behavior, invert: bool = False) -> Split: ...
    @property
    def pattern(self) -> NoReturn: ...
    @pattern.setter
    def pattern(self, value: str | Regex) -> None: ...
    @property
    def behavior(self) -> str: ...
    @behavior.setter
    def behavior(self, value: _Behavior) -> None: ...
    @property
    def invert(self) -> bool: ...
    @invert.setter
    def invert(self, value: bool) -> None: ...
    def __getnewargs__(self) -> tuple[str, str]: ...

@final
class Whitespace(PreTokenizer):
    """Runs of word characters and runs of other visible characters."""
    def __new__(cls) -> Whitespace: ...

@final
class WhitespaceSplit(PreTokenizer):
    """Everything between white space."""
    def __new__(cls) -> WhitespaceSplit: ...

@final
class Digits(PreTokenizer):
    """Cuts off numbers, whole or digit by digit.

    Args:
        individual_digits: makes each digit a pre-token.
    """
    def __new__(cls, individual_digits: bool = False) -> Digits: ...
    @property
    def individual_digits(self) -> bool: ...
    @individual_digits.setter
    def individual_digits(self, value: bool) -> None: ...

@final
class Punctuation(PreTokenizer):
    """Cuts at punctuation characters.

    Args:
        behavior: the treatment of a match: `removed`, `isolated`, `merged_with_previous`, `merged_with_next` or
            `contiguous`, which is isolated with neighbouring matches as one.
    """
    def __new__(cls, behavior: _Behavior = "isolated") -> Punctuation: ...
    @property
    def behavior(self) -> str: ...
    @behavior.setter
    def behavior(self, value: _Behavior) -> None: ...

@final
class Sequence(PreTokenizer):
    """Pre-tokenizers one after the other.

    Args:
        pre_tokenizers: the pre-tokenizers, in their order; each cuts the pre-tokens of the one before. They stay
            shared.
    """
    def __new__(cls, pre_tokenizers: list[PreTokenizer]) -> Sequence: ...
    def __getitem__(self, at: int, /) -> PreTokenizer: ...
    def __setitem__(self, at: int, value: PreTokenizer, /) -> None: ...
    def __getnewargs__(self) -> tuple[list[PreTokenizer]]: ...

@final
class CharDelimiterSplit(PreTokenizer):
    """Cuts at one character and drops it.

    Args:
        delimiter: the character.
    """
    def __new__(cls, delimiter: str) -> CharDelimiterSplit: ...
    @property
    def delimiter(self) -> str: ...
    @delimiter.setter
    def delimiter(self, value: str) -> None: ...
    def __getnewargs__(self) -> tuple[str]: ...

@final
class UnicodeScripts(PreTokenizer):
    """Cuts where the script changes."""
    def __new__(cls) -> UnicodeScripts: ...

@final
class FixedLength(PreTokenizer):
    """Cuts a text into pieces of `length` characters each.

    Args:
        length: characters of a piece; the last may have fewer.
    """
    def __new__(cls, length: int = 5) -> FixedLength: ...
    @property
    def length(self) -> int: ...
    @length.setter
    def length(self, value: int) -> None: ...

class BertPreTokenizer(PreTokenizer):
    """Cuts at white space, which is dropped, and around each punctuation character."""
    def __new__(cls) -> BertPreTokenizer: ...
