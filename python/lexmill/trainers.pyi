from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias, final

from typing_extensions import disjoint_base

from lexmill._core import AddedToken, Regex, Tokenizer
from lexmill._types import OnProgress

__all__ = [
    "BpeTrainer",
    "ParityBpeTrainer",
    "SuperwordOptions",
    "Trainer",
    "UnigramTrainer",
    "WordLevelTrainer",
    "WordPieceTrainer",
]

_Patterns: TypeAlias = str | Regex | Iterable[str | Regex]
_SpecialTokens: TypeAlias = Sequence[str | AddedToken]
_Variant: TypeAlias = Literal["base", "window"]
_TieBreak: TypeAlias = Literal["smallest-ids", "first-seen"]
_Superwords: TypeAlias = Literal["boundless", "superbpe"]
_Algorithm: TypeAlias = Literal["em", "exact-loss"]
_Score: TypeAlias = Literal["frequency", "likelihood", "likelihood-float64"]
_ProgressFormat: TypeAlias = Literal["indicatif", "json", "silent"]

@disjoint_base
class Trainer:
    """Base class of all trainers."""
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
    """Learns byte-pair merges: the most frequent pair of neighbours first.

    All options are attributes too, which can be set.

    Args:
        vocab_size: tokens of the vocabulary, with special tokens and the alphabet.
        min_frequency: a pair that is less frequent is never merged.
        show_progress: draws progress on standard error, unless `train` gets `on_progress`.
        progress_format: how it is drawn: `indicatif`, `json` lines or `silent`.
        special_tokens: `str` or `AddedToken`, which take the first ids in this order and are added to the tokenizer.
        limit_alphabet: the largest size of the alphabet; the rarest characters are dropped. By default there is no
            limit.
        initial_alphabet: characters that are in the alphabet even if no word has them; of longer texts the first
            character.
        continuing_subword_prefix: the prefix of every character of a word but the first.
        end_of_word_suffix: the suffix of the last character of a word.
        max_token_length: tokens that are merged have fewer characters than this; two single characters may always be
            merged.
        tie_break: which of equally frequent pairs is merged first: `smallest-ids`, or `first-seen` in the corpus.
        superwords: a second phase, which learns tokens of several words; see `SuperwordOptions`.
        auto_character_coverage: characters share the vocabulary with the merges instead of having places of their
            own. The trained model has the 256 byte pieces and `byte_fallback`.
        forbid: one or several regular expressions, in the syntax of `lexmill.Regex`, that no learned token may match
            anywhere: `"  "` for two spaces, `"[0-9]{2}"` for two digits. They are matched with the text of a token,
            without affixes; at the byte level with its bytes. Initial symbols are exempt.
        initial_tokens: tokens that the vocabulary must have, as it spells them. The merges that make them come
            first, in this order. Neither `forbid` nor `max_token_length` concerns them.

    Raises:
        OptionRangeError: a number is negative.
        RegexError: a pattern of `forbid` does not compile.
        OptionError: another name for `tie_break` or `progress_format`.
    """
    def __new__(
        cls,
        *,
        vocab_size: int = 30000,
        min_frequency: int = 0,
        show_progress: bool = True,
        progress_format: _ProgressFormat = "indicatif",
        special_tokens: _SpecialTokens = ...,
        limit_alphabet: int = ...,
        initial_alphabet: Sequence[str] = ...,
        continuing_subword_prefix: str = ...,
        end_of_word_suffix: str = ...,
        max_token_length: int | None = None,
        tie_break: _TieBreak = "smallest-ids",
        superwords: SuperwordOptions | None = None,
        auto_character_coverage: bool = False,
        forbid: _Patterns = ...,
        initial_tokens: Sequence[str] = ...,
    ) -> BpeTrainer: ...
    def get_word_count(self) -> int:
        """Distinct words of the corpus of the last training; 0 before the first."""
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
    @property
    def superwords(self) -> SuperwordOptions | None: ...
    @superwords.setter
    def superwords(self, value: SuperwordOptions | None) -> None: ...
    @property
    def auto_character_coverage(self) -> bool: ...
    @auto_character_coverage.setter
    def auto_character_coverage(self, value: bool) -> None: ...
    @property
    def forbid(self) -> list[str]: ...
    @forbid.setter
    def forbid(self, value: _Patterns | None) -> None: ...
    @property
    def initial_tokens(self) -> list[str]: ...
    @initial_tokens.setter
    def initial_tokens(self, value: Sequence[str]) -> None: ...

