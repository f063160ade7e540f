from collections.abc import Sequence
from os import PathLike
from typing import TypeAlias, TypedDict, final, overload

from typing_extensions import Unpack, disjoint_base

from lexmill._core import Token
from lexmill.trainers import Trainer

__all__ = ["BPE", "Model", "Unigram", "WordLevel", "WordPiece"]

_Path: TypeAlias = str | PathLike[str]

class _WordPieceOptions(TypedDict, total=False):
    unk_token: str
    max_input_chars_per_word: int
    continuing_subword_prefix: str

class _Options(TypedDict, total=False):
    cache_capacity: int | None
    dropout: float | None
    unk_token: str | None
    continuing_subword_prefix: str | None
    end_of_word_suffix: str | None
    fuse_unk: bool | None
    byte_fallback: bool
    ignore_merges: bool
    seed: int | None

@disjoint_base
class Model:
    def _clear_cache(self) -> None: ...
    def _resize_cache(self, capacity: int) -> None: ...
    def tokenize(self, sequence: str) -> list[Token]: ...
    def token_to_id(self, token: str) -> int | None: ...
    def id_to_token(self, id: int) -> str | None: ...
    def save(self, folder: _Path, prefix: str | None = None, name: str | None = None) -> list[str]: ...
    def get_trainer(self) -> Trainer: ...
    def __getstate__(self) -> bytes: ...
    def __setstate__(self, state: bytes) -> None: ...

@final
class BPE(Model):
    @overload
    def __new__(
        cls,
        vocab: None = None,
        merges: None = None,
        *,
        cache_capacity: int | None = None,
        dropout: float | None = None,
        unk_token: str | None = None,
        continuing_subword_prefix: str | None = None,
        end_of_word_suffix: str | None = None,
        fuse_unk: bool | None = None,
        byte_fallback: bool = False,
        ignore_merges: bool = False,
        seed: int | None = None,
    ) -> BPE: ...
    @overload
    def __new__(
        cls,
        vocab: dict[str, int],
        merges: Sequence[tuple[str, str]],
        *,
        cache_capacity: int | None = None,
        dropout: float | None = None,
        unk_token: str | None = None,
        continuing_subword_prefix: str | None = None,
        end_of_word_suffix: str | None = None,
        fuse_unk: bool | None = None,
        byte_fallback: bool = False,
        ignore_merges: bool = False,
        seed: int | None = None,
    ) -> BPE: ...
    @overload
    def __new__(
        cls,
        vocab: _Path,
        merges: _Path,
        *,
        cache_capacity: int | None = None,
        dropout: float | None = None,
        unk_token: str | None = None,
        continuing_subword_prefix: str | None = None,
        end_of_word_suffix: str | None = None,
        fuse_unk: bool | None = None,
        byte_fallback: bool = False,
        ignore_merges: bool = False,
        seed: int | None = None,
    ) -> BPE: ...
    @classmethod
    def from_file(cls, vocab: _Path, merges: _Path, **kwargs: Unpack[_Options]) -> BPE: ...
    @staticmethod
    def read_file(vocab: _Path, merges: _Path) -> tuple[dict[str, int], list[tuple[str, str]]]: ...
    @property
    def dropout(self) -> float | None: ...
    @dropout.setter
    def dropout(self, value: float | None) -> None: ...
    @property
    def seed(self) -> int | None: ...
    @seed.setter
    def seed(self, value: int | None) -> None: ...
    @property
    def unk_token(self) -> str | None: ...
    @unk_token.setter
    def unk_token(self, value: str | None) -> None: ...
    @property
    def continuing_subword_prefix(self) -> str | None: ...
    @continuing_subword_prefix.setter
    def continuing_subword_prefix(self, value: str | None) -> None: ...
    @property
    def end_of_word_suffix(self) -> str | None: ...
    @end_of_word_suffix.setter
    def end_of_word_suffix(self, value: str | None) -> None: ...
    @property
    def fuse_unk(self) -> bool: ...
    @fuse_unk.setter
    def fuse_unk(self, value: bool) -> None: ...
    @property
    def byte_fallback(self) -> bool: ...
    @byte_fallback.setter
    def byte_fallback(self, value: bool) -> None: ...
    @property
    def ignore_merges(self) -> bool: ...
    @ignore_merges.setter
    def ignore_merges(self, value: bool) -> None: ...

@final
class Unigram(Model):
    def __new__(
        cls,
        vocab: Sequence[tuple[str, float]] | None = None,
        unk_id: int | None = None,
        byte_fallback: bool | None = None,
        alpha: float | None = None,
        nbest_size: int | None = None,
        *,
        seed: int | None = None,
    ) -> Unigram: ...
    def encode_nbest(self, sequence: str, n: int) -> list[tuple[list[Token], float]]: ...
    @property
    def alpha(self) -> float | None: ...
    @alpha.setter
    def alpha(self, value: float | None) -> None: ...
    @property
    def nbest_size(self) -> int | None: ...
    @nbest_size.setter
    def nbest_size(self, value: int | None) -> None: ...
    @property
    def unk_id(self) -> int | None: ...
    @property
    def byte_fallback(self) -> bool: ...
    @property
    def seed(self) -> int | None: ...
    @seed.setter
    def seed(self, value: int | None) -> None: ...

class WordLevel(Model):
    def __new__(cls, vocab: dict[str, int] | _Path | None = None, unk_token: str | None = None) -> WordLevel: ...
    @classmethod
    def from_file(cls, vocab: _Path, unk_token: str | None = None) -> WordLevel: ...
    @staticmethod
    def read_file(vocab: _Path) -> dict[str, int]: ...
    @property
    def unk_token(self) -> str: ...
    @unk_token.setter
    def unk_token(self, value: str) -> None: ...

@final
class WordPiece(Model):
    def __new__(
        cls,
        vocab: dict[str, int] | _Path | None = None,
        *,
        unk_token: str = "[UNK]",
        max_input_chars_per_word: int = 100,
        continuing_subword_prefix: str = "##",
    ) -> WordPiece: ...
    @classmethod
    def from_file(cls, vocab: _Path, **kwargs: Unpack[_WordPieceOptions]) -> WordPiece: ...
    @staticmethod
    def read_file(vocab: _Path) -> dict[str, int]: ...
    @property
    def unk_token(self) -> str: ...
    @unk_token.setter
    def unk_token(self, value: str) -> None: ...
    @property
    def max_input_chars_per_word(self) -> int: ...
    @max_input_chars_per_word.setter
    def max_input_chars_per_word(self, value: int) -> None: ...
    @property
    def continuing_subword_prefix(self) -> str: ...
    @continuing_subword_prefix.setter
    def continuing_subword_prefix(self, value: str) -> None: ...
