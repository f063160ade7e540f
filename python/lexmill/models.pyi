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
    cache_capacity: int
    dropout: float | None
    unk_token: str | None
    continuing_subword_prefix: str
    end_of_word_suffix: str
    fuse_unk: bool
    byte_fallback: bool
    ignore_merges: bool
    alpha: float | None
    seed: int | None

@disjoint_base
class Model:
    """Base class of all models; by itself an empty BPE model."""
    def __new__(cls) -> Model: ...
    def _clear_cache(self) -> None: ...
    def _resize_cache(self, capacity: int) -> None: ...
    def tokenize(self, sequence: str) -> list[Token]:
        """The tokens of one pre-token.

        Args:
            sequence: the pre-token, as the stages before the model leave it.
        """
    def token_to_id(self, token: str) -> int | None:
        """The id of a token."""
    def id_to_token(self, id: int) -> str | None:
        """The token with an id."""
    def save(self, folder: _Path, prefix: str | None = None, name: str | None = None) -> list[str]:
        """Writes the model's files into a folder; returns their paths.

        Args:
            folder: where the files go.
            prefix: the beginning of the files' names.
            name: the same, if `prefix` is None.
        """
    def get_trainer(self) -> Trainer:
        """A trainer for this kind of model, with default options."""
    def __getstate__(self) -> bytes: ...
    def __setstate__(self, state: bytes) -> None: ...

@final
class BPE(Model):
    """Byte-pair encoding.

    In each word, the earliest merge that applies joins two neighbours, until no merge applies. Options but
    `cache_capacity` are attributes too, which can be set.

    Args:
        vocab: ids by token, or the path of a `vocab.json`; given together with `merges`.
        merges: pairs of tokens, the first to be merged first, or the path of a `merges.txt`.
        cache_capacity: without effect, for calls written for Hugging Face; see `Tokenizer.cache_limit`.
        dropout: the probability, from 0 to 1, of skipping a merge; None for never.
        unk_token: the token for characters that have none; None drops these characters.
        continuing_subword_prefix: the prefix of every symbol of a word but the first.
        end_of_word_suffix: the suffix of the last symbol of a word.
        fuse_unk: joins neighbouring unknown characters in one unknown token.
        byte_fallback: spells unknown characters as `<0xNN>` tokens, if the vocabulary has all that they need.
        ignore_merges: a word that is in the vocabulary is that token without merging.
        alpha: the probability, from 0 to 1, of skipping a merge, as SentencePiece's sampling does. The merge stays
            skipped until one of its two symbols changes; with `dropout`, until the next merge in the word.
        seed: the seed of `dropout` and `alpha`; with None, each call draws other numbers.
    """
    @overload
    def __new__(
        cls,
        vocab: None = None,
        merges: None = None,
        *,
        cache_capacity: int = ...,
        dropout: float | None = None,
        unk_token: str | None = None,
        continuing_subword_prefix: str = ...,
        end_of_word_suffix: str = ...,
        fuse_unk: bool = ...,
        byte_fallback: bool = False,
        ignore_merges: bool = False,
        alpha: float | None = None,
        seed: int | None = None,
    ) -> BPE: ...
    @overload
    def __new__(
        cls,
        vocab: dict[str, int],
        merges: Sequence[tuple[str, str]],
        *,
        cache_capacity: int = ...,
        dropout: float | None = None,
        unk_token: str | None = None,
        continuing_subword_prefix: str = ...,
        end_of_word_suffix: str = ...,
        fuse_unk: bool = ...,
        byte_fallback: bool = False,
        ignore_merges: bool = False,
        alpha: float | None = None,
        seed: int | None = None,
    ) -> BPE: ...
    @overload
    def __new__(
        cls,
        vocab: _Path,
        merges: _Path,
        *,
        cache_capacity: int = ...,
        dropout: float | None = None,
        unk_token: str | None = None,
        continuing_subword_prefix: str = ...,
        end_of_word_suffix: str = ...,
        fuse_unk: bool = ...,
        byte_fallback: bool = False,
        ignore_merges: bool = False,
        alpha: float | None = None,
        seed: int | None = None,
    ) -> BPE: ...
    def _made_ids(self) -> list[tuple[int, int]]: ...
    def _last_merges(self) -> list[tuple[int, int, int, int]] | None: ...
    @classmethod
    def from_file(cls, vocab: _Path, merges: _Path, **kwargs: Unpack[_Options]) -> BPE:
        """Reads a `vocab.json` and a `merges.txt`; further arguments go to the constructor."""
    @staticmethod
    def read_file(vocab: _Path, merges: _Path) -> tuple[dict[str, int], list[tuple[str, str]]]:
        """The contents of a `vocab.json` and a `merges.txt`."""
    @property
    def dropout(self) -> float | None: ...
    @dropout.setter
    def dropout(self, value: float | None) -> None: ...
    @property
    def alpha(self) -> float | None: ...
    @alpha.setter
    def alpha(self, value: float | None) -> None: ...
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
    """Unigram language model: the most likely way to cut a word into pieces.

    `alpha`, `nbest_size` and `seed` are attributes that can be set.

    Args:
        vocab: pieces with scores, natural logarithms of probabilities; a piece's place is its id. Given together
            with `unk_id`.
        unk_id: the id for characters without a piece.
        byte_fallback: spells unknown text as `<0xNN>` tokens, if the vocabulary has all that it needs.
        alpha: samples instead of taking the best segmentation: one of score s is drawn with a probability in
            proportion to exp(`alpha` s).
        nbest_size: samples among this many best segmentations only, 1024 at most; None, 0 or -1 for all of them.
        seed: the seed of the sampling; with None, each call draws other numbers.
    """
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
    def encode_nbest(self, sequence: str, n: int) -> list[tuple[list[Token], float]]:
        """The `n` best ways to cut one pre-token, each with its score, best first.

        The score is a natural logarithm, the sum of the pieces' scores. Time and memory are in proportion to `n` and
        the length of the pre-token.

        Raises:
            OptionRangeError: `n` is negative.
            OptionError: `n` is more than 1024.
        """
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

