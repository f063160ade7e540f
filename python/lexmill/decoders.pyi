from collections.abc import Sequence
from typing import final

from typing_extensions import disjoint_base

__all__ = ["ByteLevel", "Decoder"]

@disjoint_base
class Decoder:
    def decode(self, tokens: Sequence[str]) -> str: ...
    def __getstate__(self) -> bytes: ...
    def __setstate__(self, state: bytes) -> None: ...

@final
class ByteLevel(Decoder):
    def __new__(cls) -> ByteLevel: ...
