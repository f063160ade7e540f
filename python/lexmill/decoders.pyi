from collections.abc import Sequence as _Sequence
from typing import Literal, TypeAlias, final

from typing_extensions import disjoint_base

from lexmill._core import Regex

__all__ = [
    "BPEDecoder",
    "ByteFallback",
    "ByteLevel",
    "Decoder",
    "Fuse",
    "Metaspace",
    "Replace",
    "Sequence",
    "Strip",
]

_PrependScheme: TypeAlias = Literal["first", "never", "always"]

@disjoint_base
class Decoder:
    def decode(self, tokens: _Sequence[str]) -> str: ...
    def __getstate__(self) -> bytes: ...
    def __setstate__(self, state: bytes) -> None: ...

@final
class ByteLevel(Decoder):
    def __new__(cls) -> ByteLevel: ...

@final
class ByteFallback(Decoder):
    def __new__(cls) -> ByteFallback: ...

@final
class Fuse(Decoder):
    def __new__(cls) -> Fuse: ...

@final
class Replace(Decoder):
    def __new__(cls, pattern: str | Regex, content: str) -> Replace: ...
    def __getnewargs__(self) -> tuple[str, str]: ...

@final
class Strip(Decoder):
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
    def __new__(cls, suffix: str = "</w>") -> BPEDecoder: ...
    @property
    def suffix(self) -> str: ...
    @suffix.setter
    def suffix(self, value: str) -> None: ...

@final
class Sequence(Decoder):
    def __new__(cls, decoders: _Sequence[Decoder]) -> Sequence: ...
    def __getnewargs__(self) -> tuple[list[Decoder]]: ...