@final
class WordLevel(Model):
    """A dictionary of whole words.

    Args:
        vocab: ids by word, or the path of a `vocab.json`.
        unk_token: the token for words that the vocabulary lacks.
    """
    def __new__(cls, vocab: dict[str, int] | _Path | None = None, unk_token: str | None = None) -> WordLevel: ...
    @classmethod
    def from_file(cls, vocab: _Path, unk_token: str | None = None) -> WordLevel:
        """Reads a `vocab.json`."""
    @staticmethod
    def read_file(vocab: _Path) -> dict[str, int]:
        """The contents of a `vocab.json`."""
    @property
    def unk_token(self) -> str: ...
    @unk_token.setter
    def unk_token(self, value: str) -> None: ...

@final
class WordPiece(Model):
    """The longest token first, from left to right.

    A word that cannot be cut into tokens becomes the unknown token. The options are attributes too, which can be
    set.

    Args:
        vocab: ids by token, or the path of a `vocab.txt`.
        unk_token: the token for words that cannot be cut into tokens.
        max_input_chars_per_word: longer words are unknown.
        continuing_subword_prefix: the prefix of tokens inside a word.
    """
    def __new__(
        cls,
        vocab: dict[str, int] | _Path | None = None,
        *,
        unk_token: str = "[UNK]",
        max_input_chars_per_word: int = 100,
        continuing_subword_prefix: str = "##",
    ) -> WordPiece: ...
    @classmethod
    def from_file(cls, vocab: _Path, **kwargs: Unpack[_WordPieceOptions]) -> WordPiece:
        """Reads a `vocab.txt`; further arguments go to the constructor."""
    @staticmethod
    def read_file(vocab: _Path) -> dict[str, int]:
        """The contents of a `vocab.txt`."""
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