@final
class SuperwordOptions:
    """The second phase of `BpeTrainer`, which learns superwords: tokens of several words.

    Args:
        initial_vocab_size: tokens of the first phase, which is the training without superwords.
        algorithm: `boundless` joins neighbouring pre-tokens that are single tokens after the first phase; `superbpe`
            merges any neighbouring tokens of the text between two cuts of the second phase.
        max_words: the most words of a merged token; a word is a run of characters other than spaces. By default 4
            with `superbpe`, and no limit with `boundless`.
        joins: a regular expression for the pre-tokens that may be joined, each as a whole; by default words of
            letters, and with `superbpe` runs of punctuation too, as GPT-2's pattern cuts them.
        pattern: the regular expression that cuts text in the second phase, and that the trained tokenizer has; by
            default the tokenizer's pattern, with runs of joined pre-tokens whole.

    Raises:
        OptionRangeError: a number is negative.
        OptionError: another name for `algorithm`.
        RegexError: a regular expression does not compile.
    """
    def __new__(
        cls,
        initial_vocab_size: int,
        *,
        algorithm: _Superwords = "boundless",
        max_words: int | None = None,
        joins: str | None = None,
        pattern: str | None = None,
    ) -> SuperwordOptions: ...
    @property
    def initial_vocab_size(self) -> int: ...
    @property
    def algorithm(self) -> _Superwords: ...
    @property
    def max_words(self) -> int | None: ...
    @property
    def joins(self) -> str: ...
    @property
    def pattern(self) -> str | None: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __getnewargs_ex__(self) -> tuple[tuple[int], dict[str, str | int | None]]: ...

@final
class ParityBpeTrainer:
    """Learns byte-pair merges over several languages: the language that is compressed worst merges next.

    All options are attributes too.

    Args:
        num_merges: how many merges to learn.
        variant: how a language is chosen: `base`, the one that is compressed worst; `window`, the same, but none may
            have far more than its even share of the last turns.
        min_frequency: a pair that is less frequent in the chosen language is never merged.
        ratio: the compression rate to aim at, for each language; only the proportions matter. Dev sets take
            precedence.
        global_merges: how many merges go to the pair that is most frequent in all languages, before languages are
            chosen.
        window_size: how many turns `window` looks back.
        alpha: how many times its even share of these turns a language may have.
        total_symbols: `num_merges` is the size of the vocabulary, with special tokens and the alphabet.
        special_tokens: `str` or `AddedToken`, which take the first ids in this order and are added to the tokenizer.
        show_progress: draws progress on standard error, unless `train_from_iterator` gets `on_progress`.
        limit_alphabet: the largest size of the alphabet; the rarest characters are dropped. None for no limit.
        initial_alphabet: single characters that are in the alphabet even if no word has them.
        continuing_subword_prefix: the prefix of every character of a word but the first.
        end_of_word_suffix: the suffix of the last character of a word.
        max_token_length: tokens that are merged have fewer characters than this; two single characters may always be
            merged.

    Raises:
        OptionRangeError: a number is negative.
        OptionError: another name for `variant`, or an element of `initial_alphabet` that is not one character.
    """
    def __new__(
        cls,
        num_merges: int = 32000,
        variant: _Variant = "base",
        min_frequency: int = 0,
        ratio: Sequence[float] | None = None,
        global_merges: int = 0,
        window_size: int = 100,
        alpha: float = 2.0,
        total_symbols: bool = False,
        special_tokens: _SpecialTokens | None = None,
        show_progress: bool = True,
        limit_alphabet: int | None = None,
        initial_alphabet: Sequence[str] | None = None,
        continuing_subword_prefix: str | None = None,
        end_of_word_suffix: str | None = None,
        max_token_length: int | None = None,
    ) -> ParityBpeTrainer: ...
    def train_from_iterator(
        self,
        tokenizer: Tokenizer,
        train_iterators: Sequence[Iterable[str] | Iterable[Iterable[str]]],
        dev_iterators: Sequence[Iterable[str] | Iterable[Iterable[str]]] | None = None,
        ratio: Sequence[float] | None = None,
        *,
        on_progress: OnProgress | None = None,
        num_threads: int | None = None,
    ) -> None:
        """Trains a tokenizer on one iterator of texts for each language. Its model becomes a new `BPE`.

        An error leaves the model as it was.

        Args:
            tokenizer: the tokenizer to train; its normalizer and pre-tokenizer cut the texts into words.
            train_iterators: for each language an iterator of `str`, of lists of `str` or of Arrow columns, or one
                such column.
            dev_iterators: for each language the texts that compression is measured on; None measures it on the
                training texts.
            ratio: the compression rate to aim at, for each language; None means the trainer's. Dev sets take
                precedence.
            on_progress: called with the stage, the work done, the total, the seconds left and the bytes of memory
                taken, see `lexmill.OnProgress`; an exception of the call ends the training.
            num_threads: threads to work on; by default one for each core, or the number in `RAYON_NUM_THREADS`.

        Raises:
            EmptyCorpusError: there are no words in the texts of any language.
            OptionError: no iterators, another number of dev sets or ratios than of languages, or a `ratio`, `alpha`
                or `window_size` out of range.
        """
    @property
    def variant(self) -> _Variant: ...
    @property
    def initial_alphabet(self) -> list[str]: ...
    @initial_alphabet.setter
    def initial_alphabet(self, value: Sequence[str]) -> None: ...
    @property
    def special_tokens(self) -> list[AddedToken]: ...
    @special_tokens.setter
    def special_tokens(self, value: _SpecialTokens) -> None: ...
    @property
    def num_merges(self) -> int: ...
    @num_merges.setter
    def num_merges(self, value: int) -> None: ...
    @property
    def min_frequency(self) -> int: ...
    @min_frequency.setter
    def min_frequency(self, value: int) -> None: ...
    @property
    def global_merges(self) -> int: ...
    @global_merges.setter
    def global_merges(self, value: int) -> None: ...
    @property
    def window_size(self) -> int: ...
    @window_size.setter
    def window_size(self, value: int) -> None: ...
    @property
    def alpha(self) -> float: ...
    @alpha.setter
    def alpha(self, value: float) -> None: ...
    @property
    def total_symbols(self) -> bool: ...
    @total_symbols.setter
    def total_symbols(self, value: bool) -> None: ...
    @property
    def show_progress(self) -> bool: ...
    @show_progress.setter
    def show_progress(self, value: bool) -> None: ...
    @property
    def limit_alphabet(self) -> int | None: ...
    @limit_alphabet.setter
    def limit_alphabet(self, value: int | None) -> None: ...
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
    def __getstate__(self) -> dict[str, object]: ...
    def __setstate__(self, state: dict[str, object]) -> None: ...

