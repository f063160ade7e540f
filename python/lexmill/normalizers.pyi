from collections.abc import Sequence as _Sequence
from typing import NoReturn, Protocol, final

from typing_extensions import disjoint_base

from lexmill._core import NormalizedString, Regex

__all__ = [
    "NFC",
    "NFD",
    "NFKC",
    "NFKD",
    "NORMALIZERS",
    "BertNormalizer",
    "ByteLevel",
    "Lowercase",
    "Nmt",
    "Normalizer",
    "Precompiled",
    "Prepend",
    "Replace",
    "Sequence",
    "Strip",
    "StripAccents",
    "unicode_normalizer_from_str",
]

NORMALIZERS: dict[str, type[NFC] | type[NFD] | type[NFKC] | type[NFKD]]

def unicode_normalizer_from_str(normalizer: str) -> Normalizer:
    """The Unicode normalization form with a lower-case name, such as `nfc`.

    Raises:
        OptionError: the name is not a key of `NORMALIZERS`; the error is a `ValueError`.
    """

class _CustomNormalizer(Protocol):
    def normalize(self, normalized: NormalizedString, /) -> object: ...

@disjoint_base
class Normalizer:
    """Base class of all normalizers."""
    @staticmethod
    def custom(obj: _CustomNormalizer) -> Normalizer:
        """A normalizer that calls `obj.normalize(text)` with a `NormalizedString`, which the call changes. A tokenizer
        with it cannot be saved.
        """
    def normalize(self, normalized: NormalizedString) -> None:
        """Normalizes a text in place."""
    def normalize_str(self, sequence: str) -> str:
        """The normalized form of a text."""
    def __getstate__(self) -> bytes: ...
    def __setstate__(self, state: bytes) -> None: ...

@final
class NFC(Normalizer):
    """Canonical composition."""
    def __new__(cls) -> NFC: ...

@final
class NFD(Normalizer):
    """Canonical decomposition."""
    def __new__(cls) -> NFD: ...

@final
class NFKC(Normalizer):
    """Compatibility composition."""
    def __new__(cls) -> NFKC: ...

@final
class NFKD(Normalizer):
    """Compatibility decomposition."""
    def __new__(cls) -> NFKD: ...

@final
class Lowercase(Normalizer):
    """Lower case, character by character."""
    def __new__(cls) -> Lowercase: ...

@final
class ByteLevel(Normalizer):
    """Every byte as a printable character."""
    def __new__(cls) -> ByteLevel: ...

@final
class StripAccents(Normalizer):
    """Takes combining marks out."""
    def __new__(cls) -> StripAccents: ...

@final
class Strip(Normalizer):
    """Takes white space off the ends.

    Args:
        left: takes it off the beginning.
        right: takes it off the end.
    """
    def __new__(cls, left: bool = True, right: bool = True) -> Strip: ...
    @property
    def left(self) -> bool: ...
    @left.setter
    def left(self, value: bool) -> None: ...
    @property
    def right(self) -> bool: ...
    @right.setter
    def right(self, value: bool) -> None: ...

@final
class Prepend(Normalizer):
    """Puts a text before every text that is not empty.

    Args:
        prepend: the text to put there.
    """
    def __new__(cls, prepend: str = "▁") -> Prepend: ...
    @property
    def prepend(self) -> str: ...
    @prepend.setter
    def prepend(self, value: str) -> None: ...

@final
class Replace(Normalizer):
    """Puts one text in place of every match of a text or a regular expression.

    Args:
        pattern: a `str`, which stands for itself, or a `Regex`.
        content: the text that takes the place of a match, as it stands.

    Raises:
        RegexError: the expression does not compile.
    """
    def __new__(cls, pattern: str | Regex, content: str) -> Replace: ...
    @property
    def pattern(self) -> NoReturn: ...
    @pattern.setter
    def pattern(self, value: str | Regex) -> NoReturn: ...
    @property
    def content(self) -> str: ...
    @content.setter
    def content(self, value: str) -> None: ...
    def __getnewargs__(self) -> tuple[str, str]: ...

