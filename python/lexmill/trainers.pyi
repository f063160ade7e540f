from collections.abc import Sequence
from typing import Literal, TypeAlias, final

from typing_extensions import disjoint_base

from lexmill._core import AddedToken

__all__ = ["BpeTrainer", "Trainer", "UnigramTrainer", "WordLevelTrainer", "WordPieceTrainer"]

_SpecialTokens: TypeAlias = Sequence[str | AddedToken]
_TieBreak: TypeAlias = Literal["smallest-ids", "first-seen"]
_Algorithm: TypeAlias = Literal["em", "exact-loss"]
_Score: TypeAlias = Literal["frequency", "likelihood", "likelihood-float64"]
_ProgressFormat: TypeAlias = Literal["indicatif", "json", "silent"]

@disjoint_base
class Trainer:
    @property
    def show_progress(self) -> bool: ...
    @show_progress.setter
    def show_progress(self, value: bool) -> None: ...
    @property
    def progress_format(self) -> _ProgressFormat: ...
    @progress_format.setter
    def progress_format(self, value: _ProgressFormat) -> None: ...
    @property
    def special_tokens(self) -> list[AddedToken]: ...
    @special_tokens.setter
    def special_tokens(self, value: _SpecialTokens) -> None: ...
    def __getstate__(self) -> bytes: ...
    def __setstate__(self, state: bytes) -> None: ...

@final
class BpeTrainer(Trainer):
    def __new__(
        cls,
        *,
        vocab_size: int = 30000,
        min_frequency: int = 0,
        show_progress: bool = True,
        progress_format: _ProgressFormat = "indicatif",
        special_tokens: _SpecialTokens | None = None,
        limit_alphabet: int | None = None,
        initial_alphabet: Sequence[str] | None = None,
        continuing_subword_prefix: str | None = None,
        end_of_word_suffix: str | None = None,
        max_token_length: int | None = None,
        tie_break: _TieBreak = "smallest-ids",
    ) -> BpeTrainer: ...
    def get_word_count(self) -> int: ...
    @property
    def vocab_size(self) -> int: ...
    @vocab_size.setter
    def vocab_size(self, value: int) -> None: ...
    @property
    def min_frequency(self) -> int: ...
    @min_frequency.setter
    def min_frequency(self, value: int) -> None: ...
    @property
    def limit_alphabet(self) -> int | None: ...
    @limit_alphabet.setter
    def limit_alphabet(self, value: int | None) -> None: ...
    @property
    def initial_alphabet(self) -> list[str]: ...
    @initial_alphabet.setter
    def initial_alphabet(self, value: Sequence[str]) -> None: ...
    @property
    def continuing_subword_prefix(self) -> str | None: ...
    @continuing_subword_prefix.setter
    def continuing_subword_prefix(self, value: str | None) -> None: ...
    @property
    def end_of_word_suffix(self) -> str | None: ...
    @end_of_word_suffix.setter
    def end_of_word_suffix(self, value: str | None) -> None: ...
    @property
    def max_token_length(self) -> int | None: ...
    @max_token_length.setter
    def max_token_length(self, value: int | None) -> None: ...
    @property
    def tie_break(self) -> _TieBreak: ...
    @tie_break.setter
    def tie_break(self, value: _TieBreak) -> None: ...

@final
class UnigramTrainer(Trainer):
    def __new__(
        cls,
        *,
        vocab_size: int = 8000,
        show_progress: bool = True,
        progress_format: _ProgressFormat = "indicatif",
        special_tokens: _SpecialTokens | None = None,
        initial_alphabet: Sequence[str] | None = None,
        shrinking_factor: float = 0.75,
        unk_token: str | None = None,
        max_piece_length: int = 16,
        n_sub_iterations: int = 2,
        seed_size: int = 1000000,
        character_coverage: float = 1.0,
        algorithm: _Algorithm = "em",
    ) -> UnigramTrainer: ...
    @property
    def vocab_size(self) -> int: ...
    @vocab_size.setter
    def vocab_size(self, value: int) -> None: ...
    @property
    def initial_alphabet(self) -> list[str]: ...
    @initial_alphabet.setter
    def initial_alphabet(self, value: Sequence[str]) -> None: ...

@final
class WordLevelTrainer(Trainer):
    def __new__(
        cls,
        *,
        vocab_size: int = 30000,
        min_frequency: int = 0,
        show_progress: bool = True,
        progress_format: _ProgressFormat = "indicatif",
        special_tokens: _SpecialTokens | None = None,
    ) -> WordLevelTrainer: ...
    @property
    def vocab_size(self) -> int: ...
    @vocab_size.setter
    def vocab_size(self, value: int) -> None: ...
    @property
    def min_frequency(self) -> int: ...
    @min_frequency.setter
    def min_frequency(self, value: int) -> None: ...

@final
class WordPieceTrainer(Trainer):
    def __new__(
        cls,
        *,
        vocab_size: int = 30000,
        min_frequency: int = 0,
        show_progress: bool = True,
        progress_format: _ProgressFormat = "indicatif",
        special_tokens: _SpecialTokens | None = None,
        limit_alphabet: int | None = None,
        initial_alphabet: Sequence[str] | None = None,
        continuing_subword_prefix: str = "##",
        end_of_word_suffix: str | None = None,
        score: _Score = "frequency",
        tie_break: _TieBreak | None = None,
        min_pair_frequency: int = 0,
    ) -> WordPieceTrainer: ...
    @property
    def vocab_size(self) -> int: ...
    @vocab_size.setter
    def vocab_size(self, value: int) -> None: ...
    @property
    def min_frequency(self) -> int: ...
    @min_frequency.setter
    def min_frequency(self, value: int) -> None: ...
    @property
    def limit_alphabet(self) -> int | None: ...
    @limit_alphabet.setter
    def limit_alphabet(self, value: int | None) -> None: ...
    @property
    def initial_alphabet(self) -> list[str]: ...
    @initial_alphabet.setter
    def initial_alphabet(self, value: Sequence[str]) -> None: ...
    @property
    def continuing_subword_prefix(self) -> str: ...
    @continuing_subword_prefix.setter
    def continuing_subword_prefix(self, value: str) -> None: ...
    @property
    def end_of_word_suffix(self) -> str | None: ...
    @end_of_word_suffix.setter
    def end_of_word_suffix(self, value: str | None) -> None: ...
    @property
    def score(self) -> _Score: ...
    @score.setter
    def score(self, value: _Score) -> None: ...
    @property
    def tie_break(self) -> _TieBreak | None: ...
    @tie_break.setter
    def tie_break(self, value: _TieBreak | None) -> None: ...
    @property
    def min_pair_frequency(self) -> int: ...
    @min_pair_frequency.setter
    def min_pair_frequency(self, value: int) -> None: ...