@final
class UnigramTrainer(Trainer):
    """Learns the pieces of a unigram language model.

    `vocab_size`, `initial_alphabet`, `forbid` and `initial_tokens` are attributes too, which can be set.

    Args:
        vocab_size: pieces of the vocabulary, with special tokens.
        show_progress: draws progress on standard error, unless `train` gets `on_progress`.
        progress_format: how it is drawn: `indicatif`, `json` lines or `silent`.
        special_tokens: `str` or `AddedToken`, which take the first ids in this order and are added to the tokenizer.
        initial_alphabet: characters that are pieces even if no word has them; of longer texts the first character.
        shrinking_factor: the share of the pieces that each pruning keeps, between 0 and 1.
        unk_token: the token for unknown characters; it takes the first id if it is no special token.
        max_piece_length: the most characters of a piece.
        n_sub_iterations: rounds of expectation maximization between two prunings.
        seed_size: how many characters and substrings training starts from.
        character_coverage: the share of all characters of the corpus, from 0 to 1, that have a piece; the rarest go
            without.
        algorithm: `em`, expectation maximization, or `exact-loss`, the textbook's loop for small corpora.
        use_sparse_pruning: subtracts a penalty from expected counts, which removes the rare pieces, in the place of
            pruning by loss.
        auto_character_coverage: characters share the vocabulary with the other pieces instead of having places of
            their own. The trained model has the 256 byte pieces and `byte_fallback`. Needs `use_sparse_pruning`.
        forbid: one or several regular expressions, in the syntax of `lexmill.Regex`, that no learned token may match
            anywhere: `"  "` for two spaces, `"[0-9]{2}"` for two digits. They are matched with the text of a token,
            without affixes; at the byte level with its bytes. Characters are exempt.
        initial_tokens: pieces that the vocabulary must have, as it spells them; pruning keeps them. `forbid` does
            not concern them.

    Raises:
        OptionRangeError: a number is negative.
        RegexError: a pattern of `forbid` does not compile.
        OptionError: another name for `algorithm` or `progress_format`.
    """
    def __new__(
        cls,
        *,
        vocab_size: int = 8000,
        show_progress: bool = True,
        progress_format: _ProgressFormat = "indicatif",
        special_tokens: _SpecialTokens = ...,
        initial_alphabet: Sequence[str] = ...,
        shrinking_factor: float = 0.75,
        unk_token: str | None = None,
        max_piece_length: int = 16,
        n_sub_iterations: int = 2,
        seed_size: int = 1000000,
        character_coverage: float = 1.0,
        algorithm: _Algorithm = "em",
        use_sparse_pruning: bool = False,
        auto_character_coverage: bool = False,
        forbid: _Patterns = ...,
        initial_tokens: Sequence[str] = ...,
    ) -> UnigramTrainer: ...
    @property
    def vocab_size(self) -> int: ...
    @vocab_size.setter
    def vocab_size(self, value: int) -> None: ...
    @property
    def initial_alphabet(self) -> list[str]: ...
    @initial_alphabet.setter
    def initial_alphabet(self, value: Sequence[str]) -> None: ...
    @property
    def forbid(self) -> list[str]: ...
    @forbid.setter
    def forbid(self, value: _Patterns | None) -> None: ...
    @property
    def initial_tokens(self) -> list[str]: ...
    @initial_tokens.setter
    def initial_tokens(self, value: Sequence[str]) -> None: ...

