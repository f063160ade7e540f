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

def unicode_normalizer_from_str(normalizer: str) -> Normalizer: ...

class _CustomNormalizer(Protocol):
    def normalize(self, normalized: NormalizedString, /) -> object: ...

@disjoint_base
class Normalizer:
    @staticmethod
    def custom(normalizer: _CustomNormalizer) -> Normalizer: ...
    def normalize(self, normalized: NormalizedString) -> None: ...
    def normalize_str(self, sequence: str) -> str: ...
    def __getstate__(self) -> bytes: ...
    def __setstate__(self, state: bytes) -> None: ...

@final
class NFC(Normalizer):
    def __new__(cls) -> NFC: ...

@final
class NFD(Normalizer):
    def __new__(cls) -> NFD: ...

@final
class NFKC(Normalizer):
    def __new__(cls) -> NFKC: ...

@final
class NFKD(Normalizer):
    def __new__(cls) -> NFKD: ...

@final
class Lowercase(Normalizer):
    def __new__(cls) -> Lowercase: ...

@final
class ByteLevel(Normalizer):
    def __new__(cls) -> ByteLevel: ...

@final
class StripAccents(Normalizer):
    def __new__(cls) -> StripAccents: ...

@final
class Strip(Normalizer):
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
    def __new__(cls, prepend: str = "▁") -> Prepend: ...
    @property
    def prepend(self) -> str: ...
    @prepend.setter
    def prepend(self, value: str) -> None: ...

@final
class Replace(Normalizer):
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
    def __new__(cls, normalizers: _Sequence[Normalizer]) -> Sequence: ...
    def __len__(self) -> int: ...
    def __getitem__(self, at: int, /) -> Normalizer: ...
    def __setitem__(self, at: int, value: Normalizer, /) -> None: ...
    def __getnewargs__(self) -> tuple[list[Normalizer]]: ...

@final
class Nmt(Normalizer):
    def __new__(cls) -> Nmt: ...

@final
class Precompiled(Normalizer):
    def __new__(cls, precompiled_charsmap: bytes) -> Precompiled: ...
    def __getnewargs__(self) -> tuple[bytes]: ...

@final
class SentencePiece(Normalizer):
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