@final
class Sequence(Normalizer):
    """Normalizers one after the other.

    Args:
        normalizers: the normalizers, in their order. They stay shared: a change to one takes effect here.
    """
    def __new__(cls, normalizers: list[Normalizer]) -> Sequence: ...
    def __len__(self) -> int: ...
    def __getitem__(self, at: int, /) -> Normalizer: ...
    def __setitem__(self, at: int, value: Normalizer, /) -> None: ...
    def __getnewargs__(self) -> tuple[list[Normalizer]]: ...

@final
class MetaspaceNormalizer(Normalizer):
    """Makes spaces visible without cutting the text. Files of version 2.0 have this stage in the place of the pre-
    tokenizer `Metaspace`.

    Args:
        replacement: the character that stands for a space.
        prepend_scheme: where a text gets one before it: `always`, `first` (not after an added token) or `never`.
            With `drop_whitespace`, `always` puts one before each word, `first` before a word at the beginning of the
            text.
        drop_whitespace: takes all white space out and joins the words.

    Raises:
        OptionError: `replacement` is not one character, or `prepend_scheme` is unknown.
    """
    def __new__(
        cls, replacement: str = "▁", prepend_scheme: str = "always", drop_whitespace: bool = False
    ) -> MetaspaceNormalizer: ...
    @property
    def replacement(self) -> str: ...
    @replacement.setter
    def replacement(self, value: str) -> None: ...
    @property
    def prepend_scheme(self) -> str: ...
    @prepend_scheme.setter
    def prepend_scheme(self, value: str) -> None: ...
    @property
    def drop_whitespace(self) -> bool: ...
    @drop_whitespace.setter
    def drop_whitespace(self, value: bool) -> None: ...

@final
class Nmt(Normalizer):
    """Takes control characters out and makes odd spaces plain."""
    def __new__(cls) -> Nmt: ...

@final
class Precompiled(Normalizer):
    """SentencePiece's compiled rules, as its model files hold them.

    Args:
        precompiled_charsmap: the bytes of the rules.

    Raises:
        FormatError: they are malformed.
    """
    def __new__(cls, precompiled_charsmap: bytes) -> Precompiled: ...
    def __getnewargs__(self) -> tuple[bytes]: ...

@final
class SentencePiece(Normalizer):
    """All of SentencePiece's normalization at once, with symbols that no rule touches.

    Args:
        precompiled_charsmap: the compiled rules, of which the longest that matches is applied; None for no rules.
        user_defined_symbols: texts that no rule touches, at each place the longest.
        add_dummy_prefix: puts a space before the text, unless it is empty.
        remove_extra_whitespaces: takes spaces off the ends and leaves one of several.
        escape_whitespaces: makes spaces visible, as U+2581.
        treat_whitespace_as_suffix: puts the space of `add_dummy_prefix` after the text instead.

    Raises:
        FormatError: `precompiled_charsmap` is malformed.
        OptionError: the symbols have more than 2^23 distinct prefixes.
    """
    def __new__(
        cls,
        precompiled_charsmap: bytes | None = None,
        user_defined_symbols: _Sequence[str] | None = None,
        *,
        add_dummy_prefix: bool = True,
        remove_extra_whitespaces: bool = True,
        escape_whitespaces: bool = True,
        treat_whitespace_as_suffix: bool = False,
    ) -> SentencePiece: ...

class BertNormalizer(Normalizer):
    """BERT's normalization: control characters, spaces around ideographs, accents, case.

    Args:
        clean_text: drops control characters and makes white space plain spaces.
        handle_chinese_chars: puts spaces around ideographs.
        strip_accents: drops combining marks; None means the same as `lowercase`.
        lowercase: puts the text in lower case.
    """
    def __new__(
        cls,
        clean_text: bool = True,
        handle_chinese_chars: bool = True,
        strip_accents: bool | None = None,
        lowercase: bool = True,
    ) -> BertNormalizer: ...
    @property
    def clean_text(self) -> bool: ...
    @clean_text.setter
    def clean_text(self, value: bool) -> None: ...
    @property
    def handle_chinese_chars(self) -> bool: ...
    @handle_chinese_chars.setter
    def handle_chinese_chars(self, value: bool) -> None: ...
    @property
    def strip_accents(self) -> bool | None: ...
    @strip_accents.setter
    def strip_accents(self, value: bool | None) -> None: ...
    @property
    def lowercase(self) -> bool: ...
    @lowercase.setter
    def lowercase(self, value: bool) -> None: ...