@final
class WordLevelTrainer(Trainer):
    """Learns which words are tokens: the most frequent ones.

    `vocab_size` and `min_frequency` are attributes too, which can be set.

    Args:
        vocab_size: tokens of the vocabulary, with special tokens.
        min_frequency: a less frequent word is no token.
        show_progress: draws progress on standard error, unless `train` gets `on_progress`.
        progress_format: how it is drawn: `indicatif`, `json` lines or `silent`.
        special_tokens: `str` or `AddedToken`, which take the first ids in this order and are added to the tokenizer.

    Raises:
        OptionRangeError: a number is negative.
    """
    def __new__(
        cls,
        *,
        vocab_size: int = 30000,
        min_frequency: int = 0,
        show_progress: bool = True,
        progress_format: _ProgressFormat = "indicatif",
        special_tokens: _SpecialTokens = ...,
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
    """Learns pieces of words by frequency, which is byte-pair encoding, or by likelihood, which is the textbook's rule.

    All options are attributes too, which can be set.

    Args:
        vocab_size: tokens of the vocabulary, with special tokens and the alphabet.
        min_frequency: a pair that is less frequent is never merged.
        show_progress: draws progress on standard error, unless `train` gets `on_progress`.
        progress_format: how it is drawn: `indicatif`, `json` lines or `silent`.
        special_tokens: `str` or `AddedToken`, which take the first ids in this order and are added to the tokenizer.
        limit_alphabet: the largest size of the alphabet; the rarest characters are dropped. By default there is no
            limit.
        initial_alphabet: characters that are in the alphabet even if no word has them; of longer texts the first
            character.
        continuing_subword_prefix: stands before every character of a word but the first. If the attribute is set to
            None, characters are learnt without a prefix.
        end_of_word_suffix: the suffix of the last character of a word.
        score: `frequency` merges the most frequent pair first, `likelihood` the pair with the highest count(ab) /
            (count(a) count(b)), compared exactly, and `likelihood-float64` the same in 64-bit numbers.
        tie_break: which of equal pairs comes first: `smallest-ids`, the default for `frequency`, or `first-seen`,
            the default for the others.
        min_pair_frequency: as `min_frequency`; the larger of the two applies.
        forbid: one or several regular expressions, in the syntax of `lexmill.Regex`, that no learned token may match
            anywhere: `"  "` for two spaces, `"[0-9]{2}"` for two digits. They are matched with the text of a token,
            without affixes; at the byte level with its bytes. Initial symbols are exempt.
        initial_tokens: tokens that the vocabulary must have, as it spells them; their ids follow the special tokens'
            ids. `forbid` does not concern them.

    Raises:
        OptionRangeError: a number is negative.
        RegexError: a pattern of `forbid` does not compile.
        OptionError: another name for `score`, `tie_break` or `progress_format`.
    """
    def __new__(
        cls,
        *,
        vocab_size: int = 30000,
        min_frequency: int = 0,
        show_progress: bool = True,
        progress_format: _ProgressFormat = "indicatif",
        special_tokens: _SpecialTokens = ...,
        limit_alphabet: int = ...,
        initial_alphabet: Sequence[str] = ...,
        continuing_subword_prefix: str = "##",
        end_of_word_suffix: str = ...,
        score: _Score = "frequency",
        tie_break: _TieBreak | None = None,
        min_pair_frequency: int = 0,
        forbid: _Patterns = ...,
        initial_tokens: Sequence[str] = ...,
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
    def continuing_subword_prefix(self) -> str | None: ...
    @continuing_subword_prefix.setter
    def continuing_subword_prefix(self, value: str | None) -> None: ...
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
    @property
    def forbid(self) -> list[str]: ...
    @forbid.setter
    def forbid(self, value: _Patterns | None) -> None: ...
    @property
    def initial_tokens(self) -> list[str]: ...
    @initial_tokens.setter
    def initial_tokens(self, value: Sequence[str]) -> None: ...
